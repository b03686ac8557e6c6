"""A reply that was not written in one go: continued where it was cut off, or changed by a person and then gone on with.

Its text is one. What the message says of itself (target, figures, seed, how it ended, …) is of the part that was
written last; ``Message.parts`` holds the same of those before it, and where each ends: ``bytes`` of the text,
``rounds``, and ``ids`` where they are known, all counted from the text's beginning. ``edited`` marks a person's text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

from desktop.language import marked, tr
from desktop.models.origins import cut, next_round
from desktop.models.thinking import noted
from desktop.store import Message

_OWN = ("target", "draft", "tokenizer", "seed", "settings", "state", "timings", "finish", "note", "error", "comparison")
_HALF = "\ufffd"
"""What is shown where a character is not whole."""


def edited(text: str, target: str | None, *, opened: bool = False) -> dict[str, Any]:
    """A person's version of a reply by ``target``; ``opened`` as in ``models.thinking``."""
    known: dict[str, Any] = {"edited": True, "bytes": _size(text), "rounds": 0}
    if opened:
        known["settings"] = noted({})
    return known if target is None else known | {"target": target}


def resumed(reply: Message) -> Message:
    """The reply while more of it is written: what is known of its last part goes to those before."""
    kept = whole(reply)
    parts = kept.parts
    if _begins(kept) < _size(kept.content):  # else nothing was written since
        known = {name: value for name in _OWN if (value := getattr(kept, name)) not in (None, "", {})}
        parts = (*parts, known | {"bytes": _size(kept.content), "rounds": first_round(kept)})
    new: dict[str, Any] = dict.fromkeys(("draft", "seed", "timings", "finish", "error", "comparison"))
    return replace(kept, state="streaming", parts=parts, note="", **new)


def whole(reply: Message) -> Message:
    """Without the character at its end that was cut in two, and without the tokens that it is made of."""
    if not reply.content.endswith(_HALF) or by_hand(reply):
        return reply
    raw = reply.content.encode("utf-8", "replace")
    sizes = (reply.tokens or {}).get("bytes") or []
    kept = cut(reply.tokens, len(raw) - len(_HALF.encode()))
    lost = len(sizes) - len(kept["bytes"])
    if sum(sizes) != len(raw) or "-" in reply.tokens["origins"][-lost:]:  # type: ignore[index]  # there are sizes
        return replace(reply, content=reply.content.removesuffix(_HALF), ids=None)
    ids = reply.ids[:-lost] if reply.ids is not None else None
    return replace(reply, content=raw[: sum(kept["bytes"])].decode("utf-8", "ignore"), ids=ids)


def can_go_on(reply: Message) -> bool:
    """Whether there is a text, and it did not come to its own end."""
    if reply.role != "assistant" or reply.state == "streaming" or not whole(reply).content:
        return False
    return reply.state in ("stopped", "failed") or reply.finish == "length" or by_hand(reply)


def by_hand(reply: Message) -> bool:
    """Whether its text is as a person left it."""
    return bool(reply.parts) and bool(reply.parts[-1].get("edited")) and _begins(reply) == _size(reply.content)


def went_on_from(reply: Message) -> Message | None:
    """The reply as it was before its last part; None where that is the only one."""
    if not (at := _begins(reply)):
        return None
    n = reply.parts[-1].get("ids")
    ids = reply.ids[:n] if reply.ids is not None and isinstance(n, int) and n >= 0 else None
    return replace(reply, content=reply.content.encode("utf-8", "replace")[:at].decode("utf-8", "ignore"), ids=ids)


def last_rounds(reply: Message) -> list[dict[str, Any]]:
    """The rounds of its last part."""
    first = _number(reply.parts[-1], "rounds") if reply.parts else 0
    return [record for record in reply.rounds if _number(record, "round") >= first]


def first_round(reply: Message) -> int:
    """The number that the next part's first round has in the reply."""
    return max([next_round(reply.tokens), *(_number(record, "round") + 1 for record in reply.rounds)])


def tokenizer_at(reply: Message, number: int) -> str | None:
    """The vocabulary in which a round's tokens are numbered."""
    part = next((part for part in reply.parts if number < _number(part, "rounds")), None)
    return part.get("tokenizer") if part is not None else reply.tokenizer


def story(reply: Message, name: Callable[[str], str]) -> str:
    """How it came to be, for the line below it; empty for a reply in one go.

    Args:
        reply: a reply.
        name: a model's name, by its id.
    """
    if not reply.parts:
        return ""
    edited = any(part.get("edited") for part in reply.parts)
    authors: list[str] = []
    last = [] if by_hand(reply) else [reply.target]
    for target in (*(part.get("target") for part in reply.parts), *last):
        if isinstance(target, str) and name(target) not in authors[-1:]:
            authors.append(name(target))
    if len(authors) > 1:
        begun = marked("begun by {first}, continued by {others}")
        said = marked("edited, begun by {first}, continued by {others}") if edited else begun
        return tr(said, first=authors[0], others=reduce(_and, authors[1:]))
    if last:
        return tr("edited, continued") if edited else tr("continued", note="a reply that had been stopped")
    return tr("edited", note="a reply") if edited else ""


def _and(some: str, one: str) -> str:
    return tr("{some} and {one}", some=some, one=one)


def _begins(reply: Message) -> int:
    """Where its last part begins, in bytes."""
    return min(_number(reply.parts[-1], "bytes"), _size(reply.content)) if reply.parts else 0


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _number(known: dict[str, Any], name: str) -> int:
    value = known.get(name)
    return value if isinstance(value, int) and value >= 0 else 0
