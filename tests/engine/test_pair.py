"""Replies of a real pair: what is read, what is drafted, what a cancel, a swap or a switch leaves behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import llama_cpp
import pytest

from backend.engine import reply as reply_module
from backend.engine.cancel import CancelFlag
from backend.engine.context import Context
from backend.engine.context import Sequence as TokenSequence
from backend.engine.pair import Pair
from backend.errors import EngineError, ErrorCode
from backend.protocol import Comparison, Delta, Finished, PromptProgress, Sampling, Speculation
from backend.speculation.cost import PassCosts
from tests import tiny
from tests.engine.foretold import Foretold
from tests.engine.rig import (
    COUNT,
    EDIT,
    OFF,
    STORY,
    Reply,
    abort_inside,
    continued,
    pair,
    request,
    same_up_to_near_ties,
    say,
    with_draft,
)
from tests.tiny_recurrent import tiny_hybrid, tiny_mamba

DRAFT_4 = Speculation(source="draft", length=4)
LOOKUP_4 = Speculation(source="lookup", length=4)


@pytest.fixture(scope="module")
def smol(smollm2: Path) -> Iterator[Pair]:
    """SmolLM2 as its own draft."""
    with pair(smollm2, smollm2, n_ctx=1024) as both:
        yield both


@pytest.fixture(autouse=True)
def _clean(request: pytest.FixtureRequest) -> None:
    if "smol" in request.fixturenames:
        both = request.getfixturevalue("smol")
        both.forget()
        both.speculation = Speculation()


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Context, int, int]]:
    """Every pass: context, position of its first token, tokens."""
    seen: list[tuple[Context, int, int]] = []
    append = TokenSequence.append

    def spy(self: TokenSequence, tokens: Sequence[int], rows: int) -> Any:
        seen.append((self.context, self.length, len(tokens)))
        return append(self, tokens, rows)

    monkeypatch.setattr(TokenSequence, "append", spy)
    return seen


# -- what is read


def test_a_second_turn_reads_only_what_is_new_in_both_contexts(smol: Pair, passes: list) -> None:
    first = say(smol, COUNT, speculation=DRAFT_4, max_tokens=40)
    held = {id(m.context): m.context.sequence().length for m in (smol.target, smol.draft)}
    passes.clear()
    talk = continued(COUNT, first, "And now backwards.", smol.target.vocab.digest)
    second = say(smol, talk, speculation=DRAFT_4, max_tokens=12)
    timings = second.end.timings
    assert timings.cache_n >= first.end.start + len(first.end.ids) - 1
    assert timings.cache_n + timings.prompt_n == second.end.start
    for model in (smol.target, smol.draft):
        positions = [position for context, position, _ in passes if context is model.context]
        assert min(positions) >= held[id(model.context)] - 6, "nothing that was held is read again"
    assert 0 < timings.draft_prompt_n <= second.end.start - held[id(smol.draft.context)] + 6


def test_an_edited_prompt_keeps_the_common_part(smol: Pair) -> None:
    say(smol, "One two three four five six seven eight nine ten, then?", speculation=DRAFT_4, max_tokens=8)
    reply = say(smol, "One two three four five six seven eleven, then?", speculation=DRAFT_4, max_tokens=8)
    fresh = say(
        smol, "One two three four five six seven eleven, then?", speculation=OFF, max_tokens=8, reuse_cache=False
    )
    assert reply.end.timings.cache_n > 20
    assert fresh.end.timings.cache_n == 0
    same_up_to_near_ties(fresh, reply)


def test_regenerating_reads_one_token(smol: Pair) -> None:
    say(smol, COUNT, max_tokens=8)
    assert say(smol, COUNT, max_tokens=8).end.timings.prompt_n == 1


def test_the_draft_reads_nothing_before_the_first_token(smol: Pair) -> None:
    lengths: list[int] = []

    def each(event: Any, reply: Reply) -> None:
        if isinstance(event, Delta):
            lengths.append(smol.draft.context.sequence().length)

    reply = say(smol, STORY, speculation=DRAFT_4, max_tokens=12, each=each)
    assert lengths[0] == 0
    assert lengths[1] > reply.end.start - 1
    assert reply.end.timings.draft_prompt_ms > 0
    assert reply.end.timings.draft_prompt_n == reply.end.start


@pytest.mark.parametrize("settings", [OFF, LOOKUP_4, Speculation(length=0)], ids=["off", "lookup", "length 0"])
def test_the_draft_reads_nothing_while_it_is_not_used(smol: Pair, settings: Speculation, passes: list) -> None:
    say(smol, COUNT, speculation=settings, max_tokens=16)
    assert not [p for p in passes if p[0] is smol.draft.context]


def test_with_length_zero_every_pass_is_one_token(smol: Pair, passes: list) -> None:
    """No extra work when nothing is proposed (S9)."""
    for settings in (OFF, Speculation(length=0)):
        passes.clear()
        reply = say(smol, STORY, speculation=settings, max_tokens=10)
        assert [n for _, _, n in passes[-9:]] == [1] * 9
        assert len(passes) == len(reply.progress) + 9


def test_prefill_goes_in_slices_with_progress(smollm2: Path) -> None:
    with pair(smollm2, n_ctx=1024, batch=64) as both:
        reply = say(both, "word " * 200, max_tokens=2)
        done = [p.done for p in reply.progress]
        assert len(done) >= 4
        assert done == sorted(done)
        assert reply.progress[-1].done == reply.progress[-1].total == reply.end.start


# -- what is said


@pytest.mark.parametrize("prompt", [COUNT, STORY, EDIT], ids=["count", "story", "edit"])
@pytest.mark.parametrize("settings", [DRAFT_4, LOOKUP_4, Speculation(source="lookup+draft", length=3), Speculation()])
def test_speculation_does_not_change_the_text(smol: Pair, prompt: str, settings: Speculation) -> None:
    plain = say(smol, prompt, speculation=OFF, max_tokens=48)
    reply = say(smol, prompt, speculation=settings, max_tokens=48)
    same_up_to_near_ties(plain, reply)


def test_a_draft_that_is_the_target_is_right_nearly_always(smol: Pair) -> None:
    """At temperature 0; only the kernels' rounding stands between 100 % and this (C14)."""
    for prompt in (COUNT, STORY):
        timings = say(smol, prompt, speculation=DRAFT_4, max_tokens=64).end.timings
        assert timings.draft_n > 30
        assert timings.acceptance > 0.9
        assert timings.tokens_per_pass > 4


@pytest.mark.parametrize("temperature", [1e-4, 0.7, 2.0])
def test_temperatures(smol: Pair, temperature: float) -> None:
    """From nearly greedy to nearly random, with the same seed on and off (O11)."""
    sampling = Sampling(temperature=temperature, seed=7)
    plain = say(smol, STORY, sampling=sampling, speculation=OFF, max_tokens=40)
    reply = say(smol, STORY, sampling=sampling, speculation=DRAFT_4, max_tokens=40)
    same_up_to_near_ties(plain, reply, max(temperature, 0.01))
    assert reply.end.timings.draft_n_accepted > 5
    if temperature == 1e-4:
        same_up_to_near_ties(say(smol, STORY, speculation=OFF, max_tokens=40), reply)


def test_the_same_seed_twice_is_the_same_text(smol: Pair) -> None:
    """With the draft, from the same state; and another seed is another text (O8)."""
    sampling = Sampling(temperature=1.0, seed=11)
    texts = [
        say(smol, STORY, sampling=sampling, speculation=DRAFT_4, max_tokens=40, reuse_cache=False).text for _ in "ab"
    ]
    assert texts[0] == texts[1]
    other = sampling.model_copy(update={"seed": 12})
    assert say(smol, STORY, sampling=other, speculation=DRAFT_4, max_tokens=40).text != texts[0]


def test_an_unpinned_seed_is_fresh_and_reported(smol: Pair) -> None:
    sampling = Sampling(temperature=1.0)
    first, second = (say(smol, STORY, sampling=sampling, max_tokens=24, reuse_cache=False) for _ in "ab")
    assert first.end.seed != second.end.seed
    pinned = sampling.model_copy(update={"seed": first.end.seed})
    again = say(smol, STORY, sampling=pinned, max_tokens=24, reuse_cache=False)
    same_up_to_near_ties(first, again)


def test_rejection_rule_on_a_real_pair(smol: Pair) -> None:
    """The draft is the target, so nearly every token is accepted at any temperature."""
    wanted = Speculation(source="draft", length=4, rule="rejection")
    timings = say(
        smol, STORY, sampling=Sampling(temperature=1.0, seed=3), speculation=wanted, max_tokens=60
    ).end.timings
    assert timings.acceptance > 0.85


@pytest.mark.parametrize("kind", ["right", "wrong", "random", "mixed"])
@pytest.mark.parametrize("length", [1, 5])
def test_the_draft_only_ever_costs_time(smol: Pair, kind: str, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real target under drafts that know the answer, avoid it, or guess (O2, O18)."""
    plain = say(smol, COUNT, speculation=OFF, max_tokens=60)
    adversary = Foretold(kind, plain.ids, plain.end.start, smol.target.context.n_vocab)

    monkeypatch.setattr(reply_module, "sources_of", adversary.as_sources)
    reply = say(smol, COUNT, speculation=Speculation(source="draft", length=length), max_tokens=60)
    same_up_to_near_ties(plain, reply)
    timings = reply.end.timings
    assert timings.draft_n > 20
    if kind == "right":
        assert timings.acceptance > 0.9
    if kind in ("wrong", "random"):
        assert timings.acceptance < 0.05


# -- ends


def test_stop_strings_inside_an_accepted_block(smol: Pair) -> None:
    plain = say(smol, COUNT, speculation=OFF, max_tokens=60)
    for stop in (plain.text[9:11], plain.text[20:25]):
        reply = say(smol, COUNT, speculation=Speculation(source="draft", length=16), max_tokens=60, stop=(stop,))
        assert reply.end.reason == "stop"
        assert reply.text == plain.text[: plain.text.index(stop)]
        assert reply.end.timings.discarded > 0


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 16, 17, 18])
def test_max_tokens_is_exact(smol: Pair, limit: int) -> None:
    for settings in (OFF, Speculation(source="draft", length=16), LOOKUP_4):
        reply = say(smol, COUNT, speculation=settings, max_tokens=limit)
        assert reply.end.timings.predicted_n == len(reply.end.ids) == limit
        assert reply.end.reason == "length"


def test_end_of_generation_inside_an_accepted_block(smol: Pair) -> None:
    ask = "Answer with one word: what is the capital of France?"
    plain = say(smol, ask, speculation=OFF, max_tokens=200)
    assert plain.end.reason == "stop"
    eog = smol.target.vocab.eog
    reply = say(smol, ask, speculation=Speculation(source="draft", length=16), max_tokens=200)
    assert reply.end.reason == "stop"
    assert not eog & set(reply.end.ids)
    assert smol.target.vocab.detokenize(reply.end.ids).decode() == reply.text
    same_up_to_near_ties(plain, reply)
    forced = say(smol, ask, speculation=DRAFT_4, max_tokens=len(plain.ids) + 20, ignore_eos=True)
    assert forced.end.timings.predicted_n == len(plain.ids) + 20


def test_unicode_in_and_out(smol: Pair) -> None:
    ask = "Repeat exactly: 🦊 語 é العربية 👩‍👩‍👧 ﷽"
    plain = say(smol, ask, speculation=OFF, max_tokens=60)
    reply = say(smol, ask, speculation=LOOKUP_4, max_tokens=60)
    same_up_to_near_ties(plain, reply)
    for delta in reply.deltas:
        assert sum(t.n_bytes for t in delta.tokens) == len(delta.text.encode())


def test_positions_are_absolute_and_run_without_gaps(smol: Pair) -> None:
    reply = say(smol, COUNT, speculation=DRAFT_4, max_tokens=30)
    assert [t.pos for t in reply.tokens] == list(range(reply.end.start, reply.end.start + 30))
    origins = [t.origin for t in reply.tokens]
    assert origins[0] == "plain"
    assert origins.count("accepted") == reply.end.timings.draft_n_accepted
    assert all((t.source == "draft") == (t.origin != "plain") for t in reply.tokens)


@pytest.mark.parametrize("settings", [OFF, DRAFT_4])
@pytest.mark.parametrize("sampling", [Sampling(temperature=0), Sampling(temperature=0.8, seed=1)])
def test_probabilities_come_from_the_rows_that_decided(smol: Pair, settings: Speculation, sampling: Sampling) -> None:
    """Not zero logarithms for accepted tokens (O17)."""
    reply = say(smol, STORY, sampling=sampling, speculation=settings, max_tokens=24, probabilities=True)
    values = [t.p for t in reply.tokens]
    assert all(p is not None and 0 < p <= 1 for p in values)
    assert len(set(values)) > 5
    if sampling.temperature == 0:
        plain = say(smol, STORY, speculation=OFF, max_tokens=24, probabilities=True)
        if plain.ids == reply.ids:
            assert values == pytest.approx([t.p for t in plain.tokens], abs=0.12)


# -- cancel


@pytest.mark.parametrize("phase", ["prefill", "draft", "verify", "plain"])
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


# -- changes while a reply runs


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


# -- drafts that fail or do not fit


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
    assert "drafting with draft" in smol.state_fields()["why"] or smol.state_fields()["why"] == "last token"
    assert say(smol, COUNT, speculation=OFF, max_tokens=8).end.note == ""
    with_nothing = say(smol, "Hi", speculation=Speculation(source="lookup", length=4), max_tokens=3)
    if with_nothing.end.timings.draft_n == 0:
        assert with_nothing.end.note


def test_the_context_follows_the_target_and_is_not_the_drafts_own(smol: Pair) -> None:
    """SmolLM2 was trained for 2,048; the draft gets what the target has (K11), and one sequence (K16)."""
    assert smol.draft.context.n_ctx == smol.target.context.n_ctx == 1024
    assert smol.draft.context.n_seq == 1
    assert smol.target.context.n_seq == 64


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


# -- compare


def both_ways(both: Pair, prompt: str, flag: CancelFlag | None = None, **more: Any) -> tuple[Comparison, list]:
    events = list(both.compare(request(prompt, **more), flag or CancelFlag()))
    assert isinstance(events[-1], Comparison)
    return events[-1], events[:-1]


@pytest.mark.parametrize("n_ctx", [256, 1024], ids=["one after the other", "interleaved"])
@pytest.mark.parametrize("settings", [DRAFT_4, LOOKUP_4, Speculation()], ids=["draft", "lookup", "auto"])
def test_compare(smollm2: Path, n_ctx: int, settings: Speculation) -> None:
    with pair(smollm2, smollm2, n_ctx=n_ctx) as both:
        sampling = Sampling(temperature=0.7, seed=4)
        result, events = both_ways(both, STORY, sampling=sampling, speculation=settings, max_tokens=110)
        assert result.interleaved == (n_ctx == 1024)
        assert result.plain.draft_n == 0
        assert result.plain.plain == result.plain.predicted_n
        assert result.speculation.draft_n > 0 or settings.length == "auto"
        assert result.seed == 4
        assert result.identical == (result.difference is None) == (result.plain_text == result.speculation_text)
        if result.difference:
            assert result.difference.margin_plain < 0.5 / 0.7
            assert result.difference.plain_id != result.difference.other_id
            assert "near-tie" in result.difference.explanation
        alone = say(both, STORY, sampling=sampling, speculation=OFF, max_tokens=110, reuse_cache=False)
        assert alone.text[:20] == result.plain_text[:20]
        texts = {"plain": "", "speculation": ""}
        for side, event in events:
            if isinstance(event, Delta):
                texts[side] += event.text
        assert texts == {"plain": result.plain_text, "speculation": result.speculation_text}
        assert sum(isinstance(e, Finished) for _, e in events) == 2
        assert isinstance(events[0][1], PromptProgress)
        assert both.target.context.sequence(1).length == 0, "the second sequence is given back"


def test_compare_gives_each_side_what_it_would_have_alone(smol: Pair, passes: list) -> None:
    """The plain side does not cut the draft's memory behind the other side's back."""
    result, _ = both_ways(smol, COUNT, speculation=DRAFT_4, max_tokens=80)
    assert result.interleaved
    reads = [(position, n) for context, position, n in passes if context is smol.draft.context]
    decoded = sum(n for _, n in reads)
    assert decoded <= result.speculation.draft_prompt_n + result.speculation.proposed + 2 * result.speculation.passes
    assert max(n for _, n in reads[2:]) <= 2


def test_compare_sampled_by_rejection_says_that_texts_differ_by_chance(smol: Pair) -> None:
    wanted = Speculation(source="draft", length=4, rule="rejection")
    result, _ = both_ways(smol, STORY, sampling=Sampling(temperature=1.5, seed=4), speculation=wanted, max_tokens=40)
    assert not result.identical
    assert "by chance" in result.difference.explanation


@pytest.mark.parametrize("kind", [tiny_mamba, tiny_hybrid], ids=["recurrent", "hybrid"])
def test_compare_on_memories_that_do_not_roll_back(tiny_dir: Path, kind: Callable[..., Path]) -> None:
    path = kind(tiny_dir / f"pair-{kind.__name__}.gguf")
    with pair(path, path) as both:
        result, _ = both_ways(both, COUNT, speculation=Speculation(length=3), max_tokens=40, ignore_eos=True)
        assert not result.interleaved
        assert result.plain.predicted_n == result.speculation.predicted_n == 40
        if kind is tiny_mamba:
            assert result.identical


def test_compare_cancelled(smol: Pair) -> None:
    flag = CancelFlag()
    events = smol.compare(request(STORY, speculation=DRAFT_4, max_tokens=60), flag)
    seen = 0
    for _, event in events:
        seen += isinstance(event, Delta)
        if seen == 8:
            flag.set()
            break
    with pytest.raises(EngineError) as caught:
        next(events)
    assert caught.value.code is ErrorCode.CANCELLED
    assert smol.target.context.sequence(1).length == 0
    plain = say(smol, STORY, speculation=OFF, max_tokens=20)
    same_up_to_near_ties(say(smol, STORY, speculation=OFF, max_tokens=20, reuse_cache=False), plain)
