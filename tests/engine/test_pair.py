"""Replies of a real pair: what is read, what is said, how they end, and what they leave in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backend.engine import reply as reply_module
from backend.engine.pair import Pair
from backend.protocol import Delta, Sampling, Speculation
from tests.engine.foretold import Foretold
from tests.engine.rig import (
    COUNT,
    DRAFT_4,
    EDIT,
    LOOKUP_4,
    OFF,
    STORY,
    Reply,
    continued,
    pair,
    same_up_to_near_ties,
    say,
)


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


def test_what_reading_a_prompt_took_is_told_until_a_later_one_tells(smol: Pair) -> None:
    read = say(smol, EDIT, max_tokens=4, reuse_cache=False).end.timings
    told = {read.prompt_n: pytest.approx(read.prompt_ms)}
    assert smol.state_fields()["cost"].prompt == told
    assert say(smol, EDIT, max_tokens=4).end.timings.prompt_n == 1
    assert smol.state_fields()["cost"].prompt == told, "one token tells nothing of others"


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
    if temperature == 1e-4:  # its own leads are beyond what a probability tells; those of a greedy reply are not
        greedy = say(smol, STORY, speculation=OFF, max_tokens=40)
        same_up_to_near_ties(greedy, plain)
        same_up_to_near_ties(greedy, reply)
    else:
        same_up_to_near_ties(plain, reply, temperature)
    assert reply.end.timings.draft_n_accepted > 5


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
    plain = known = say(smol, COUNT, speculation=OFF, max_tokens=60)
    for _ in range(4):  # a near-tie may fall otherwise in such passes: then this is what there is to know
        adversary = Foretold(kind, known.ids, known.end.start, smol.target.context.n_vocab)
        monkeypatch.setattr(reply_module, "sources_of", adversary.as_sources)
        reply = say(smol, COUNT, speculation=Speculation(source="draft", length=length), max_tokens=60)
        same_up_to_near_ties(plain, reply)
        if reply.ids == known.ids:
            break
        known = reply
    timings = reply.end.timings
    assert timings.draft_n > 20
    if kind == "right":
        assert timings.acceptance > 0.9
    if kind in ("wrong", "random"):
        assert timings.acceptance < 0.05


def test_stop_strings_inside_an_accepted_block(smol: Pair) -> None:
    wanted = Speculation(source="draft", length=16)
    whole = say(smol, COUNT, speculation=wanted, max_tokens=60, reuse_cache=False).text
    for stop in (whole[9:11], whole[20:25]):
        reply = say(smol, COUNT, speculation=wanted, max_tokens=60, stop=(stop,), reuse_cache=False)
        assert reply.end.reason == "stop"
        assert reply.text == whole[: whole.index(stop)]
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
    assert [p for r in reply.rounds for p in r.p][: len(values)] == pytest.approx(values, abs=1e-4)
    if sampling.temperature == 0:
        plain = say(smol, STORY, speculation=OFF, max_tokens=24, probabilities=True)
        if plain.ids == reply.ids:
            assert values == pytest.approx([t.p for t in plain.tokens], abs=0.12)


def test_a_reply_leaves_the_memory_that_plain_decoding_would(smol: Pair) -> None:
    """Its last token unread, wherever in a block it came: a second turn reads the same batch either way."""
    ends: list[dict[str, Any]] = [{"max_tokens": n} for n in range(3, 12)]
    ends += [{"max_tokens": 60, "stop": (stop,)} for stop in (" 7", "9,", "0, 1", "1")]
    for end in ends:
        held = []
        for settings in (OFF, DRAFT_4):
            smol.forget()
            reply = say(smol, COUNT, speculation=settings, **end)
            held.append((reply.ids, smol.target.context.sequence().tokens.copy()))
        assert held[0] == held[1], end
