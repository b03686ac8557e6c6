"""LaTeX into a drawing, with ziamath. What a model writes is not trusted: see ``desktop.maths.worker`` for the walls.

The library draws what it does not know as it is written, or not at all; both are refused here, so that a reader sees
the source instead of half a formula.
"""

from __future__ import annotations

import html
import re
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

from desktop.maths.spacing import spaced

LIMIT = 2000
"""Characters of LaTeX; a formula on three pages has a few hundred."""

_EM = 24.0
"""Pixels at which the library draws; the result is in em."""
_WIDEST, _TALLEST = 200.0, 60.0
_LARGEST = 400_000
"""Characters of a drawing."""
_ALLOWED = frozenset({"svg", "path", "rect", "ellipse", "g", "defs", "marker", "polygon"})
_MACROS = re.compile(r"\\(?:def|gdef|edef|xdef|let|(?:re|provide)?newcommand|renewcommand|newenvironment|Declare\w+)\b")
_TAG = re.compile(r"\\tag\*?\s*\{([^{}]*)\}")
_NAME = r"\\(?:mathrm|text|rm|operatorname)\s*\{([A-Za-z\s]*)(?:\\,)?([A-Za-z\s]*)\}"
_INSTEAD = (
    (_TAG, ""),
    (re.compile(r"\\(?:label|nonumber|notag)\b\s*(?:\{[^{}]*\})?"), ""),
    (re.compile(r"\\(begin|end)\{(?:alignat|flalign|eqnarray|align)\*?\}(?:\{\d+\})?"), r"\\\1{align*}"),
    (re.compile(r"\\(begin|end)\{(equation|gather|multline)\}"), r"\\\1{\2*}"),
    (re.compile(r"\\begin\{(aligned|gathered)\}\[[tbc]\]"), r"\\begin{\1}"),
    (re.compile(rf"\\mathop\s*\{{\s*{_NAME}\s*\}}"), r"\\operatorname{\1 \2}"),
    (re.compile(r"\\math(?:rel|bin|ord|open|close|inner|punct|op)\b"), ""),
    (re.compile(r"\\not\s*="), r"\\neq "),
    (re.compile(r"\\bm\b"), r"\\boldsymbol"),
)
"""What is written otherwise for the library; numbers of equations mean nothing in a chat."""
_SAID = re.compile(r"(\\(?:text\w*|mbox|hbox|fbox)\s*\{)((?:[^{}]|\{[^{}]*\})*)\}")
_SILENT = str.maketrans("", "", "\u2061\u2062\u2063\u2064\u200b\u2009\u2002\u2003\u00a0\u200a\u205f \t\n")
"""Signs that need no glyph."""


class RefusedError(Exception):
    """This is not drawn; the message says why."""


@dataclass(slots=True, frozen=True)
class Drawing:
    """A formula as SVG in ``currentColor``; its box in em of its text, ``ascent`` and ``descent`` from the baseline."""

    svg: str
    width: float
    ascent: float
    descent: float


def typeset(latex: str, display: bool) -> Drawing:
    """Draw a formula.

    Raises:
        RefusedError: it is too long, not understood, or holds what the font does not have.
    """
    if len(latex) > LIMIT:
        raise RefusedError(f"longer than {LIMIT} characters")
    if _MACROS.search(latex):
        raise RefusedError("defines commands")
    try:
        made = _made(_prepared(latex), display)
        _check_signs(made)
        svg = made.svgxml()
        box = made.node.bbox
    except RefusedError:
        raise
    except Exception as error:  # a parser of untrusted text fails in any way
        raise RefusedError(f"not understood: {type(error).__name__}") from error
    drawing = Drawing(_written(svg), (box.xmax - box.xmin) / _EM, box.ymax / _EM, -box.ymin / _EM)
    if not (0 < drawing.width <= _WIDEST and 0 < drawing.ascent + drawing.descent <= _TALLEST):
        raise RefusedError("empty or too large")
    return drawing


def _made(latex: str, display: bool) -> Any:
    """As the library makes it, but for the spaces that it leaves out."""
    from xml.etree import ElementTree

    library = _ziamath()
    from ziamath.escapes import unescape
    from ziamath.tex import tex2mml

    read = ElementTree.fromstring(unescape(tex2mml(latex, inline=not display)))
    return library.Math(spaced(library.zmath.denamespace(read)), size=_EM, margin=0)


@cache
def _ziamath() -> Any:
    """The library, with its font: 0.1 s, so only in the process that draws."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # how it finds its font
        import ziamath
        from ziamath.config import config
    config.svg2 = False  # Qt draws no symbols
    config.precision = 2
    return ziamath


def _prepared(latex: str) -> str:
    """What LaTeX has and the library lacks."""
    tags = _TAG.findall(latex)
    for pattern, instead in _INSTEAD:
        latex = pattern.sub(instead, latex)
    latex = _SAID.sub(_said, latex)
    return latex + "".join(rf" \qquad \text{{({tag})}}" for tag in tags[:1])


def _said(said: re.Match[str]) -> str:
    """Words in a formula: formulas in them are none to the library, and its tags are no words."""
    parts = said[2].split("$") if said[2].count("$") % 2 == 0 else [said[2]]
    words = (part if n % 2 else said[1] + html.escape(part, quote=False) + "}" for n, part in enumerate(parts))
    return "".join(word for word in words if word != said[1] + "}")


def _check_signs(made: Any) -> None:
    """Refuse commands that were not understood (they stand there as text) and signs that the font lacks."""
    for element in made.mathml.iter():
        text = element.text or ""
        if re.search(r"\\[A-Za-z]", text):
            raise RefusedError(f"unknown: {text.strip()}")
        for sign in text.translate(_SILENT):
            if made.font.glyphindex(sign) == 0:
                raise RefusedError(f"no glyph for {sign!r}")


def _written(svg: Any) -> str:
    from xml.etree import ElementTree

    kinds = {element.tag for element in svg.iter()}
    if not kinds <= _ALLOWED or not kinds & {"path", "rect"}:
        raise RefusedError("nothing to draw, or more than that")
    text = ElementTree.tostring(svg, encoding="unicode").replace('"black"', '"currentColor"')
    if len(text) > _LARGEST:
        raise RefusedError("too large")
    return text
