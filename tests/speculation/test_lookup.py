"""Prompt lookup: what it finds, what it costs, and that it learns without being used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex, overload

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.speculation.calibration import BucketCounts
from backend.speculation.sources.lookup import Lookup

ENDS = frozenset({9})


def brute_force(history: Sequence[int], k: int, ends: frozenset[int] = ENDS) -> list[int]:
    """Of the eight latest places of the last two tokens, the one with the longest match (32 at most)."""
    n = len(history)
    best, at = 0, 0
    candidates = [e for e in range(1, n - 1) if (history[e - 1], history[e]) == (history[n - 2], history[n - 1])]
    for end in candidates[-8:]:
        length = 0
        while length < 32 and length <= end and history[end - length] == history[n - 1 - length]:
            length += 1
        if length >= best:
            best, at = length, end + 1
    if not best:
        return []
    grown = list(history)
    for i in range(k):
        grown.append(grown[at + i])  # past the end the copy reads itself: a period goes on
        if grown[-1] in ends:
            break
    return grown[n:]


@settings(max_examples=400)
@given(st.lists(st.integers(0, 3) | st.just(9), max_size=120), st.integers(0, 119), st.integers(1, 16))
def test_lookup_finds_what_a_brute_force_search_finds(tokens: list[int], split: int, k: int) -> None:
    """Part of the history is the prompt, part is observed round by round, in blocks."""
    split = min(split, len(tokens))
    lookup = Lookup(BucketCounts(), ENDS)
    history = tokens[:split]
    lookup.begin(history)
    while len(history) < len(tokens):
        start = len(history)
        history += tokens[start : start + 1 + start % 3]
        lookup.observe(history, start, None, 0)
    proposal = lookup.propose(history, k, None)
    assert proposal.tokens == (brute_force(history, k) if len(history) >= 3 else [])
    assert len(proposal.expected) == len(proposal.tokens) == proposal.drafted
    assert len(lookup.expect(history, k)) >= len(proposal.tokens)
    assert history == tokens


def test_lookup_prefers_the_longer_match_then_the_later_one() -> None:
    lookup = Lookup(BucketCounts(), ENDS)
    longer = [1, 2, 3, 4, 0, 2, 3, 5, 1, 2, 3]
    lookup.begin(longer)
    assert lookup.propose(longer, 1, None).tokens == [4]
    lookup = Lookup(BucketCounts(), ENDS)
    tie = [0, 2, 3, 4, 1, 2, 3, 5, 7, 2, 3]
    lookup.begin(tie)
    assert lookup.propose(tie, 1, None).tokens == [5]


def test_lookup_continues_a_period_beyond_what_was_said() -> None:
    history = [5, 6, 7, 5, 6, 7, 5, 6]
    lookup = Lookup(BucketCounts(), ENDS)
    lookup.begin(history)
    assert lookup.propose(history, 8, None).tokens == [7, 5, 6, 7, 5, 6, 7, 5]


def test_lookup_stops_at_an_end_token() -> None:
    history = [1, 2, 3, 9, 4, 1, 2]
    lookup = Lookup(BucketCounts(), ENDS)
    lookup.begin(history)
    assert lookup.propose(history, 8, None).tokens == [3, 9]


class Counting(list[int]):
    """Counts how often single items are read."""

    reads = 0

    @overload
    def __getitem__(self, at: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> list[int]: ...
    def __getitem__(self, at):
        Counting.reads += 1
        return super().__getitem__(at)


def reads_of_a_round(history: Counting, lookup: Lookup) -> int:
    Counting.reads = 0
    lookup.expect(history, 16)
    proposal = lookup.propose(history, 16, None)
    start = len(history)
    history += [*proposal.tokens, 3]
    lookup.observe(history, start, proposal, len(proposal.tokens))
    return Counting.reads


@pytest.mark.parametrize("period", [1, 2, 7], ids=["one token", "two tokens", "seven tokens"])
def test_a_round_costs_the_same_at_32_thousand_tokens(period: int) -> None:
    """Repetition is the worst case: every earlier place is a candidate. Steps are counted, not timed."""
    counts = []
    for n in (1_000, 32_000):
        history = Counting(i % period for i in range(n))
        lookup = Lookup(BucketCounts(), ENDS)
        lookup.begin(history)
        counts.append(reads_of_a_round(history, lookup))
    assert counts[0] == counts[1]
    assert counts[1] < 2500


def test_a_new_turn_extends_the_index_instead_of_building_it_anew() -> None:
    history = Counting(i * 7 % 1000 for i in range(20_000))
    lookup = Lookup(BucketCounts(), ENDS)
    lookup.begin(history)
    history += [1, 2, 3]
    Counting.reads = 0
    lookup.begin(history)
    assert Counting.reads < 10
    other = [4, *history[1:]]
    lookup.begin(other)
    assert lookup.propose(other, 4, None).tokens == brute_force(other, 4)


def test_lookup_learns_without_being_used() -> None:
    """What would have been proposed is scored, so a lookup that was off knows when to come back."""
    counts = BucketCounts()
    lookup = Lookup(counts, ENDS)
    history = [1, 2, 3, 4]
    lookup.begin(history)
    before = counts.expect(0, 1)[0]
    for _ in range(100):
        start = len(history)
        history.append(1 + start % 4)  # goes on counting 1 2 3 4, as lookup would have said
        lookup.observe(history, start, None, 0)
    assert lookup.expect(history, 1)[0] > 0.9 > before
