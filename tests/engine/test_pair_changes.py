"""A reply that is stopped, whose settings or draft change, or whose draft fails."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import llama_cpp
import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.pair import Pair
from backend.plan.request import ROWS
from backend.protocol import Delta, Finished, Sampling, Speculation
from backend.speculation.cost import PassCosts
from tests import tiny
from tests.engine.rig import (
    COUNT,
    DRAFT_4,
    EDIT,
    OFF,
    Reply,
    abort_inside,
    pair,
    request,
    same_up_to_near_ties,
    say,
    with_draft,
)


@pytest.mark.parametrize("phase", ["prefill", "draft", "verify", "plain"])
@pytest.mark.alone
def test_cancel_in_each_phase_then_continue_as_if_fresh(smol: Pair, phase: str) -> None:
    """The reply ends within 200 ms of the flag, and the conversation goes on as from nothing (K12, K14)."""
    settings = OFF if phase == "plain" else DRAFT_4
    expected = say(smol, EDIT, speculation=settings, max_tokens=32, reuse_cache=False)
    context = smol.draft.context if phase == "draft" else smol.target.context
    fits = {"prefill": lambda n: n > 20, "verify": lambda n: 1 < n < 20}.get(phase, lambda n: n == 1)
    took = []
    for _ in range(3):  # a busy machine may need more than one try
        smol.forget()
        flag = CancelFlag()
        with abort_inside(context, flag, fits, 1 if phase == "prefill" else 3) as when:
            reply = say(smol, EDIT, speculation=settings, max_tokens=32, flag=flag)
            took.append(1e3 * (time.perf_counter() - when[0]))
        assert reply.end.reason == "cancelled"
        assert expected.text.startswith(reply.text)
        assert (reply.text == "") == (phase == "prefill")
        again = say(smol, EDIT, speculation=settings, max_tokens=32)
        same_up_to_near_ties(expected, again)
        if took[-1] < 200:
            break
    assert min(took) < 200


@pytest.mark.alone
def test_cancel_during_a_long_prefill(smollm2: Path) -> None:
    """Inside a slice of 2,048 tokens, which takes seconds, and before the next slice (K15)."""
    with pair(smollm2, n_ctx=8192, batch=2048) as both:
        text = "The lighthouse keeper counted the ships. " * 800
        took = []
        for attempt in range(3):
            both.forget()
            flag = CancelFlag()
            events = both.reply(request(text), flag)
            when: list[float] = []

            def stop(flag: CancelFlag = flag, when: list[float] = when) -> None:
                when.append(time.perf_counter())
                flag.set()

            timer = threading.Timer(0.4 + 0.1 * attempt, stop)
            timer.start()
            seen = list(events)
            took.append(1e3 * (time.perf_counter() - when[0]))
            assert isinstance(seen[-1], Finished)
            assert seen[-1].reason == "cancelled"
            assert not any(isinstance(e, Delta) for e in seen)
            if took[-1] < 200:
                break
        assert min(took) < 200
        held = both.target.context.sequence().length
        assert llama_cpp.llama_memory_seq_pos_max(both.target.context.memory, 0) == held - 1


def test_a_cancelled_reply_is_whole_up_to_where_it_stopped(smol: Pair) -> None:
    flag = CancelFlag()

    def each(event: Any, reply: Reply) -> None:
        if len(reply.tokens) > 10:
            flag.set()

    reply = say(smol, COUNT, speculation=DRAFT_4, max_tokens=60, flag=flag, each=each)
    assert reply.end.reason == "cancelled"
    assert 10 < len(reply.end.ids) < 60
    assert smol.target.vocab.detokenize(reply.end.ids).decode() == reply.text


def test_speculation_switched_during_a_reply_takes_effect_from_the_next_round(smol: Pair) -> None:
    smol.speculation = DRAFT_4
    switches: list[int] = []

    def each(event: Any, reply: Reply) -> None:
        if isinstance(event, Delta) and len(reply.deltas) in (4, 8):
            smol.speculation = OFF if len(reply.deltas) == 4 else DRAFT_4
            switches.append(len(reply.rounds))

    reply = say(smol, COUNT, max_tokens=60, each=each)
    off, on = switches
    proposed = [len(r.proposed) for r in reply.rounds]
    assert all(proposed[1:off])
    assert not any(proposed[off:on])
    assert all(r.reason == "speculation is off" for r in reply.rounds[off:on])
    assert all(proposed[on:-1])
    same_up_to_near_ties(say(smol, COUNT, speculation=OFF, max_tokens=60), reply)


def test_the_rule_changed_during_a_reply_takes_effect_from_the_next_round(smol: Pair) -> None:
    smol.speculation = DRAFT_4
    switches: list[int] = []

    def each(event: Any, reply: Reply) -> None:
        if isinstance(event, Delta) and len(reply.deltas) == 4:
            smol.speculation = DRAFT_4.model_copy(update={"rule": "rejection"})
            switches.append(len(reply.rounds))

    sampling = Sampling(temperature=0.7, seed=3)
    reply = say(smol, COUNT, sampling=sampling, max_tokens=40, ignore_eos=True, each=each)
    by_rule = [all((t.margin is None) == (t.round >= switches[0]) for t in d.tokens) for d in reply.deltas]
    assert all(by_rule), "coupled choices have a lead, rejection's have none"
    assert reply.end.timings.draft_n_accepted > 10


def test_a_requests_own_settings_are_not_touched_by_the_switch(smol: Pair) -> None:
    smol.speculation = OFF
    assert say(smol, COUNT, speculation=DRAFT_4, max_tokens=20).end.timings.draft_n > 0


def test_the_draft_can_be_swapped_during_a_reply(smollm2: Path) -> None:
    """Taken over between two rounds; the target is never touched, the text is the same (C12)."""
    with pair(smollm2, smollm2) as both:
        plain = say(both, COUNT, speculation=OFF, max_tokens=60)
        old = both.draft
        target = both.target.context.memory
        new = with_draft(both, smollm2)

        def each(event: Any, reply: Reply) -> None:
            if len(reply.deltas) == 4 and both.draft is old:
                both.offer_draft(new)
            if len(reply.deltas) == 8:
                both.offer_draft(None)

        reply = say(both, COUNT, speculation=DRAFT_4, max_tokens=60, each=each)
        assert old is not None
        assert old.context._pointer is None, "the old one is freed"
        assert new.context._pointer is None
        assert both.draft is None
        assert both.target.context.memory is target
        proposed = [len(r.proposed) for r in reply.rounds]
        assert all(proposed[1:8])
        assert not any(proposed[9:])
        same_up_to_near_ties(plain, reply)
        both.offer_draft(with_draft(both, smollm2))
        assert say(both, COUNT, speculation=DRAFT_4, max_tokens=20).end.timings.draft_n > 0


def test_a_draft_offered_twice_frees_the_first(smollm2: Path) -> None:
    with pair(smollm2) as both:
        first, second = with_draft(both, smollm2), with_draft(both, smollm2)
        both.offer_draft(first)
        both.offer_draft(second)
        say(both, "Hi", max_tokens=2)
        assert first.context._pointer is None
        assert both.draft is second


def test_a_draft_that_fails_once_is_read_anew(smol: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    real, left = llama_cpp.llama_decode, [6]

    def decode(pointer: Any, batch: Any) -> int:
        if pointer == smol.draft.context._pointer:
            left[0] -= 1
            if left[0] == 0:
                return -1
        return real(pointer, batch)

    monkeypatch.setattr(llama_cpp, "llama_decode", decode)
    reply = say(smol, COUNT, speculation=DRAFT_4, max_tokens=40)
    assert left[0] < 0
    assert reply.end.timings.draft_n_accepted > 20
    assert reply.end.note == ""


def test_a_draft_that_keeps_failing_sits_out_and_it_is_said(smol: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cleared, retried once, then plain: never a loop of errors (K5, A6)."""
    plain = say(smol, COUNT, speculation=OFF, max_tokens=40)
    real, calls = llama_cpp.llama_decode, [0]

    def decode(pointer: Any, batch: Any) -> int:
        if pointer == smol.draft.context._pointer:
            calls[0] += 1
            if calls[0] > 6:
                return -3
        return real(pointer, batch)

    with monkeypatch.context() as patch:
        patch.setattr(llama_cpp, "llama_decode", decode)
        reply = say(smol, COUNT, speculation=DRAFT_4, max_tokens=40, reuse_cache=False)
    assert calls[0] == 8
    same_up_to_near_ties(plain, reply)
    assert "The draft sat out" in reply.end.note
    assert "code -3" in smol.state_fields()["draft_note"]
    assert say(smol, COUNT, speculation=DRAFT_4, max_tokens=20).end.timings.draft_n > 0, "the next reply tries again"
    assert smol.state_fields()["draft_note"] == ""


@pytest.mark.parametrize("n_vocab", [290, 400])
def test_a_draft_with_a_shorter_or_longer_vocabulary(
    tiny_files: tuple[Path, Path], tiny_dir: Path, n_vocab: int
) -> None:
    draft = tiny.tiny_llama(tiny_dir / f"pair-{n_vocab}.gguf", n_vocab=n_vocab, noise=0.2)
    with pair(tiny_files[0], draft) as both:
        plain = say(both, COUNT, speculation=OFF, max_tokens=120, ignore_eos=True)
        reply = say(both, COUNT, speculation=DRAFT_4, max_tokens=120, ignore_eos=True)
        same_up_to_near_ties(plain, reply)
        assert all(token < 320 for r in reply.rounds for token in r.proposed)
        held = both.draft.context.sequence().tokens
        assert all(token < n_vocab for token in held)
        if n_vocab < 320 and any(token >= n_vocab for token in reply.ids[:-1]):
            assert "does not have" in reply.end.note
        else:
            assert reply.end.timings.draft_n > 0


def test_random_target_and_draft_agree_on_every_counter(tiny_files: tuple[Path, Path]) -> None:
    """A pair that accepts some tokens and rejects some, under both rules; say() checks the books."""
    with pair(*tiny_files, n_ctx=1024) as both:
        for rule in ("coupled", "rejection"):
            for length in (1, 3, "auto"):
                wanted = Speculation(source="lookup+draft", length=length, rule=rule)
                sampling = Sampling(temperature=0.8, seed=5)
                reply = say(both, COUNT, sampling=sampling, speculation=wanted, max_tokens=150, ignore_eos=True)
                assert reply.end.timings.predicted_n == 150
                if length != "auto":
                    assert 0 < reply.end.timings.draft_n_accepted < reply.end.timings.draft_n


def test_why_is_told_from_what_happened(smol: Pair) -> None:
    say(smol, COUNT, speculation=DRAFT_4, max_tokens=20)
    assert "drafting with the draft model" in smol.state_fields()["why"] or smol.state_fields()["why"] == "last token"
    assert say(smol, COUNT, speculation=OFF, max_tokens=8).end.note == ""
    with_nothing = say(smol, "Hi", speculation=Speculation(source="lookup", length=4), max_tokens=3)
    if with_nothing.end.timings.draft_n == 0:
        assert with_nothing.end.note


def test_the_context_follows_the_target_and_is_not_the_drafts_own(smol: Pair) -> None:
    """SmolLM2 was trained for 2,048; the draft gets what the target has (K11), and sequences for a tree's paths."""
    assert smol.draft.context.n_ctx == smol.target.context.n_ctx == 1024
    assert smol.draft.context.n_seq == ROWS["draft"] == 32
    assert smol.target.context.n_seq == ROWS["target"] == 64


def test_an_unmeasured_pair_answers(tiny_files: tuple[Path, Path]) -> None:
    """Automatic lengths need costs; before there are any, the text is decoded plainly."""
    with pair(*tiny_files) as both:
        both.costs, both.draft_costs = PassCosts(), PassCosts()
        reply = say(both, COUNT, speculation=Speculation(), max_tokens=20, ignore_eos=True)
        assert reply.end.timings.predicted_n == 20
        assert both.costs.known


@pytest.mark.starter
def test_the_starter_pair(starter_target: Path, starter_draft: Path) -> None:
    with pair(starter_target, starter_draft) as both:
        plain = say(both, EDIT, speculation=OFF, max_tokens=28)
        reply = say(both, EDIT, speculation=Speculation(source="draft", length=3), max_tokens=28)
        same_up_to_near_ties(plain, reply)
        assert both.target.context.n_vocab != 0
        assert reply.end.timings.acceptance > 0.4
        assert reply.end.timings.passes < 24
