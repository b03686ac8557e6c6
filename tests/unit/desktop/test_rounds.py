"""Rounds are read from their text when somebody looks, and then they are what was written."""

from __future__ import annotations

import pytest

from desktop.store.rounds import Rounds


def test_they_are_as_written() -> None:
    rounds = Rounds('[{"round": 0, "proposed": [1]}, {"round": 1}]')
    written = ({"round": 0, "proposed": [1]}, {"round": 1})
    assert rounds == written
    assert (len(rounds), rounds[-1], rounds[:1]) == (2, written[1], written[:1])
    assert Rounds("[]") == ()
    assert not Rounds("[]")


@pytest.mark.parametrize("text", ['[{"round": 0', "[1]", '{"round": 0}', "null", "\x00", "[" * 100_000])
def test_damaged_ones_are_none(text: str) -> None:
    assert tuple(Rounds(text)) == ()
