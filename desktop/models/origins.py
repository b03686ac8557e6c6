"""Where each token of a reply came from: kept with it in three short lists, and read back as pieces of its text."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from backend.protocol import Origin, TokenRecord

_LETTERS: dict[Origin, str] = {origin: origin[0] for origin in get_args(Origin)}
_ORIGINS = {letter: origin for origin, letter in _LETTERS.items()}
MOST = 50_000
"""Tokens of one reply of which this is kept."""


@dataclass(slots=True, frozen=True)
class Piece:
    """A token's part of the text; a letter that several tokens make is the last one's."""

    text: str
    origin: Origin
    round: int


def pack(tokens: Sequence[TokenRecord]) -> dict[str, Any] | None:
    """As it is stored. None where there is nothing to say, or too much."""
    if not tokens or len(tokens) > MOST:
        return None
    return {
        "bytes": [token.n_bytes for token in tokens],
        "origins": "".join(_LETTERS[token.origin] for token in tokens),
        "rounds": [token.round for token in tokens],
    }


def pieces(content: str, kept: dict[str, Any] | None) -> list[Piece]:
    """The text in pieces; none where what is kept is not of this text (it was changed, or is damaged)."""
    raw = content.encode("utf-8", "replace")
    if not kept or not _whole(kept) or sum(kept["bytes"]) != len(raw):
        return []
    out: list[Piece] = []
    decoder, at = codecs.getincrementaldecoder("utf-8")(), 0
    for n, letter, number in zip(kept["bytes"], kept["origins"], kept["rounds"], strict=True):
        if text := decoder.decode(raw[at : at + n]):
            out.append(Piece(text, _ORIGINS[letter], number))
        at += n
    return out


def _whole(kept: dict[str, Any]) -> bool:
    sizes, letters, rounds = kept.get("bytes"), kept.get("origins"), kept.get("rounds")
    if not isinstance(sizes, list) or not isinstance(letters, str) or not isinstance(rounds, list):
        return False
    numbers = all(type(n) is int and n >= 0 for n in (*sizes, *rounds))
    return numbers and len(sizes) == len(letters) == len(rounds) <= MOST and set(letters) <= set(_ORIGINS)
