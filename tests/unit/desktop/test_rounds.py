"""Rounds are read from their text when somebody looks, and then they are what was written."""

from __future__ import annotations

import json
import zlib

import pytest

from desktop.store.rounds import Rounds, packed


def test_they_are_as_written() -> None:
    rounds = Rounds('[{"round": 0, "proposed": [1]}, {"round": 1}]')
    written = ({"round": 0, "proposed": [1]}, {"round": 1})
    assert rounds == written
    assert (len(rounds), rounds[-1], rounds[:1]) == (2, written[1], written[:1])
    assert Rounds("[]") == ()
    assert not Rounds("[]")


def test_packed_they_take_a_tenth() -> None:
    made = {"pos": 9, "source": "draft", "proposed": [1, 2, 3, 4], "targets": [1, 2, 3, 4, 5], "accepted": 4}
    rounds = tuple({"round": n, "outcome": "all accepted", "verify_ms": 20.0 + n % 7, **made} for n in range(2000))
    stored = packed(rounds)
    assert Rounds(stored) == rounds
    assert len(stored) * 10 < len(json.dumps(rounds))
    assert Rounds(packed([])) == ()


def test_no_more_is_unpacked_than_a_reply_has() -> None:
    assert Rounds(zlib.compress(b'[{"round": "' + b"0" * 100_000_000 + b'"}]')) == ()


@pytest.mark.parametrize(
    "text", ['[{"round": 0', "[1]", '{"round": 0}', "null", "\x00", "[" * 100_000, b"", b"x\x9c\x01"]
)
def test_damaged_ones_are_none(text: str | bytes) -> None:
    assert tuple(Rounds(text)) == ()
