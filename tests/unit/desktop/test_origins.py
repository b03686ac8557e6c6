"""Where tokens came from: kept beside the text in a few lists, and read back only where it is of that text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.protocol import TokenRecord
from desktop.models.origins import MOST, Piece, pack, pieces
from desktop.widgets.round_table import round_rows, round_title

ORIGINS = st.sampled_from(["accepted", "correction", "bonus", "plain"])


def token(n_bytes: int, origin: Any = "plain", number: int = 0) -> TokenRecord:
    return TokenRecord(1, n_bytes, origin, None, number, 5)


@given(st.text(min_size=1, max_size=60), st.data())
def test_any_cut_gives_the_text_back(text: str, data: st.DataObject) -> None:
    """Tokens may end inside a letter, and some have no bytes of their own."""
    raw = text.encode("utf-8", "replace")
    text = raw.decode("utf-8")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=20)))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    records = [token(n, data.draw(ORIGINS), i) for i, n in enumerate(sizes)]
    read = pieces(text, pack(records))
    assert "".join(piece.text for piece in read) == text
    assert all(piece.text for piece in read)
    assert [piece.round for piece in read] == sorted({piece.round for piece in read})
    assert all(piece.origin == records[piece.round].origin for piece in read)


def test_a_letter_of_several_tokens_is_the_last_ones() -> None:
    kept = pack([token(1, "plain", 1), token(2, "accepted", 2), token(1, "bonus", 3), token(2, "plain", 4)])
    assert pieces("🌊ok", kept) == [Piece("🌊", "bonus", 3), Piece("ok", "plain", 4)]


@pytest.mark.parametrize(
    "kept",
    [
        None,
        {},
        {"bytes": [2], "origins": "p", "rounds": [0]},
        {"bytes": [3], "origins": "x", "rounds": [0]},
        {"bytes": [3], "origins": "pp", "rounds": [0]},
        {"bytes": [4, -1], "origins": "pp", "rounds": [0, 0]},
        {"bytes": ["3"], "origins": "p", "rounds": [0]},
        {"bytes": [3], "origins": ["p"], "rounds": [0]},
        {"bytes": [3], "origins": "p", "rounds": None},
        {"bytes": [True, 2], "origins": "pp", "rounds": [0, 0]},
    ],
)
def test_what_is_not_of_this_text_says_nothing(kept: Any) -> None:
    assert pieces("abc", kept) == []


def test_a_piece_knows_its_place_in_the_round() -> None:
    kept = pack(
        [token(1, number=0), *(token(1, "accepted", 1) for _ in range(2)), token(0, "bonus", 1), token(1, "plain", 2)]
    )
    assert [(piece.round, piece.place) for piece in pieces("abcd", kept)] == [(0, 1), (1, 1), (1, 2), (2, 1)]
    kept = pack([token(2, "accepted", 1), token(2, "accepted", 1), token(1, "bonus", 1)])
    assert [piece.place for piece in pieces("🌊!", kept)] == [2, 3], "a letter of two tokens is the last one's"


def test_nothing_and_too_much_are_not_kept() -> None:
    assert pack([]) is None
    assert pack([token(1)] * (MOST + 1)) is None


def test_a_round_as_a_table() -> None:
    record = {"round": 3, "source": "draft", "proposed": [5, 6, 7], "targets": [5, 9], "accepted": 1}
    record |= {"outcome": "correction", "draft_ms": 9.14, "verify_ms": 62.25, "p": [0.824, 0.0011]}
    assert round_rows(record, {5: " a", 6: "\n", 9: "b"}) == [
        ("1", "“ a”", "“ a”", "82\N{NO-BREAK SPACE}%", "accepted"),
        ("2", "“⏎”", "“b”", "< 1\N{NO-BREAK SPACE}%", "replaced"),
        ("3", "token 7", "–", "–", "discarded"),
    ]
    assert round_title(record) == "Round 3: 3 guessed by the draft model, 1 accepted; guessing 9.1 ms, pass 62.2 ms."
    whole = {"round": 4, "source": "lookup", "proposed": [5], "targets": [5, 8], "accepted": 1}
    assert [row[-1] for row in round_rows(whole, {})] == ["accepted", "bonus"]
    plain = {"round": 5, "source": None, "proposed": [], "targets": [8], "accepted": 0, "reason": "no earlier match"}
    assert round_rows(plain, {8: "x"}) == [("1", "–", "“x”", "–", "plain")]
    assert round_title(plain) == "Round 5: plain, pass 0.0 ms. No earlier match"
    cut = {"round": 6, "source": "draft", "proposed": [5, 6, 7], "targets": [5, 6], "accepted": 2}
    assert [row[-1] for row in round_rows(cut, {})] == ["accepted", "accepted", "discarded"]
