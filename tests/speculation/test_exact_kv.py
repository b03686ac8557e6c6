"""Without llamafile's kernels: after any round both caches hold the text alone, to the last bit of the next logits.

There a pass over many tokens and passes over one give the same bits (flash attention off), so the tolerance is zero,
and the negative controls at the end show that the comparison sees a cache that is off by one token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.engine import native
from backend.engine.sequence import Sequence
from backend.protocol import Sampling
from backend.sampling.chain import Chain
from backend.speculation.calibration import BucketCounts, MarginLogistic
from backend.speculation.cost import PassCosts
from backend.speculation.round import Rounds
from backend.speculation.sources.draft_model import DraftModel
from backend.speculation.sources.lookup import Lookup
from backend.speculation.verify import make_rule
from tests.engine.rig import kv_end, load
from tests.speculation.adversary import Adversary, Planned, Step

PROMPTS = (
    "Count: 1, 2, 3, 4, 5,",
    "The fox said to the lighthouse keeper: the",
    "def f(x):\n    return x\n\ndef g(x):\n",
)
ROOM = 140

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def bench(smollm2: Path, no_llamafile: None) -> Iterator[SimpleNamespace]:
    """Target, draft and a reference that reads everything from nothing; the target's own text for each prompt."""
    native.install_log(lambda level, text: None)
    models = {name: load(smollm2, flash_attention="off", n_ctx=256) for name in ("target", "draft", "reference")}
    vocab = models["target"].vocab
    reference = models["reference"].context.sequence()
    prompts = [vocab.tokenize(p, parse_special=False) for p in PROMPTS]
    said = []
    for prompt in prompts:
        reference.clear()
        row = reference.read(prompt)[-1]
        text: list[int] = []
        while len(text) < ROOM:
            text.append(int(row.argmax()))
            row = reference.decode(text[-1:])[-1]
        said.append(text)
    sequences = {name: model.context.sequence() for name, model in models.items()}
    yield SimpleNamespace(**sequences, prompts=prompts, said=said, n_vocab=vocab.n_vocab)
    for model in models.values():
        model.close()


def start(bench: SimpleNamespace, which: int, steps: list[Step]) -> Rounds:
    bench.target.clear()
    bench.draft.clear()
    history = list(bench.prompts[which])
    offset = len(history)
    rule = make_rule(Chain(Sampling(temperature=0)), "coupled", 0)

    def said(history: list[int], k: int) -> list[int]:
        at = len(history) - offset
        return bench.said[which][at : at + k]

    sources = [
        Adversary(said, bench.n_vocab),
        Lookup(BucketCounts(), ()),
        DraftModel(bench.draft, rule, bench.n_vocab, (), MarginLogistic(), PassCosts()),
    ]
    rounds = Rounds(bench.target, sources, rule, Planned(steps), PassCosts(), history, (), ROOM - 20)
    rounds.first(bench.target.read(history)[-1])
    return rounds


def agree(bench: SimpleNamespace, rounds: Rounds, which: int) -> None:
    """Lengths, tokens and text."""
    history, prompt = rounds.history, bench.prompts[which]
    assert bench.target.tokens == history[:-1]
    assert kv_end(bench.target) == bench.target.length == len(history) - 1
    assert bench.draft.tokens == history[: bench.draft.length]
    assert kv_end(bench.draft) == bench.draft.length < len(history)
    assert history[len(prompt) :] == bench.said[which][: len(history) - len(prompt)]


def next_row(sequence: Sequence, history: list[int]) -> np.ndarray:
    """The row after the token that comes next in this cache; the cache is left as it was."""
    n = sequence.length
    row = sequence.decode([history[n]])[-1].copy()
    sequence.truncate(n)
    return row


def fresh(bench: SimpleNamespace, history: list[int]) -> np.ndarray:
    bench.reference.clear()
    return bench.reference.read(history)[-1].copy()


def logits_are_fresh(bench: SimpleNamespace, rounds: Rounds) -> bool:
    history = rounds.history
    equal = np.array_equal(next_row(bench.target, history), fresh(bench, history))
    if bench.draft.length:
        read = history[: bench.draft.length + 1]
        equal &= np.array_equal(next_row(bench.draft, history), fresh(bench, read))
    return equal


STEPS = st.one_of(
    st.builds(Step, st.just("adversary"), st.integers(1, 16), st.integers(0, 17)),
    st.builds(Step, st.sampled_from(["draft", "lookup"]), st.integers(1, 9)),
    st.just(Step("plain", 0)),
)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2), st.lists(STEPS, min_size=1, max_size=9), st.integers(0, 8))
def test_any_rounds_leave_caches_that_a_fresh_reading_would_make(
    bench: SimpleNamespace, which: int, steps: list[Step], look: int
) -> None:
    rounds = start(bench, which, steps)
    for i in range(len(steps)):
        rounds.round()
        agree(bench, rounds, which)
        if i == look:
            assert logits_are_fresh(bench, rounds)
    assert logits_are_fresh(bench, rounds)


@pytest.mark.parametrize("k", [1, 2, 3, 8, 16])
def test_every_accept_count(bench: SimpleNamespace, k: int) -> None:
    """None to all of k right tokens, each in a round of its own and the next round on top of it (O4)."""
    for right in sorted({*range(min(k, 4) + 1), k // 2, k - 1, k}):
        rounds = start(bench, right % 3, [Step("adversary", k, right), Step("draft", 3), Step("adversary", 4, 2)])
        done = rounds.round()
        assert done.accepted == right
        agree(bench, rounds, right % 3)
        rounds.round()
        rounds.round()
        agree(bench, rounds, right % 3)
        assert logits_are_fresh(bench, rounds)


@pytest.mark.parametrize("shift", [+1, -1], ids=["one too many kept", "one too few kept"])
@pytest.mark.parametrize("cache", ["target", "draft"])
def test_negative_control_an_off_by_one_shows(
    bench: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, shift: int, cache: str
) -> None:
    """If the comparison could not see a cache off by one, the tests above would prove nothing."""
    sequence: Sequence = getattr(bench, cache)
    cut: Callable[[Sequence, int], None] = Sequence.truncate

    def off_by_one(self: Sequence, n: int) -> None:
        wrong = n + shift if self is sequence and 0 < n < self.length else n
        kept = list(self.tokens)
        cut(self, wrong)
        if self is sequence and wrong != n and n + shift <= len(kept):
            # the books say n tokens; the cache holds another token there, or lacks the last one
            self.tokens[:] = kept[:wrong]

    rounds = start(bench, 1, [Step("draft", 4), Step("adversary", 6, 1), Step("draft", 2)])
    rounds.round()
    assert logits_are_fresh(bench, rounds)
    with monkeypatch.context() as patch:
        patch.setattr(Sequence, "truncate", off_by_one)
        rounds.round()
    assert sequence.tokens != rounds.history[: sequence.length] or sequence.length != len(rounds.history) - 1
    row = sequence.decode([rounds.history[-1]])[-1].copy()
    assert not np.array_equal(row, fresh(bench, rounds.history))
