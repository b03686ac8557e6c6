"""Merging what the engine says: text joined, progress conflated, order within a job kept."""

from __future__ import annotations

from backend.protocol import Delta, LoadProgress, PromptProgress, State, Timings, TokenRecord
from desktop.inbox import Event, Inbox
from desktop.store.records import ROUNDS_KEPT


def delta(text: str, n: int) -> Delta:
    return Delta(text, (TokenRecord(n, len(text), "plain", None, n, n),), Timings(predicted_n=n))


def test_text_is_joined_and_the_latest_counters_win() -> None:
    inbox = Inbox()
    assert inbox.put(Event("delta", "a", delta("Hel", 1)))
    assert not inbox.put(Event("delta", "a", delta("lo", 2)))
    (event,) = inbox.take()
    assert event.value.text == "Hello"
    assert [t.id for t in event.value.tokens] == [1, 2]
    assert event.value.timings.predicted_n == 2
    assert inbox.take() == []


def test_jobs_and_sides_stay_apart() -> None:
    inbox = Inbox()
    inbox.put(Event("delta", "a", delta("x", 1), "plain"))
    inbox.put(Event("delta", "a", delta("y", 1), "speculation"))
    inbox.put(Event("delta", "b", delta("z", 1)))
    inbox.put(Event("delta", "a", delta("x", 2), "plain"))
    assert [(e.job, e.side, e.value.text) for e in inbox.take()] == [
        ("a", "plain", "xx"),
        ("a", "speculation", "y"),
        ("b", "", "z"),
    ]


def test_states_and_progress_are_latest_wins_and_ends_are_never_dropped() -> None:
    inbox = Inbox()
    for n in range(3):
        inbox.put(Event("state", "", State(context_used=n)))
        inbox.put(Event("prompt", "a", PromptProgress(n, 10, 0)))
        inbox.put(Event("loading", "l", LoadProgress(phase="target", fraction=n / 3)))
        inbox.put(Event("failed", f"job{n}", n))
    kinds = [e.kind for e in inbox.take()]
    assert kinds.count("state") == kinds.count("prompt") == kinds.count("loading") == 1
    assert kinds.count("failed") == 3


def test_what_lost_its_meaning_is_forgotten() -> None:
    inbox = Inbox()
    inbox.put(Event("state", "", State()))
    inbox.put(Event("delta", "a", delta("x", 1)))
    inbox.put(Event("lost", "", None))
    inbox.forget("state", "lost")
    assert [e.kind for e in inbox.take()] == ["delta"]


def test_the_end_of_a_job_comes_after_its_text() -> None:
    inbox = Inbox()
    inbox.put(Event("delta", "a", delta("x", 1)))
    inbox.put(Event("state", "", State()))
    inbox.put(Event("delta", "a", delta("y", 2)))
    inbox.put(Event("finished", "a", None))
    assert [e.kind for e in inbox.take()] == ["delta", "state", "finished"]


def test_rounds_are_joined_and_bounded() -> None:
    inbox = Inbox()
    for n in range(ROUNDS_KEPT + 3):
        inbox.put(Event("rounds", "a", (n,)))
    inbox.put(Event("rounds", "b", (1,)))
    first, second = inbox.take()
    assert (first.job, first.value) == ("a", tuple(range(3, ROUNDS_KEPT + 3)))
    assert (second.job, second.value) == ("b", (1,))
