"""Where each token of a reply came from: kept with it in three short lists, and read back as pieces of its text."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from backend.protocol import Origin, TokenRecord

_LETTERS: dict[Origin, str] = {origin: origin[0] for origin in get_args(Origin)}
_UNKNOWN = "-"
_ORIGINS: dict[str, Origin | None] = {letter: origin for origin, letter in _LETTERS.items()} | {_UNKNOWN: None}
MOST = 50_000
"""Tokens of one reply of which this is kept."""


@dataclass(slots=True, frozen=True)
class Piece:
    """A token's part of the text; a letter that several tokens make is the last one's."""

    text: str
    origin: Origin | None
    """None = it is not known token by token: a person's text, or one whose end was never told."""
    round: int
    place: int = 1
    """Which of its round's tokens it is, from 1."""


def pack(tokens: Sequence[TokenRecord]) -> dict[str, Any] | None:
    """As it is stored. None where there is nothing to say, or too much."""
    if not tokens or len(tokens) > MOST:
        return None
    return {
        "bytes": [token.n_bytes for token in tokens],
        "origins": "".join(_LETTERS[token.origin] for token in tokens),
        "rounds": [token.round for token in tokens],
    }


def joined(
    before: dict[str, Any] | None, n_bytes: int, tokens: Sequence[TokenRecord], first: int
) -> dict[str, Any] | None:
    """What is kept of a reply that went on.

    Args:
        before: what is kept of its beginning, as far as that is known.
        n_bytes: of that beginning.
        tokens: what came then; none = nothing is known of it.
        first: the number in the reply of its first round.
    """
    kept, new = cut(before, n_bytes), pack(tokens)
    if new is None:
        return before
    if rest := n_bytes - sum(kept["bytes"]):
        kept = {"bytes": [*kept["bytes"], rest], "origins": kept["origins"] + _UNKNOWN, "rounds": [*kept["rounds"], 0]}
    whole = {name: kept[name] + new[name] for name in ("bytes", "origins")}
    whole["rounds"] = [*kept["rounds"], *(number + first for number in new["rounds"])]
    return whole if len(whole["bytes"]) <= MOST else None


def cut(kept: dict[str, Any] | None, n_bytes: int) -> dict[str, Any]:
    """What is kept of the tokens within a text's first bytes."""
    if not kept or not _whole(kept):
        return {"bytes": [], "origins": "", "rounds": []}
    count, size = len(kept["bytes"]), sum(kept["bytes"])
    while size > n_bytes:
        count -= 1
        size -= kept["bytes"][count]
    return {name: kept[name][:count] for name in ("bytes", "origins", "rounds")}


def next_round(kept: dict[str, Any] | None) -> int:
    """The number after that of the last round."""
    return 1 + max(kept["rounds"], default=-1) if kept and _whole(kept) else 0


def pieces(content: str, kept: dict[str, Any] | None) -> list[Piece]:
    """The text in pieces; none where what is kept is not of this text (it was changed, or is damaged)."""
    raw = content.encode("utf-8", "replace")
    if not kept or not _whole(kept) or sum(kept["bytes"]) != len(raw):
        return []
    out: list[Piece] = []
    decoder, at, place, before = codecs.getincrementaldecoder("utf-8")(), 0, 0, -1
    for n, letter, number in zip(kept["bytes"], kept["origins"], kept["rounds"], strict=True):
        place = place + 1 if number == before else 1
        before = number if letter != _UNKNOWN else -1  # text of unknown making belongs to no round
        if text := decoder.decode(raw[at : at + n]):
            out.append(Piece(text, _ORIGINS[letter], number, place))
        at += n
    return out


def _whole(kept: dict[str, Any]) -> bool:
    sizes, letters, rounds = kept.get("bytes"), kept.get("origins"), kept.get("rounds")
    if not isinstance(sizes, list) or not isinstance(letters, str) or not isinstance(rounds, list):
        return False
    numbers = all(type(n) is int and n >= 0 for n in (*sizes, *rounds))
    return numbers and len(sizes) == len(letters) == len(rounds) <= MOST and set(letters) <= set(_ORIGINS)
