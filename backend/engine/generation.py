"""One reply in progress: from the row of the prompt's last token to its end, round by round.

Tokens are handled one by one whatever block they came in: end of generation, stop strings and the token limit end the
reply inside an accepted block, and then text, token ids, KV cache and counters are all cut at the same place.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields
from typing import NamedTuple

from backend.engine.text_stream import Released, TextStream
from backend.engine.vocab import Vocab
from backend.errors import EngineError, ErrorCode
from backend.protocol import Delta, Finished, FinishReason, Timings, TokenRecord
from backend.sampling.chain import Row
from backend.speculation import statistics
from backend.speculation.contracts import Rows
from backend.speculation.round import Passenger, Round, Rounds
from backend.speculation.walk import Emitted

_COUNTERS = tuple(field.name for field in fields(Timings))
_SOURCES = {"draft": "the draft model", "lookup": "prompt lookup", "lookahead": "lookahead"}


class Shown(NamedTuple):
    """A token on its way through the text; how many bytes of the text are its own is not known yet."""

    emitted: Emitted
    source: str | None
    round: int
    position: int
    p: float | None


class Generation:
    """Drives a :class:`Rounds` and turns its tokens into text.

    Args:
        rounds: ready to start; its target holds the prompt.
        vocab: of the target.
        text: the reply's text stream, with its stop strings.
        timings: holds the prompt's figures; filled in further.
        max_tokens: tokens to emit at most.
        probabilities: compute each token's probability.
        plain_ms: the measured cost of a plain pass, asked at every round.
        decode_seconds: time spent inside llama_decode so far, all contexts together.
        on_round: told in one line what speculation is doing and why.
    """

    def __init__(
        self,
        rounds: Rounds,
        vocab: Vocab,
        text: TextStream[Shown],
        timings: Timings,
        *,
        max_tokens: int,
        seed: int,
        probabilities: bool,
        ignore_eos: bool,
        plain_ms: Callable[[], float | None],
        decode_seconds: Callable[[], float],
        on_round: Callable[[str], None],
    ) -> None:
        self.rounds = rounds
        self.timings = timings
        self.start = len(rounds.history)
        self.seed = seed
        self.reason: FinishReason | None = None
        self._vocab = vocab
        self._text = text
        self._max_tokens = max_tokens
        self._probabilities = probabilities
        self._ends = frozenset() if ignore_eos else vocab.eog
        self._plain_ms = plain_ms
        self._decode_seconds = decode_seconds
        self.on_round = on_round
        self._ended_by_token = False
        self._reliability = statistics.Reliability()
        self._before = self._read_before = 0.0
        """Milliseconds of the request before its prompt's logits were ready; of them the draft's reading."""
        self._ran = 0.0
        self._since: float | None = None
        self._fed = 0
        """Tokens fed to the text and not dropped by a stop string."""

    def first(self, row: Row) -> Delta:
        """The prompt's own token."""
        self._before = self.timings.request_ms
        return self._timed(lambda: self.rounds.first(row))

    def arrive(self, rows: Rows, passenger: Passenger) -> Delta:
        """The prompt's own token, and what rode in the prompt's last pass and stood."""
        self._before, self._read_before = self.timings.request_ms, passenger.ms
        return self._timed(lambda: self.rounds.arrive(rows, passenger))

    def step(self) -> Delta:
        """One round. Not to be called once :attr:`reason` is set."""
        return self._timed(self.rounds.round)

    def stop(self) -> Delta:
        """End the reply here (cancelled); what was held back is released."""
        return Delta(*self._finish("cancelled", [], []), copy_timings(self.timings))

    def finished(self, note: str = "") -> Finished:
        """The reply's record, once it has ended."""
        statistics.check(self.timings)
        kept = self._text.kept
        return Finished(
            reason=self.reason or "cancelled",
            timings=self.timings,
            seed=self.seed,
            start=self.start,
            ids=tuple(self.rounds.history[self.start : self.start + kept - self._ended_by_token]),
            tokenizer=self._vocab.digest,
            note=note,
            reliability=self._reliability.to_wire(),
        )

    def pause(self) -> None:
        """Stop the clock: another reply has its turn (compare)."""
        if self._since is not None:
            self._ran += time.perf_counter() - self._since
            self._since = None

    def _clock(self) -> float:
        """Milliseconds since the prompt's logits were ready, turns of others left out."""
        now = time.perf_counter()
        if self._since is None:
            self._since = now
        return 1e3 * (self._ran + now - self._since)

    def _timed(self, run: Callable[[], Round]) -> Delta:
        t = self.timings
        self._clock()
        decoded = self._decode_seconds()
        done = run()
        text, tokens = self._emit(done)
        plain_ms = self._plain_ms()
        if done.passes:
            t.decode_ms += 1e3 * (self._decode_seconds() - decoded)
        t.draft_prompt_ms += done.read_ms
        t.draft_prompt_n += done.read_n
        ran, before = self._clock(), t.predicted_ms
        t.request_ms = self._before + ran
        t.predicted_ms = ran - (t.draft_prompt_ms - self._read_before)
        speculated = done.proposal is not None or done.draft_ms > 0  # also a draft that came to nothing
        saved = len(done.emitted) - (done.passes == 0)  # the prompt's own token takes no pass
        t.baseline_ms += saved * (plain_ms or 0.0) if speculated else t.predicted_ms - before
        t.plain_ms = plain_ms
        self.on_round(self._why(done))
        return Delta(text, tokens, copy_timings(t), (statistics.record(done),))

    def _why(self, done: Round) -> str:
        if done.proposal is None or not done.proposal.tokens:
            return done.reason
        return f"drafting with {_SOURCES[done.proposal.source]}"  # how much is accepted stands in the counters

    def _emit(self, done: Round) -> tuple[str, tuple[TokenRecord, ...]]:
        statistics.count(self.timings, done)
        self._reliability.observe(done)
        pieces: list[str] = []
        tokens: list[TokenRecord] = []
        for i, emitted in enumerate(done.emitted):
            end = emitted.token in self._ends
            payload = self._show(done, emitted, done.start + i)
            released = self._text.feed(b"" if end else self._vocab.piece(emitted.token), payload)
            self._fed += 1 - released.dropped
            pieces.append(released.text)
            tokens += _records(released)
            if released.stopped or end:
                self._ended_by_token = end
                return self._finish("stop", pieces, tokens)
            if done.start + i + 1 - self.start >= self._max_tokens:
                return self._finish("length", pieces, tokens)
        return "".join(pieces), tuple(tokens)

    def _finish(
        self, reason: FinishReason, pieces: list[str], tokens: list[TokenRecord]
    ) -> tuple[str, tuple[TokenRecord, ...]]:
        self.reason = reason
        released = self._text.finish()
        pieces.append(released.text)
        tokens += _records(released)
        self._fed -= released.dropped
        history = self.rounds.history
        dropped = len(history) - self.start - self._fed
        self.timings.predicted_n -= dropped
        self.timings.discarded += dropped
        # a token that straddles a stop string is cut from memory too: its bytes are not the reply's
        read = len(history) - 1  # plain decoding leaves the last token unread: a next turn begins alike with drafts
        del history[self.start + self._text.kept :]
        read = min(read, len(history))
        self._cut_memory(read)
        for source in self.rounds.sources:
            source.truncate(read)
        return "".join(pieces), tuple(tokens)

    def _cut_memory(self, n: int) -> None:
        try:
            self.rounds.target.keep(n)  # less, where a memory rolls back only so far: the next turn reads the rest anew
        except EngineError as error:
            if error.code is not ErrorCode.TRUNCATE_FAILED:
                raise
            self.rounds.target.clear()  # the reply stands

    def _show(self, done: Round, emitted: Emitted, position: int) -> Shown:
        p = None
        if self._probabilities:
            p = self.rounds.probability(done.rows[emitted.row], emitted.token, position)
            done.chances.append(p)
        source = done.proposal.source if done.proposal and emitted.origin != "plain" else None
        return Shown(emitted, source, done.index, position, p)


def _records(released: Released[Shown]) -> list[TokenRecord]:
    return [
        TokenRecord(e.token, n_bytes, e.origin, source, index, position, p, e.margin)
        for (e, source, index, position, p), n_bytes in released.tokens
    ]


def copy_timings(timings: Timings) -> Timings:
    """A snapshot that later rounds do not change."""
    copy = Timings(*[getattr(timings, name) for name in _COUNTERS])
    copy.accepted_per_position = timings.accepted_per_position.copy()
    copy.drafted_per_position = timings.drafted_per_position.copy()
    copy.by_source = {source: counts.copy() for source, counts in timings.by_source.items()}
    return copy
