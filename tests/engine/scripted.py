"""A target that says a given script, and a draft that proposes another, through the product's own loop and text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from backend.engine.generation import Generation
from backend.engine.text_stream import TextStream
from backend.engine.vocab import Vocab
from backend.protocol import Finished, Sampling, Speculation, Timings, TokenRecord
from backend.sampling.chain import Chain
from backend.speculation.calibration import BucketCounts, MarginLogistic
from backend.speculation.policy import Policy
from backend.speculation.round import Rounds
from backend.speculation.sources.draft_model import DraftModel
from backend.speculation.sources.lookup import Lookup
from backend.speculation.verify import make_rule
from tests.speculation.loop import Frozen, costs
from tests.speculation.tables import TableModel

PROMPT = [301, 302, 303]


class Script(TableModel):
    """Says ``script`` after the prompt, whatever was said before; then one filler token for ever."""

    def __init__(self, n_vocab: int, script: Sequence[int], filler: int = 300) -> None:
        super().__init__(n_vocab, seed=0)
        self._script = list(script)
        self._filler = filler

    def row(self, tokens: Sequence[int]) -> np.ndarray:
        at = len(tokens) - len(PROMPT)
        row = np.zeros(self.n_vocab, dtype=np.float32)
        row[self._script[at] if 0 <= at < len(self._script) else self._filler] = 10.0
        return row

    def truncate(self, n: int) -> None:
        # as a real sequence does: the token emitted last is not in the cache, so a cut may lie beyond its end
        super().truncate(min(n, self.length))


class Said:
    """A finished scripted reply."""

    def __init__(self, generation: Generation, target: Script, draft: Script, pieces: list[str]) -> None:
        self.end: Finished = generation.finished()
        self.timings: Timings = self.end.timings
        self.history = generation.rounds.history
        self.target = target
        self.draft = draft
        self.pieces = pieces
        self.text = "".join(pieces)
        self.tokens: list[TokenRecord] = []


def run_script(
    vocab: Vocab,
    script: Sequence[int],
    drafted: Sequence[int] | None = None,
    *,
    max_tokens: int = 32,
    stop: Sequence[str] = (),
    length: int = 8,
    enabled: bool = True,
) -> Said:
    """The target says ``script``; the draft proposes ``drafted`` (by default the same), ``length`` at a time."""
    target = Script(vocab.n_vocab, script)
    draft = Script(vocab.n_vocab, script if drafted is None else drafted)
    settings = Speculation(enabled=enabled, source="draft", length=length)
    rule = make_rule(Chain(Sampling(temperature=0)), "coupled", 1)
    table = Frozen(costs())
    policy = Policy(lambda: settings, table, lambda: 100)
    sources = [
        Lookup(BucketCounts(), vocab.eog),
        DraftModel(draft, rule, vocab.n_vocab, vocab.eog, MarginLogistic(), Frozen(costs(n1=1.0))),
    ]
    history = list(PROMPT)
    rounds = Rounds(target, sources, rule, policy, table, history, vocab.eog, max_tokens)
    generation = Generation(
        rounds,
        vocab,
        TextStream(stop),
        Timings(),
        max_tokens=max_tokens,
        seed=1,
        probabilities=False,
        ignore_eos=False,
        plain_ms=lambda: 1.0,
        decode_seconds=lambda: 0.0,
        on_round=lambda why: None,
    )
    pieces, tokens = [], []
    delta = generation.first(target.read(history)[-1])
    while True:
        pieces.append(delta.text)
        tokens += delta.tokens
        if generation.reason is not None:
            break
        delta = generation.step()
    said = Said(generation, target, draft, pieces)
    said.tokens = tokens
    return said
