"""Trees: the likeliest paths and no others, as large as pays; and exact by enumeration, as chains are."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import EngineError, ErrorCode
from backend.protocol import Sampling, Speculation
from backend.sampling.chain import Chain
from backend.speculation.calibration import MarginLogistic
from backend.speculation.cost import PassCosts
from backend.speculation.round import Round, Rounds
from backend.speculation.sources import draft_model, draft_tree
from backend.speculation.sources.draft_model import DraftModel
from backend.speculation.statistics import record
from backend.speculation.tree import Budget, Growth
from backend.speculation.verify import Greedy
from tests.speculation.loop import PLAIN, costs, make, run
from tests.speculation.tables import MixedDraft, TableModel
from tests.speculation.test_policy import Stated, policy

PROMPT = [1, 2, 3, 1, 2]
SLOW = {"n1": 500.0, "n64": 520.0}
"""A target read from disk: what a pass checks costs next to nothing."""
DRAFT = Speculation(source="draft")
SAMPLING = Sampling(temperature=0.9, top_k=6, top_p=0.95, repeat_penalty=1.2)
LAW = (0.5, 0.3, 0.15)


class Branching(Stated):
    """A draft that can."""

    may_branch = True


def grown(nodes: int, depth: int, verify: float = 0.0, step: float = 0.0, branches: int = 100) -> tuple[Growth, int]:
    """A tree in which each token has three successors with the same chances; and how many levels were looked behind."""
    growth = Growth(Budget(nodes, depth, lambda n: 100.0 + verify * n), lambda n: step * n, branches)
    growth.add(-1, [0, 1, 2], LAW, lambda _: False)
    levels = 0
    while level := growth.next_level(levels * step):
        levels += 1
        for node in level:
            growth.add(node, [0, 1, 2], LAW, lambda _: False)
    return growth, levels


@pytest.mark.parametrize("nodes", [1, 2, 5, 12, 30])
def test_the_likeliest_nodes_of_all_are_found(nodes: int) -> None:
    growth, _ = grown(nodes, 6)
    every = [path for n in range(1, 7) for path in itertools.product(range(3), repeat=n)]
    stands = sorted((float(np.prod([LAW[t] for t in path])) for path in every), reverse=True)
    chosen = growth.chosen(0.0)
    found = [float(np.prod([LAW[t] for t in growth.path(node)])) for node in chosen]
    assert sorted(found, reverse=True) == pytest.approx(stands[: len(chosen)])
    assert nodes - 1 <= len(chosen) <= nodes  # the last may be as likely as many others
    assert all(growth.parents[node] in (-1, *chosen[:i]) for i, node in enumerate(chosen))


def test_no_path_is_longer_than_asked_and_nothing_follows_an_end() -> None:
    growth, levels = grown(60, 3)
    assert levels == 2
    assert max(len(growth.path(node)) for node in growth.chosen(0.0)) == 3
    growth = Growth(Budget(60, 5, lambda n: 100.0), lambda n: 0.0, 100)
    growth.add(-1, [7, 8], [0.6, 0.3], lambda token: token == 7)
    assert growth.next_level(0.0) == [1]


def test_what_a_pass_costs_decides_how_many_nodes_are_checked() -> None:
    sizes = [len(grown(60, 6, verify=each)[0].chosen(0.0)) for each in (0.0, 1.0, 5.0, 40.0, 200.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 60
    assert sizes[-1] == 0


def test_what_a_step_costs_decides_how_deep_the_draft_looks() -> None:
    levels = [grown(60, 6, step=each)[1] for each in (0.0, 0.5, 3.0, 50.0)]
    assert levels == sorted(levels, reverse=True)
    assert (levels[0], levels[-1]) == (5, 0)


@pytest.mark.parametrize("dear", [1, 2, 3, 5])
def test_one_size_that_seems_dear_does_not_stop_a_tree(dear: int) -> None:
    """Costs are rough: a slow pass, a kernel that changes. What counts is behind it."""
    growth = Growth(Budget(60, 12, lambda n: 130.0 if n == dear else 100.0 + 0.1 * n), lambda n: 1.0, 100)
    growth.add(-1, [0, 1], (0.9, 0.05), lambda _: False)
    levels = 0
    while level := growth.next_level(float(levels)):
        levels += 1
        for node in level:
            growth.add(node, [0, 1], (0.9, 0.05), lambda _: False)
    assert levels == 11


@pytest.mark.parametrize("branches", [1, 2, 4])
def test_no_more_paths_than_the_draft_can_hold(branches: int) -> None:
    growth, _ = grown(60, 6, branches=branches)
    inner = set(growth.parents) - {-1}
    tips = [node for node in inner if node not in {growth.parents[other] for other in inner}]
    assert len(tips) <= branches


def rounds(
    seed: int,
    noise: float,
    sampling: Sampling,
    n: int,
    settings: Speculation,
    branches: int = 63,
    passes: PassCosts | None = None,
) -> Rounds:
    target = TableModel(8, seed=3)
    draft = MixedDraft(target, noise)
    target.branches, draft.branches = branches, min(branches, 7)
    slow = passes or costs(**SLOW)
    return make(target, draft, PROMPT, settings, sampling=sampling, seed=seed, budget=n, target_costs=slow)


@pytest.mark.timeout(600)
def test_every_seed_gives_plain_decodings_text() -> None:
    beside = accepted = 0
    for seed in range(2_000):
        plain, _ = run(rounds(seed, 0.7, SAMPLING, 6, PLAIN), 6)
        drafted, timings = run(rounds(seed, 0.7, SAMPLING, 6, DRAFT), 6)
        assert drafted == plain, f"seed {seed}"
        beside, accepted = beside + timings.beside, accepted + timings.draft_n_accepted
    assert accepted > 2_000
    assert beside > 5 * accepted


@pytest.mark.parametrize("noise", [0.0, 0.7, 50.0], ids=["perfect", "good", "random"])
def test_greedy_equals_always(noise: float) -> None:
    sampling = Sampling(temperature=0, repeat_penalty=1.1)
    for seed in range(20):
        plain, _ = run(rounds(seed, noise, sampling, 24, PLAIN), 24)
        assert run(rounds(seed, noise, sampling, 24, DRAFT), 24)[0] == plain


def test_a_tree_takes_fewer_passes_than_a_chain() -> None:
    passes = []
    for branches in (1, 63):
        total = 0
        for seed in range(60):
            total += run(rounds(seed, 0.7, SAMPLING, 32, DRAFT, branches), 32)[1].passes
        passes.append(total)
    assert passes[1] < 0.8 * passes[0]


@given(st.integers(0, 10_000), st.integers(2, 40), st.sampled_from([0.2, 0.7, 2.0]))
def test_memories_hold_the_text_alone(seed: int, n: int, noise: float) -> None:
    own = rounds(seed, noise, SAMPLING, n, DRAFT)
    draft = own.sources[1]._model  # type: ignore[attr-defined]

    def look(done: Round) -> None:
        assert own.target.tokens == own.history[: own.target.length]
        assert own.target.length == len(own.history) - (1 if done.outcome != "cut" else 0)
        assert draft.tokens == own.history[: draft.length]

    run(own, n, look)


def test_the_draft_reads_nothing_twice() -> None:
    """What it looked behind stays in its memory where the text went on that way."""
    own = rounds(5, 0.0, SAMPLING, 32, DRAFT)
    draft = own.sources[1]._model  # type: ignore[attr-defined]
    read: list[int] = []
    real = draft.read
    draft.read = lambda tokens: (read.append(len(tokens)), real(tokens))[1]
    run(own, 32)
    assert max(read[1:]) <= 2


def test_a_step_of_a_tree_costs_what_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    for module in (draft_model, draft_tree):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now))
    model = TableModel(8, seed=3)
    model.branches, real = 7, (model.decode, model.grow)

    def slow(which: int, *given: object) -> np.ndarray:
        nonlocal now
        now += 0.012
        return real[which](*given)  # type: ignore[arg-type]

    model.decode = lambda tokens: slow(0, tokens)  # type: ignore[method-assign]
    model.grow = lambda tokens, parents: slow(1, tokens, parents)  # type: ignore[method-assign]
    table = PassCosts()
    source = DraftModel(model, Greedy(Chain(Sampling(temperature=0))), 8, (), MarginLogistic(), table)
    source.begin(PROMPT)
    source.read(PROMPT, len(PROMPT) - 1)
    source.branch(list(PROMPT), Budget(7, 3, lambda n: 500.0))
    assert set(table.measured) > {1}
    assert [table.at(n) for n in table.measured] == pytest.approx([12.0] * len(table.measured))


def test_a_draft_that_fails_in_its_trees_sits_out_and_the_reply_goes_on() -> None:
    plain, _ = run(rounds(5, 0.7, SAMPLING, 24, PLAIN), 24)
    own, failures = rounds(5, 0.7, SAMPLING, 24, DRAFT), []

    def fail(tokens: list[int], parents: list[int]) -> np.ndarray:
        failures.append(tokens)
        raise EngineError(ErrorCode.DECODE_FAILED, "the device is gone")

    own.sources[1]._model.grow = fail  # type: ignore[attr-defined]
    text, timings = run(own, 24)
    assert text == plain
    assert own.sources[1].failed == "the device is gone"  # type: ignore[attr-defined]
    assert len(failures) == 2, "tried once more"
    assert timings.verified == timings.beside == 0


def test_an_end_inside_a_tree_ends_the_text() -> None:
    sampling = Sampling(temperature=0)
    plain, _ = run(rounds(1, 0.3, sampling, 24, PLAIN), 24)
    end = plain[5]
    texts = []
    for settings in (PLAIN, DRAFT):
        own = rounds(1, 0.3, sampling, 24, settings)
        own.ends = frozenset({end})
        own.sources[1]._ends = own.ends  # type: ignore[attr-defined]
        texts.append(run(own, 24)[0])
        assert texts[-1][-1] == end
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("slow", "rule", "branches"), [(False, "coupled", 63), (True, "rejection", 63), (True, "coupled", 1)]
)
def test_chains_where_passes_are_short_or_a_model_or_a_rule_knows_none(slow: bool, rule: str, branches: int) -> None:
    passes = costs(**SLOW) if slow else costs()
    own = rounds(4, 0.7, SAMPLING, 24, DRAFT.model_copy(update={"rule": rule}), branches, passes)

    def look(done: Round) -> None:
        assert done.proposal is None or done.proposal.parents is None

    run(own, 24, look)


def test_what_is_told_of_a_round_is_one_chain() -> None:
    """Those that stood, and the likeliest behind them; it is counted as chains are, and what was beside it apart."""
    seen = nodes = 0

    def look(done: Round) -> None:
        nonlocal seen, nodes
        if done.proposal is None or not done.proposal.tokens:
            return
        told = record(done)
        seen, nodes = seen + 1, nodes + len(done.proposal.tokens)
        assert told.proposed[: done.accepted] == tuple(e.token for e in done.emitted[: done.accepted])
        assert done.outcome != "correction" or told.proposed[done.accepted] != done.emitted[-1].token

    _, timings = run(rounds(3, 0.7, SAMPLING, 32, DRAFT), 32, look)
    assert seen
    assert timings.accepted_per_position[0] <= timings.drafted_per_position[0] == seen
    assert sum(timings.accepted_per_position) == timings.draft_n_accepted
    assert sum(timings.drafted_per_position) == timings.verified == nodes - timings.beside


def test_what_trees_gave_lately_is_weighed_against_a_copy() -> None:
    """A chain's rate says too little of a draft that may branch."""
    draft, copy = Branching("draft", [0.6] * 16), Stated("lookup", [0.8] * 4)
    chooser = policy(Speculation(), costs(**SLOW))
    assert chooser.plan([1, 2], [copy, draft], 20, 63).source is copy
    plan = chooser.plan([1, 2], [draft], 20, 63)
    assert plan.tree is not None
    assert (plan.tree.nodes, plan.tree.depth) == (63, 20)
    chooser.spent(520.0, 0.0, 9)
    assert chooser.plan([1, 2], [copy, draft], 20, 63).source is draft


def test_chances_follow_what_was_seen() -> None:
    """The first choice's as for chains; what it leaves is shared by score, and less of it where none of them is met."""
    margins = MarginLogistic()
    first, second, third = margins.chances([3.0, 1.0, 0.0])
    assert first == pytest.approx(margins(2.0))
    assert second / third == pytest.approx(np.e)
    assert first + second + third < 1.0
    for _ in range(200):
        margins.missed(beside=False)
    assert sum(margins.chances([3.0, 1.0, 0.0])[1:]) < 0.2 * (second + third)
    assert len(margins.chances([3.0])) == 1


def test_choices_are_the_rules_own_first() -> None:
    row = TableModel(30, seed=9).row([1])
    rule = Greedy(Chain(Sampling(temperature=0)))
    tokens, scores = rule.choices(row, [1], 1)
    assert tokens == np.argsort(-row)[:8].tolist()
    assert scores == pytest.approx(np.sort(row)[::-1][:8].tolist())
