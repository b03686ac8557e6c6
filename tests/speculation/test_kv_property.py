"""After any round both caches, tokens and text agree: on tables here, to the bit on a real model in test_exact_kv."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.protocol import Sampling
from backend.sampling.chain import Chain
from backend.speculation.calibration import BucketCounts, MarginLogistic
from backend.speculation.cost import PassCosts
from backend.speculation.round import Rounds
from backend.speculation.sources.draft_model import DraftModel
from backend.speculation.sources.lookup import Lookup
from backend.speculation.verify import make_rule
from tests.speculation.adversary import Adversary, Planned, Step
from tests.speculation.tables import MixedDraft, TableModel

STEPS = st.one_of(
    st.builds(Step, st.just("adversary"), st.integers(1, 16), st.integers(0, 17)),
    st.builds(Step, st.sampled_from(["draft", "lookup"]), st.integers(1, 9)),
    st.just(Step("plain", 0)),
)


@settings(max_examples=150)
@given(st.lists(STEPS, max_size=25), st.sampled_from([0.0, 0.6, 30.0]), st.sampled_from([0.0, 0.8]), st.integers(0, 99))
def test_any_accept_pattern_on_tables(steps: list[Step], noise: float, temperature: float, seed: int) -> None:
    target = TableModel(9, seed=3, order=9)
    draft = MixedDraft(target, noise)
    chain = Chain(Sampling(temperature=temperature, top_k=0, top_p=1.0))
    rule = make_rule(chain, "coupled", seed)

    def said(history: list[int], k: int) -> list[int]:
        """What the plain sampler says next: a pure function of history and seed."""
        out = list(history)
        for _ in range(k):
            out.append(rule.choose(target.row(out), out, len(out)).token)
        return out[len(history) :]

    history = [1, 2, 3, 1, 2]
    plain = history + said(history, 400)
    sources = [
        Adversary(said, 9),
        Lookup(BucketCounts(), ()),
        DraftModel(draft, rule, 9, (), MarginLogistic(), PassCosts()),
    ]
    rounds = Rounds(target, sources, rule, Planned(steps), PassCosts(), history, (), 390)
    rounds.first(target.read(history)[-1])
    for step in steps:
        done = rounds.round()
        assert target.tokens == rounds.history[:-1]
        assert draft.tokens == rounds.history[: draft.length]
        assert draft.length < len(rounds.history)
        assert rounds.history == plain[: len(rounds.history)]
        if step.source == "adversary":
            assert done.accepted == min(step.right, step.k)
        assert len(done.emitted) == done.accepted + 1
