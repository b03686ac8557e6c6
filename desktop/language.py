"""What the window says, in the reader's language.

Every text a person reads or hears goes through `tr` or `counted`; a text that stands in a table of constants is
`marked` there and goes through `tr` where it is shown. The sources are English and are what is shown when a language
has no translation. Names of models, a person's own words, log lines, exported files and the engine's own sentences
stay as they are.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, QLocale

CONTEXT = "Tandem"
"""The one context of all texts in the translations' files."""
_PERCENT = re.compile(r"(?<=[\d}]) %(?!n)")
_BOUND = "\N{NO-BREAK SPACE}%"
"""No line ends between a number and its percent sign; what is filled in, names and paths, stays as it is."""
_MOST = 2**31 - 1
"""That Qt takes as a number by which a form is chosen."""


def tr(text: str, /, *, note: str = "", **values: object) -> str:
    """``text`` in the reader's language, its ``{names}`` filled with ``values``.

    Args:
        text: the English source; a literal, or what was `marked`. Any other text stays as it is.
        note: tells translators apart what reads the same in English.
        values: what `str.format` puts in.
    """
    try:
        said = QCoreApplication.translate(CONTEXT, text, note or None)
    except UnicodeEncodeError:  # no translator's: the name of a file that is not UTF-8 stands in it
        said = text
    return _filled(said, text, values)


def marked(text: str, /, *, note: str = "") -> str:
    """``text`` itself: it is collected for translators here, and given to `tr` where it is shown."""
    del note
    return text


def counted(one: str, many: str, n: int, /, *, note: str = "", **values: object) -> str:
    """A text that depends on a number, which stands in it as ``%n``.

    Translators see ``many`` and give as many forms as their language has.

    Args:
        one: the English text for one.
        many: the English text for any other number.
        n: the number.
        note: as for `tr`.
        values: as for `tr`.
    """
    said = QCoreApplication.translate(CONTEXT, many, note or None, min(n, _MOST))
    source = (one if n == 1 else many).replace("%n", str(n))
    if said == many.replace("%n", str(n)):
        said = source
    return _filled(said, source, values)


def locale() -> QLocale:
    """Of the reader's language, for the names of days and months, and for numbers in texts.

    Numbers that are typed are the system's affair.
    """
    return QLocale(tr("en", note="this language's own code, as in the name of its file"))


def figure(value: float, form: str = "") -> str:
    """A number as `format` writes it, with the signs for thousands and decimals of the reader's language."""
    language = locale()
    signs = {",": language.groupSeparator(), ".": language.decimalPoint()}
    return "".join(signs.get(sign, sign) for sign in format(value, form))


class _Filling(string.Formatter):
    """Numbers with a form (``{rate:.1f}``, ``{n:,}``) are written as the language has it."""

    def format_field(self, value: object, format_spec: str) -> str:
        if format_spec and isinstance(value, int | float):
            return figure(value, format_spec)
        return format(value, format_spec)


def _filled(said: str, source: str, values: Mapping[str, object]) -> str:
    said, source = _PERCENT.sub(_BOUND, said), _PERCENT.sub(_BOUND, source)
    if not values:
        return said
    try:
        return _Filling().vformat(said, (), values)
    except (
        LookupError,
        ValueError,
        AttributeError,
        TypeError,
    ):  # a translator's slip costs this sentence its translation
        return _Filling().vformat(source, (), values)
