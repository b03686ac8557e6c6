"""Two languages that nobody speaks, made of the sources: one long and accented, one written from right to left.

Every Latin letter of a source becomes another one, so that a plain Latin letter on screen was not translated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

from PySide6.QtCore import Qt, QTranslator
from PySide6.QtWidgets import QApplication

from desktop.languages import speak
from installers.texts import CONTEXT, Text, collect
from installers.translations import DESKTOP, release

_ACCENTED = dict(zip("abcdefghijklmnopqrstuvwxyz", "àƀçđéƒğĥîĵķļɱñôþʠŕšţûṽŵẋýž", strict=True))
_ACCENTED |= dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ÀƁÇĐÉƑĞĤÎĴĶĻṀÑÔÞɊŔŠŢÛṼŴẊÝŽ", strict=True))
_HEBREW = dict(zip("abcdefghijklmnopqrstuvwxyz", "אבגדהוזחטיכלמנסעפצקרשתאבגד", strict=True))
_HEBREW |= {letter.upper(): sign for letter, sign in _HEBREW.items()}
_KEPT = re.compile(r"\{[^{}]*\}|%n|</?[A-Za-z][^<>]*>|\(\*[^()]*\)|\n")
"""Names to be filled, numbers, tags, patterns of file names."""
_LONGER = 0.4
_AS_IT_IS = ("language's own code", "form of a date")
"""In notes of what is no text."""


def accented(text: str) -> str:
    """In brackets, with 40 % more letters than there were."""
    letters = len(_KEPT.sub("", text))
    more = " ".join("ôôôôôôô"[: min(7, left)] for left in range(int(letters * _LONGER), 0, -7))
    return f"[{_spelt(text, _ACCENTED)}{' ' if more and len(more) > 2 else ''}{more}]"


def hebrew(text: str) -> str:
    """Letter by letter."""
    return _spelt(text, _HEBREW)


def _spelt(text: str, letters: Mapping[str, str]) -> str:
    out, at = [], 0
    for kept in _KEPT.finditer(text):
        out += [letters.get(sign, sign) for sign in text[at : kept.start()]] + [kept[0]]
        at = kept.end()
    return "".join(out + [letters.get(sign, sign) for sign in text[at:]])


def make(folder: Path, language: str, forms: int, say: Callable[[str], str]) -> Path:
    """The .qm file of a language: every text of the window, said by ``say``.

    Args:
        folder: for it.
        language: its code, which decides the direction.
        forms: of a number that this language has.
        say: translates one source.
    """
    root = ElementTree.Element("TS", version="2.1", language=language)
    context = ElementTree.SubElement(root, "context")
    ElementTree.SubElement(context, "name").text = CONTEXT
    for text in collect(DESKTOP):
        _add(context, text, forms, language if "own code" in text.note else _said(text, say))
    source = folder / f"tandem_{language}.ts"
    ElementTree.ElementTree(root).write(source, encoding="utf-8", xml_declaration=True)
    made = source.with_suffix(".qm")
    release(source, made)
    return made


def _said(text: Text, say: Callable[[str], str]) -> str:
    return text.source if any(kind in text.note for kind in _AS_IT_IS) else say(text.source)


def _add(context: ElementTree.Element, text: Text, forms: int, said: str) -> None:
    message = ElementTree.SubElement(context, "message", {"numerus": "yes"} if text.plural else {})
    ElementTree.SubElement(message, "source").text = text.source
    if text.note:
        ElementTree.SubElement(message, "comment").text = text.note
    translation = ElementTree.SubElement(message, "translation")
    if text.plural:
        for _ in range(forms):
            ElementTree.SubElement(translation, "numerusform").text = said
    else:
        translation.text = said


@contextmanager
def spoken(app: QApplication, translation: Path) -> Iterator[None]:
    """The language of a .qm file, then English again."""
    try:
        assert speak(app, str(translation)) == ""
        yield
    finally:
        silence(app)


def silence(app: QApplication) -> None:
    """English, from left to right."""
    for translator in app.findChildren(QTranslator):
        app.removeTranslator(translator)
        translator.setParent(None)
    app.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
