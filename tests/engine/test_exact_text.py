"""Without llamafile's kernels: with the same seed, speculation on and off give the same text, token for token.

SmolLM2's other kernels give the same bits for every pass size; the starter pair's (Q4_K_M) do so up to three tokens a
pass on any processor, so drafts of two are strict for it by construction.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.engine import native
from backend.engine.cancel import CancelFlag
from backend.engine.exact import exact_rows
from backend.engine.pair import Pair
from backend.engine.sequence import Sequence
from backend.protocol import Message, Sampling, Speculation
from tests import tiny
from tests.engine.rig import COUNT, EDIT, OFF, STORY, continued, loaded, pair, request, say
from tests.tiny_recurrent import SNAPSHOTS

PROMPTS = {"count": COUNT, "story": STORY, "edit": EDIT}
SAMPLINGS = {
    "greedy": Sampling(temperature=0),
    "warm": Sampling(temperature=0.7, seed=1),
    "hot": Sampling(temperature=1.4, top_k=0, top_p=1.0, seed=2),
    "min-p": Sampling(temperature=1.0, top_k=0, top_p=0.9, min_p=0.05, repeat_penalty=1.1, seed=3),
}
SETTINGS = [
    Speculation(source="draft", length=3),
    Speculation(source="draft", length=16),
    Speculation(source="lookup", length=8),
    Speculation(source="lookup+draft", length=5),
    Speculation(),
]

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("no_llamafile")]


@pytest.fixture(scope="module")
def smol(smollm2: Path, no_llamafile: None) -> Iterator[Pair]:
    native.install_log(lambda level, text: None)
    with pair(smollm2, smollm2, flash_attention="off", n_ctx=512) as both:
        yield both


def test_strict_mode_finds_that_here_every_size_is_exact(smol: Pair) -> None:
    assert exact_rows(smol.target, lambda _: None, CancelFlag()) == 16


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_on_and_off_are_identical(smol: Pair, prompt: str, sampling: str) -> None:
    ask = {"sampling": SAMPLINGS[sampling], "max_tokens": 24, "reuse_cache": False}
    plain = say(smol, PROMPTS[prompt], speculation=OFF, **ask)
    for settings in SETTINGS:
        reply = say(smol, PROMPTS[prompt], speculation=settings, **ask)
        assert reply.ids == plain.ids, settings
        assert reply.text == plain.text
        assert reply.margins == pytest.approx(plain.margins, abs=0), "the very numbers agree, not only their order"


def test_lengths_of_many_kinds(smol: Pair) -> None:
    plain = say(smol, COUNT, speculation=OFF, max_tokens=60, reuse_cache=False)
    for n in (1, 2, 17, 59, 60):
        reply = say(smol, COUNT, speculation=Speculation(length=6), max_tokens=n, reuse_cache=False)
        assert reply.ids == plain.ids[:n]


def test_a_second_turn_on_kept_caches_is_the_one_read_from_nothing(smol: Pair) -> None:
    """Read in parts or at once, after drafts were taken back from it: the same bits."""
    wanted = Speculation(source="draft", length=6)
    first = say(smol, COUNT, speculation=wanted, max_tokens=40, reuse_cache=False)
    talk = continued(COUNT, first, "And now backwards.", smol.target.vocab.digest)
    sampling = Sampling(temperature=0.9, seed=5)
    kept = say(smol, talk, sampling=sampling, speculation=wanted, max_tokens=40)
    fresh = say(smol, talk, sampling=sampling, speculation=OFF, max_tokens=40, reuse_cache=False)
    assert kept.end.timings.cache_n > 60
    assert kept.ids == fresh.ids


def test_compare_one_after_the_other_is_identical(smol: Pair) -> None:
    """Interleaved, the second sequence lies elsewhere in the cache and sums in another order; in turn, it does not."""
    ask = request(STORY, sampling=Sampling(temperature=0.8, seed=9), speculation=SETTINGS[0], max_tokens=236)
    result = list(smol.compare(ask, CancelFlag()))[-1]
    assert not result.interleaved
    assert result.identical, result.difference
    assert result.speculation.draft_n_accepted > 50


def test_many_seeds_on_a_tiny_pair(tmp_path: Path) -> None:
    """A draft that is right now and then, 120 seeds, three temperatures."""
    target = tiny.tiny_llama(tmp_path / "t.gguf")
    draft = tiny.tiny_llama(tmp_path / "d.gguf", noise=0.3)
    accepted = 0
    with pair(target, draft, flash_attention="off") as both:
        for seed in range(120):
            sampling = Sampling(temperature=(0.3, 0.8, 1.5)[seed % 3], top_k=(0, 40)[seed % 2], top_p=0.98, seed=seed)
            ask = {"sampling": sampling, "max_tokens": 24, "ignore_eos": True, "reuse_cache": False}
            plain = say(both, [Message(role="user", content=f"Seed {seed}")], speculation=OFF, **ask)
            reply = say(both, [Message(role="user", content=f"Seed {seed}")], speculation=SETTINGS[seed % 5], **ask)
            assert reply.ids == plain.ids, seed
            accepted += reply.end.timings.draft_n_accepted
    assert accepted > 180


@pytest.mark.parametrize("kind", SNAPSHOTS)
def test_hybrids_are_identical_through_snapshots(tmp_path: Path, kind: str) -> None:
    """40 seeds, drafts of one kind that are right now and then, rolled back thousands of times."""
    target = SNAPSHOTS[kind](tmp_path / "t.gguf")
    draft = SNAPSHOTS[kind](tmp_path / "d.gguf", noise=0.3)
    with pair(target, draft, flash_attention="off") as both:
        rejected = 0
        for seed in range(40):
            sampling = Sampling(temperature=(0.0, 0.8, 1.5)[seed % 3], top_k=(0, 40)[seed % 2], top_p=0.98, seed=seed)
            ask = {"sampling": sampling, "max_tokens": 40, "ignore_eos": True, "reuse_cache": False}
            plain = say(both, f"Seed {seed}", speculation=OFF, **ask)
            reply = say(both, f"Seed {seed}", speculation=SETTINGS[seed % 5], **ask)
            assert reply.ids == plain.ids, seed
            assert reply.margins == pytest.approx(plain.margins, abs=0)
            rejected += reply.end.timings.rounds_mismatch
        assert rejected > 300


@pytest.mark.parametrize("kind", SNAPSHOTS)
def test_strict_mode_sees_whether_a_snapshot_is_the_state(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with loaded(SNAPSHOTS[kind](tmp_path / "t.gguf"), flash_attention="off", n_ctx=1024) as model:
        assert exact_rows(model, lambda _: None, CancelFlag()) == 16
        assert model.context.sequence().length == 0
        honest = Sequence.truncate

        def one_off(self: Sequence, n: int) -> None:
            """Goes back one token too far where a snapshot reaches so far, and reads another one instead."""
            if not self._can_undo(n - 1):
                honest(self, n)
            elif n < self.length:
                last = self.tokens[n - 1]
                honest(self, n - 1)
                self.append([(last + 1) % 300], 1)

        monkeypatch.setattr(Sequence, "truncate", one_off)
        assert exact_rows(model, lambda _: None, CancelFlag()) == 2


@pytest.mark.starter
def test_the_starter_pair_is_strict_with_drafts_of_two(starter_target: Path, starter_draft: Path) -> None:
    with pair(starter_target, starter_draft, flash_attention="off") as both:
        for sampling in (Sampling(temperature=0), Sampling(temperature=0.8, seed=6)):
            ask = {"sampling": sampling, "max_tokens": 20, "reuse_cache": False}
            plain = say(both, EDIT, speculation=OFF, **ask)
            reply = say(both, EDIT, speculation=Speculation(source="draft", length=2), **ask)
            assert reply.ids == plain.ids
            assert reply.end.timings.draft_n_accepted > 5
