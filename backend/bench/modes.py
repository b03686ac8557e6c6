"""The names of ways to decode, as ``tandem bench --modes`` takes them.

``NAME[:LENGTH][@RULE][#LABEL]``: ``plain`` (no speculation), ``auto`` (any source, automatic length), ``draft``
(draft model only), ``lookup`` (prompt lookup only), ``lookup+draft``, ``fixed:N`` (N tokens from the draft model, or
from lookup without one). A LENGTH fixes the number of draft tokens. RULE is ``coupled`` or ``rejection``;
``rejection`` alone means ``auto@rejection``. A LABEL makes the same way a mode of its own: ``plain,plain#2`` states the
noise of a measurement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from backend.errors import EngineError, ErrorCode
from backend.protocol import Speculation

_LONGEST = 48
_NAMES = ("plain", "auto", "draft", "lookup", "lookup+draft", "fixed", "rejection")
_KNOWN = (
    f"the modes are {', '.join(_NAMES[:-2])}, draft:N, lookup:N, lookup+draft:N, fixed:N and rejection; "
    "@coupled or @rejection after one changes its rule"
)
_FORM = re.compile(r"^(?P<name>[a-z+]+)(:(?P<length>\d+))?(@(?P<rule>[a-z]+))?(#(?P<label>\w+))?$")


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to decode."""

    name: str
    speculation: Speculation


def parse_modes(text: str, *, has_draft: bool, rule: str = "coupled") -> list[Mode]:
    """The modes of a comma-separated list, in its order.

    Args:
        text: as typed.
        has_draft: whether a draft model is loaded.
        rule: where a mode names none.

    Raises:
        EngineError: BAD_REQUEST, naming the first mode that is wrong.
    """
    modes = [_parse(part.strip(), has_draft, rule) for part in text.split(",") if part.strip()]
    names = [mode.name for mode in modes]
    if not modes:
        raise _bad("No mode is named", "name some, such as plain,auto")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise _bad(f"The mode {twice} stands twice", f"write {twice}#2 for a second run of it")
    return modes


def baseline(modes: Iterable[str]) -> str | None:
    """The mode that the others are compared with."""
    return next((mode for mode in modes if mode.partition("#")[0] == "plain"), None)


def _parse(text: str, has_draft: bool, rule: str) -> Mode:
    match = _FORM.match(text)
    if match is None or match["name"] not in _NAMES:
        raise _bad(f"There is no mode {text!r}", _KNOWN)
    name, length, chosen = match["name"], match["length"], match["rule"] or rule
    if chosen not in ("coupled", "rejection"):
        raise _bad(f"The mode {text} names the rule {chosen}", "the rules are coupled and rejection")
    if name == "fixed" and length is None:
        raise _bad("The mode fixed needs a length", "write fixed:4")
    if name == "plain":
        if length is not None or match["rule"] is not None:
            raise _bad(f"The mode {text} has a length or a rule", "plain has neither")
        return Mode(text, Speculation(enabled=False))
    if length is not None and (len(length) > 3 or not 1 <= int(length) <= _LONGEST):
        raise _bad(f"The mode {text} drafts {length} tokens", f"a length is from 1 to {_LONGEST}")
    if name == "draft" and not has_draft:
        raise _bad(f"The mode {text} needs a draft model", "name one with --draft")
    if name == "rejection":
        name, chosen = "auto", "rejection"
    settings: dict[str, Any] = {"source": _source(name, has_draft), "rule": chosen}
    if length is not None:
        settings["length"] = int(length)
    return Mode(text, Speculation(**settings))


def _source(name: str, has_draft: bool) -> str:
    if name == "fixed":
        return "draft" if has_draft else "lookup"
    return name


def _bad(what: str, todo: str) -> EngineError:
    return EngineError(ErrorCode.BAD_REQUEST, f"{what}; {todo}.")
