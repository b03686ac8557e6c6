"""Trees in a real memory: every path sees itself alone, and what is kept is what a fresh reading would hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.load import LoadedModel
from backend.errors import EngineError, ErrorCode
from backend.protocol import Sampling, Speculation
from backend.speculation.cost import PassCosts
from tests import tiny
from tests.engine.rig import OFF, fresh_row, kv_end, loaded, pair, same_up_to_near_ties, say

TEXT = [5 + i * 7 % 300 for i in range(40)]
NODES = [11, 12, 13, 21, 22, 31, 41]
PARENTS = [-1, 0, 1, 0, 3, 1, -1]
"""Two roots; the first one branches, and its first child again."""
ROUNDING = 2e-2
STORY = "Tell me a story about a fox and a lighthouse."


def path_to(node: int) -> list[int]:
    out = []
    while node >= 0:
        out.append(node)
        node = PARENTS[node]
    return out[::-1]


def ids_in_use(model: LoadedModel) -> list[int]:
    return [i for i in range(model.context.n_seq) if kv_end(model.context.sequence(i)) > 0]


@pytest.fixture(scope="module")
def model(tiny_dir: Path) -> Iterator[LoadedModel]:
    with loaded(tiny.tiny_llama(tiny_dir / "branches-llama.gguf"), n_ctx=256, batch=64) as model:
        yield model


@pytest.fixture(params=[1, 2, len(NODES)], ids=["node by node", "in pairs", "in one pass"])
def open_tree(model: LoadedModel, request: pytest.FixtureRequest) -> np.ndarray:
    """Rows of all nodes of a tree that is open behind TEXT."""
    sequence, rows = model.context.sequence(), []
    sequence.clear()
    sequence.read(TEXT)
    for i in range(0, len(NODES), request.param):
        part = slice(i, i + request.param)
        rows += [row.copy() for row in sequence.grow(NODES[part], PARENTS[part])]
    return np.stack(rows)


def test_a_node_sees_its_own_path_alone(model: LoadedModel, open_tree: np.ndarray) -> None:
    model.context.sequence().settle(())
    for node, row in enumerate(open_tree):
        alone = fresh_row(model, [*TEXT, *(NODES[i] for i in path_to(node))])
        assert np.allclose(row, alone, atol=ROUNDING), node


@pytest.mark.parametrize("node", range(-1, len(NODES)))
def test_any_path_can_be_kept(model: LoadedModel, open_tree: np.ndarray, node: int) -> None:
    sequence = model.context.sequence()
    sequence.settle(path_to(node))
    text = [*TEXT, *(NODES[i] for i in path_to(node))]
    assert sequence.tokens == text
    assert kv_end(sequence) == len(text)
    assert ids_in_use(model) == [0]
    again = sequence.decode([50])[-1].copy()
    assert np.allclose(again, fresh_row(model, [*text, 50]), atol=ROUNDING)


def test_whatever_else_is_asked_forgets_the_tree(model: LoadedModel, open_tree: np.ndarray) -> None:
    sequence = model.context.sequence()
    row = sequence.decode([50])[-1].copy()
    assert sequence.tokens == [*TEXT, 50]
    assert ids_in_use(model) == [0]
    assert np.allclose(row, fresh_row(model, [*TEXT, 50]), atol=ROUNDING)


def test_a_sequence_beside_keeps_its_own(model: LoadedModel) -> None:
    sequence = model.context.sequence()
    sequence.clear()
    sequence.read(TEXT)
    other = sequence.fork(1)
    other.decode([60])
    sequence.grow(NODES, PARENTS)
    sequence.settle(path_to(4))
    row = other.decode([61])[-1].copy()
    assert np.allclose(row, fresh_row(model, [*TEXT, 60, 61]), atol=ROUNDING)
    other.clear()
    assert ids_in_use(model) == [0]


def test_a_stop_in_the_middle_leaves_the_text(model: LoadedModel) -> None:
    sequence = model.context.sequence()
    sequence.clear()
    sequence.read(TEXT)
    sequence.grow(NODES[:2], PARENTS[:2])
    flag = CancelFlag()
    model.context.abort_on(flag)
    flag.set()
    try:
        with pytest.raises(EngineError) as caught:
            sequence.grow(NODES[2:], PARENTS[2:])
    finally:
        model.context.abort_on(CancelFlag())
    assert caught.value.code is ErrorCode.CANCELLED
    row = sequence.decode([50])[-1].copy()
    assert ids_in_use(model) == [0]
    assert np.allclose(row, fresh_row(model, [*TEXT, 50]), atol=ROUNDING)


def test_what_rolls_back_so_far_only_and_what_must_be_exact_cannot_branch(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = model.context
    assert context.sequence().branches == context.n_seq - 1
    for limit in ("max_rollback", "exact_rows"):
        with monkeypatch.context() as limited:
            limited.setattr(context, limit, 3)
            assert context.sequence().branches == 1


@pytest.mark.model
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_replies_by_trees_are_plain_decodings(smollm2: Path, temperature: float) -> None:
    sampling = Sampling(temperature=temperature, seed=3)
    with pair(smollm2, smollm2) as both:
        plain = say(both, STORY, max_tokens=48, speculation=OFF, sampling=sampling, reuse_cache=False)
        both.costs = slow = PassCosts()
        slow.observe(1, 2000.0)
        slow.observe(64, 2000.0)
        slow.observe = lambda n, ms: None  # type: ignore[method-assign]
        drafted = say(both, STORY, max_tokens=48, speculation=Speculation(source="draft"), sampling=sampling)
        same_up_to_near_ties(plain, drafted, temperature or 1.0)
        timings = drafted.end.timings
        assert timings.beside > timings.draft_n_accepted, "trees"
        assert timings.passes <= 8, "the draft is the target itself"
        for loaded_model in (both.target, both.draft):
            assert loaded_model is not None
            assert ids_in_use(loaded_model) == [0]
