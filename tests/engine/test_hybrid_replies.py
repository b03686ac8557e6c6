"""Replies of hybrid and recurrent models, as target and as draft: the text is plain decoding's, whatever is undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.learner import Learner
from backend.engine.load import LoadedModel
from backend.engine.pair import Pair
from backend.engine.reply import sources_of
from backend.engine.sequence import Sequence
from backend.errors import EngineError, ErrorCode
from backend.protocol import Comparison, Message, Sampling, Speculation
from backend.sampling.chain import Chain
from backend.speculation.contracts import LAG
from backend.speculation.cost import PassCosts
from backend.speculation.verify import make_rule
from tests import tiny
from tests.engine.rig import (
    COUNT,
    EDIT,
    GREEDY,
    OFF,
    STORY,
    Reply,
    abort_inside,
    continued,
    first_difference,
    loaded,
    pair,
    request,
    say,
    with_draft,
)
from tests.speculation.loop import Frozen
from tests.tiny_recurrent import PLAIN, SNAPSHOTS, tiny_hybrid, tiny_jamba, tiny_mamba, tiny_nemotron, tiny_qwen35

EXACTLY = {"flash_attention": "off", "kv_type": "f32", "draft_kv_type": "f32"}
ROUNDING = 1e-3
"""Largest lead that passes of different sizes were let decide differently, with caches of 32 bits (0.00002 seen)."""
SAMPLINGS = {"greedy": Sampling(temperature=0), "sampled": Sampling(temperature=0.8, seed=4)}
SETTINGS = {
    "draft": Speculation(source="draft", length=16),
    "lookup": Speculation(source="lookup", length=16),
    "both": Speculation(source="lookup+draft", length=5),
    "auto": Speculation(),
}


@pytest.fixture(params=SNAPSHOTS, scope="module")
def both(request: pytest.FixtureRequest, tiny_dir: Path) -> Iterator[Pair]:
    """A hybrid target, and a draft of the same kind that agrees with it now and then."""
    write = SNAPSHOTS[request.param]
    target = write(tiny_dir / f"replies-{write.__name__}.gguf")
    with pair(target, write(tiny_dir / f"replies-{write.__name__}-draft.gguf", noise=0.25), **EXACTLY) as both:
        yield both


@pytest.fixture(params=PLAIN)
def plain_file(request: pytest.FixtureRequest, tiny_dir: Path) -> Path:
    return PLAIN[request.param](tiny_dir / f"replies-{request.param}.gguf")


def ask(**more: Any) -> dict[str, Any]:
    return {"max_tokens": 100, "ignore_eos": True, "reuse_cache": False} | more


def same(plain: Reply, other: Reply) -> None:
    at = first_difference(plain, other)
    assert at is None or plain.margins[at] < ROUNDING, (at, plain.margins[at])


# -- the text


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_speculation_changes_no_token(both: Pair, settings: str, sampling: str) -> None:
    """Lookup and draft through snapshots, over many rounds that end in a mismatch, are plain decoding's text (K6)."""
    rejected = 0
    for prompt in (COUNT, EDIT):
        plain = say(both, prompt, speculation=OFF, **ask(sampling=SAMPLINGS[sampling]))
        reply = say(both, prompt, speculation=SETTINGS[settings], **ask(sampling=SAMPLINGS[sampling]))
        same(plain, reply)
        assert max(len(r.proposed) for r in reply.rounds) <= 16
        rejected += reply.end.timings.rounds_mismatch
    if settings != "auto":
        assert rejected > (40 if settings == "draft" else 3)


def test_the_check_of_the_text_can_fail(both: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: passes of one token write no snapshots. That is refused; where it is not, texts differ."""
    plain = say(both, COUNT, speculation=OFF, **ask())

    def singly(self: Sequence, tokens: list[int]) -> np.ndarray:
        return np.stack([self.append([token], 1)[-1].copy() for token in tokens])

    monkeypatch.setattr(Sequence, "decode", singly)
    with pytest.raises(EngineError) as caught:
        say(both, COUNT, speculation=SETTINGS["draft"], **ask())
    assert caught.value.code is ErrorCode.TRUNCATE_FAILED
    monkeypatch.setattr(Sequence, "_can_undo", lambda self, n: True)
    reply = say(both, COUNT, speculation=SETTINGS["draft"], **ask())
    with pytest.raises(AssertionError):
        same(plain, reply)


@pytest.mark.parametrize("snapshots", [1, 3])
@pytest.mark.parametrize("settings", SETTINGS)
def test_no_draft_is_longer_than_the_snapshots_allow(tiny_dir: Path, settings: str, snapshots: int) -> None:
    path = tiny_nemotron(tiny_dir / "replies-k.gguf")
    with pair(path, path, snapshots=snapshots, **EXACTLY) as both:
        assert both.target.context.max_rollback == snapshots
        both.costs, both.draft_costs = flat(20.0), flat(1.0)  # as where longer drafts always pay
        plain = say(both, EDIT, speculation=OFF, **ask())
        reply = say(both, EDIT, speculation=SETTINGS[settings], **ask())
        same(plain, reply)
        longest = max(len(r.proposed) for r in reply.rounds)
        assert longest == snapshots or (settings == "lookup" and longest < snapshots)


def flat(ms: float) -> PassCosts:
    """Passes that cost the same whatever their size."""
    costs = PassCosts()
    for n in (1, 2, 4, 8, 32):
        costs.observe(n, ms)
    return Frozen(costs)


def test_without_snapshots_nothing_is_drafted_and_forcing_it_fails(tiny_dir: Path) -> None:
    """The negative control of the rollback: the same reply, told that it could, is an error and no wrong text."""
    path = tiny_nemotron(tiny_dir / "replies-0.gguf")
    with pair(path, path, snapshots=0, **EXACTLY) as both:
        reply = say(both, COUNT, speculation=SETTINGS["draft"], **ask())
        assert reply.end.timings.draft_n == 0
        assert "no memory is set aside for rolling this model's state back" in reply.end.note
        both.target.context.max_rollback = 16
        with pytest.raises(EngineError) as caught:
            say(both, STORY, speculation=SETTINGS["lookup"], **ask(max_tokens=300))
        assert caught.value.code is ErrorCode.TRUNCATE_FAILED
        both.target.context.max_rollback = 0


def test_a_model_without_snapshots_decodes_plainly_and_says_why(plain_file: Path, tiny_dir: Path) -> None:
    with pair(plain_file, tiny.tiny_llama(tiny_dir / "replies-llama.gguf")) as both:
        plain = say(both, COUNT, speculation=OFF, **ask())
        for settings in (*SETTINGS.values(), Speculation(source="draft", length=4)):
            reply = say(both, COUNT, speculation=settings, **ask())
            assert reply.ids == plain.ids
            assert reply.end.timings.draft_n == 0
            assert "cannot be rolled back" in reply.end.note
            assert "cannot be rolled back" in both.state_fields()["why"]


# -- between turns


def turns(both: Pair, first: Reply) -> dict[str, list[Message]]:
    return {
        "next": continued(COUNT, first, "And now backwards.", both.target.vocab.digest),
        "again": [Message(role="user", content=COUNT)],  # one token would have to be rolled back
        "edited": [Message(role="user", content=COUNT + " Please.")],
    }


@pytest.mark.parametrize(
    "wanted", [OFF, Speculation(source="draft", length=4), SETTINGS["lookup"]], ids=["plain", "draft", "lookup"]
)
def test_prefix_reuse_is_right_or_not_done(both: Pair, wanted: Speculation) -> None:
    """Second turns, regenerated answers and edited prompts against the same prompts read from nothing."""
    for cut in ((), ("\n",), ("a", "e", "1")):
        first = say(both, COUNT, speculation=wanted, stop=cut, **ask(max_tokens=50))
        for name in ("next", "again", "edited"):
            say(both, COUNT, speculation=wanted, stop=cut, **ask(max_tokens=50))
            talk = turns(both, first)[name]
            reused = say(both, talk, speculation=wanted, **ask(reuse_cache=True, max_tokens=50))
            fresh = say(both, talk, speculation=OFF, **ask(max_tokens=50))
            same(fresh, reused)
            assert reused.end.timings.cache_n + reused.end.timings.prompt_n == fresh.end.timings.prompt_n
            if name == "next":
                assert reused.end.timings.cache_n >= first.end.start, "at least the prompt need not be read again"


def test_prefix_reuse_without_snapshots(plain_file: Path) -> None:
    with pair(plain_file, **EXACTLY) as both:
        first = say(both, COUNT, speculation=OFF, **ask())
        for talk in turns(both, first).values():
            reused = say(both, talk, speculation=OFF, **ask(reuse_cache=True))
            same(say(both, talk, speculation=OFF, **ask()), reused)


def test_a_stop_string_over_several_tokens_of_a_plain_reply(both: Pair) -> None:
    """Its tokens came one a pass, so no snapshot leads back before them, whatever llama.cpp says."""
    plain = say(both, COUNT, speculation=OFF, **ask(max_tokens=40))
    several = plain.text[8:12]
    reply = say(both, COUNT, speculation=OFF, stop=(several,), **ask(max_tokens=40))
    assert reply.end.reason == "stop"
    assert reply.text == plain.text[: plain.text.index(several)]
    talk = continued(COUNT, reply, "Go on.", both.target.vocab.digest)
    again = say(both, talk, speculation=OFF, **ask(reuse_cache=True))
    same(say(both, talk, speculation=OFF, **ask()), again)


# -- as draft

DRAFTS = {"mamba": tiny_mamba, "jamba": tiny_jamba, **SNAPSHOTS}


@pytest.mark.parametrize("kind", DRAFTS)
@pytest.mark.parametrize("settings", ["draft", "both"])
def test_a_recurrent_draft_proposes_what_it_would_from_nothing(tiny_dir: Path, kind: str, settings: str) -> None:
    """Drafted token by token and taken back each round: every proposal is that of a draft that read the text anew."""
    target = tiny.tiny_llama(tiny_dir / "replies-other.gguf")
    draft = DRAFTS[kind](tiny_dir / f"replies-as-draft-{kind}.gguf", seed=5)
    wanted = SETTINGS[settings].model_copy(update={"length": 6})
    with pair(target, draft, **EXACTLY) as both, loaded(draft, **EXACTLY) as alone:
        plain = say(both, STORY, speculation=OFF, **ask())
        reply = say(both, STORY, speculation=wanted, **ask())
        same(plain, reply)
        prompt = both.target.template.prompt_tokens([Message(role="user", content=STORY)], {})
        text = [*prompt, *reply.ids]
        drafted = [r for r in reply.rounds if r.source == "draft" and r.proposed]
        assert len(drafted) > 20
        assert sum(r.accepted < len(r.proposed) for r in drafted) > 20
        for r in drafted[::4]:
            assert list(r.proposed) == greedily(alone, text[: r.pos], len(r.proposed))


def greedily(model: LoadedModel, text: list[int], n: int) -> list[int]:
    sequence = model.context.sequence()
    sequence.clear()
    said: list[int] = []
    row = sequence.read(text)[-1]
    for _ in range(n):
        said.append(int(row.argmax()))
        row = sequence.read(said[-1:])[-1]
    return said


def test_a_recurrent_draft_is_not_read_anew_each_round(tiny_dir: Path) -> None:
    target = tiny.tiny_llama(tiny_dir / "replies-other.gguf")
    with pair(target, tiny_mamba(tiny_dir / "replies-cheap.gguf"), **EXACTLY) as both:
        reply = say(both, STORY, speculation=Speculation(source="draft", length=4), **ask())
        prompt = len(both.target.template.prompt_tokens([Message(role="user", content=STORY)], {}))
        assert reply.end.timings.rounds_mismatch > 50
        assert reply.end.timings.draft_prompt_n <= prompt + 8
        assert reply.end.timings.by_source["draft"][1] > 200


def test_a_paused_recurrent_draft_follows_the_text_in_few_passes(tiny_dir: Path) -> None:
    """Nothing that it reads so will be taken back, so it is not held to the passes that could be."""
    target, draft = tiny.tiny_llama(tiny_dir / "replies-other.gguf"), tiny_mamba(tiny_dir / "replies-cheap.gguf")
    with pair(target, draft, **EXACTLY) as both:
        assert both.draft is not None
        source = next(s for s in sources_of(both, make_rule(Chain(GREEDY), "coupled", 0, 1), Learner())[1:])
        history = [5 + i * 7 % 300 for i in range(50)]
        source.begin(history)
        source.follow(history)
        assert both.draft.context.sequence().length == LAG


# -- what else is done with a pair


def test_measured_at_load(both: Pair) -> None:
    assert {1, 2, 4, 8} <= set(both.costs.table())
    assert both.draft_costs.known


def test_judging(both: Pair) -> None:
    reply = say(both, COUNT, speculation=Speculation(source="draft", length=1), **ask(max_tokens=40))
    judged = both.judge([Message(role="user", content=COUNT)], reply.end.ids, {}, CancelFlag())
    seen = {r.pos - reply.end.start: r.accepted for r in reply.rounds if r.proposed}
    assert [int(judged.hits[i]) for i in seen] == list(seen.values())


@pytest.mark.parametrize("settings", SETTINGS)
def test_compare(both: Pair, settings: str) -> None:
    asked = request(COUNT, speculation=SETTINGS[settings], **ask(reuse_cache=True, max_tokens=60))
    result = list(both.compare(asked, CancelFlag()))[-1]
    assert isinstance(result, Comparison)
    assert not result.interleaved
    assert result.difference is None or result.difference.margin_plain < ROUNDING
    assert result.speculation.draft_n > 0 or settings in ("auto", "lookup")


@pytest.mark.parametrize("swapped_for", [tiny_mamba, tiny_qwen35, tiny_hybrid, None])
def test_a_draft_is_swapped_in_the_middle_of_a_reply(tiny_dir: Path, swapped_for: Any) -> None:
    path = tiny_nemotron(tiny_dir / "replies-swap.gguf")
    other = swapped_for(tiny_dir / "replies-swapped.gguf") if swapped_for else None
    wanted = Speculation(source="draft", length=5)
    with pair(path, path, **EXACTLY) as both:
        plain = say(both, COUNT, speculation=OFF, **ask())
        offered: list[int] = []

        def swap(_event: Any, reply: Reply) -> None:
            if len(reply.tokens) > 30 and not offered:
                offered.append(1)
                both.offer_draft(with_draft(both, other, **EXACTLY) if other else None)

        same(plain, say(both, COUNT, speculation=wanted, each=swap, **ask()))
        assert (both.draft is None) == (other is None)


@pytest.mark.parametrize("phase", ["prefill", "draft", "verify", "plain"])
def test_a_cancelled_reply_leaves_nothing_wrong(both: Pair, phase: str) -> None:
    settings = OFF if phase == "plain" else Speculation(source="draft", length=4)
    expected = say(both, EDIT, speculation=settings, **ask(max_tokens=32))
    context = both.draft.context if phase == "draft" and both.draft else both.target.context
    fits = {"prefill": lambda n: n > 20, "verify": lambda n: 1 < n < 20}.get(phase, lambda n: n == 1)
    both.forget()
    flag = CancelFlag()
    with abort_inside(context, flag, fits, 1 if phase == "prefill" else 3):
        reply = say(both, EDIT, speculation=settings, flag=flag, **ask(max_tokens=32, reuse_cache=True))
    assert reply.end.reason == "cancelled"
    assert expected.text.startswith(reply.text)
    same(expected, say(both, EDIT, speculation=settings, **ask(max_tokens=32, reuse_cache=True)))
