r"""Thin spaces around named operators (``\det A``), as TeX sets them: the library pads some of them, and not all.

It pads identifiers of several letters (``\sin``) on both sides, and of the operators only a few, where they stand first
and have nothing below them.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

_SCRIPTED = ("msub", "msup", "msubsup", "munder", "mover", "munderover")
_BLANKS = str.maketrans("", "", "\u2006\u2009 ")
"""Within names such as ``lim sup``."""
_CLOSING, _BINARY = ")]}\u27e9!", ("mod",)
_THIN = {"width": "0.1667em"}


def spaced(element: Element) -> Element:
    """Put them in, here and in all that is within."""
    for child in element:
        spaced(child)
    if element.tag in ("mrow", "math", "mtd", "mstyle"):
        children = list(element)
        for at in reversed(range(len(children))):
            if _name(children[at]):
                _pad(element, children, at)
    return element


def _pad(row: Element, children: list[Element], at: int) -> None:
    before = children[at - 1] if at else None
    after = children[at + 1] if at + 1 < len(children) else None
    if after is not None and (_ordinary(after) or _name(after)):
        row.insert(at + 1, Element("mspace", _THIN))
    if before is not None and (_ordinary(before) or _closes(before)):
        row.insert(at, Element("mspace", _THIN))
    base = _base(children[at])
    base.set("lspace", "0em")  # else some get two
    base.set("rspace", "0em")


def _base(element: Element) -> Element:
    while element.tag in _SCRIPTED and len(element):
        element = element[0]
    return element


def _name(element: Element) -> bool:
    """Whether it is an operator that is written in letters, with or without limits."""
    base = _base(element)
    text = (base.text or "").translate(_BLANKS)
    return base.tag == "mo" and len(text) > 1 and text.isalpha() and text not in _BINARY


def _ordinary(element: Element) -> bool:
    """Whether it is something that an operator may be of: no other operator, sign, or name that is padded already."""
    base = _base(element)
    if base.tag == "mi":
        return len((base.text or "").strip()) == 1
    return base.tag in ("mn", "mrow", "mfrac", "msqrt", "mroot", "mtext", "mtable", "mfenced")


def _closes(element: Element) -> bool:
    base = _base(element)
    text = (base.text or "").strip()
    return base.tag == "mo" and text != "" and text in _CLOSING
