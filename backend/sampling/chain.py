"""The sampler chain on one row of logits: penalties, top-k, top-p, min-p, temperature, in that order.

The chain turns a row into a *law*: the few tokens that survive, with their log-probabilities. Sampling from the law is
somebody else's business (speculation/verify.py), because target and draft must share it. All work over the whole
vocabulary is a handful of vectorised passes; nothing here loops over it in Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from backend.errors import EngineError, ErrorCode
from backend.protocol import Sampling

Row = NDArray[np.float32]
_BLOCK = 64


class Law(NamedTuple):
    """A distribution over surviving tokens: most likely first, or all ids in order where nothing was filtered out.

    Attributes:
        ids: token ids, shape (n,), uint64 (the noise's type), ties in ascending id order.
        logp: log-probabilities, shape (n,), float64, normalised.
    """

    ids: NDArray[np.uint64]
    logp: NDArray[np.float64]

    def p(self, token: int) -> float:
        """Probability of ``token`` (0 when it did not survive)."""
        at = np.flatnonzero(self.ids == np.uint64(token))
        return float(np.exp(self.logp[at[0]])) if at.size else 0.0


class Chain:
    """One request's chain.

    Args:
        sampling: the request's settings; temperature 0 means greedy.
    """

    def __init__(self, sampling: Sampling) -> None:
        self.sampling = sampling
        self.greedy = sampling.temperature == 0.0
        self._penalised = sampling.repeat_penalty != 1.0 and sampling.repeat_last_n > 0
        self._unfiltered = sampling.top_k == 0 and sampling.top_p >= 1.0 and sampling.min_p <= 0.0

    def scores(self, row: Row, history: Sequence[int]) -> Row:
        """The row after penalties (the row itself when there are none; what it holds is never changed).

        ``history`` is prompt + reply + accepted prefix; its last ``repeat_last_n`` tokens are penalised by llama.cpp's
        rule (positive logits divided, negative multiplied).
        """
        if not self._penalised:
            return row
        seen = np.unique(np.asarray(history[-self.sampling.repeat_last_n :], dtype=np.int64))
        seen = seen[seen < row.shape[0]]
        out = row.copy()
        values = out[seen]
        penalty = np.float32(self.sampling.repeat_penalty)
        out[seen] = np.where(values > 0, values / penalty, values * penalty)
        return out

    def probability(self, row: Row, history: Sequence[int], token: int) -> float:
        """The chance of ``token`` under the whole chain; for a greedy chain under temperature 1, as a description."""
        if not self.greedy:
            return self.law(row, history).p(token)
        scores = self.scores(row, history)
        peak = float(scores.max())
        return float(np.exp(float(scores[token]) - peak)) / _total(scores, peak)

    def top_two(self, row: Row, history: Sequence[int]) -> tuple[int, float]:
        """The greedy choice (lowest id at a tie) and its lead over the second best, in logits."""
        return _two_best(self.scores(row, history) if self._penalised else row)

    def first(self, row: Row, history: Sequence[int], n: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """The ``n`` greedy choices (lowest id at a tie) and their scores, best first."""
        scores = self.scores(row, history)
        _check_finite(scores.max())
        return _top(scores, min(n, scores.shape[0]))

    def law(self, row: Row, history: Sequence[int]) -> Law:
        """The surviving tokens and their log-probabilities. Not for greedy chains."""
        scores = self.scores(row, history)
        s = self.sampling
        if self._unfiltered:
            return _normalise(np.arange(scores.shape[0], dtype=np.uint64), scores.astype(np.float64) / s.temperature)
        _check_finite(scores.max())  # sorting hides a NaN behind the finite scores
        ids, logits = _candidates(scores, s.top_k, s.top_p)
        if s.top_p < 1.0 or s.min_p > 0.0:
            p = np.exp(logits - logits[0])
            # with top-k off, top-p's total is the whole vocabulary's, not the candidates'
            total = p.sum() if 0 < s.top_k < scores.shape[0] else _total(scores, float(logits[0]))
            keep = len(ids)
            if s.top_p < 1.0:
                keep = int(np.searchsorted(np.cumsum(p), s.top_p * total, side="left")) + 1
            if s.min_p > 0.0:
                keep = min(keep, int(np.count_nonzero(p >= s.min_p)))
            ids, logits = ids[: max(keep, 1)], logits[: max(keep, 1)]
        return _normalise(ids, logits / s.temperature)


def _check_finite(value: float | np.floating) -> None:
    # argmax and max give a NaN if there is one and +inf otherwise, so the winner tells for the whole row
    if not math.isfinite(value):  # numpy's takes ten times as long on a scalar
        raise EngineError(
            ErrorCode.BAD_LOGITS,
            f"The model produced a score of {value}: its file is damaged or its numbers overflow on this device. "
            "Try another file, or another KV type.",
        )


def _two_best(scores: Row) -> tuple[int, float]:
    """The largest score's id (the lowest at a tie) and its lead over the next.

    A pass leaves the caches full of weights: numpy's code comes from memory like the row, and the same function twice
    costs less than two different ones (0.07 ms, not 0.11).
    """
    best = int(scores.argmax())
    top = scores.item(best)
    if not math.isfinite(top):
        _check_finite(top)
    scores[best] = -math.inf  # put back at once
    second = scores.item(scores.argmax())
    scores[best] = top
    return best, top - second


def _normalise(ids: NDArray[np.uint64], logits: NDArray[np.float64]) -> Law:
    peak = logits.max()
    _check_finite(peak)
    logits = logits - peak
    return Law(ids, logits - np.log(np.exp(logits).sum()))


def _total(scores: Row, peak: float) -> float:
    return float(np.exp(scores - np.float32(peak)).sum())  # numpy adds pairwise: float32 is exact enough


def _candidates(scores: Row, top_k: int, top_p: float) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Ids and float64 logits of the top-k, sorted (descending logit, ascending id); top_k 0: enough for top_p."""
    n = scores.shape[0]
    if 0 < top_k < n:
        return _top(scores, top_k)
    if top_p >= 1.0:
        return _top(scores, n)
    # top-p without top-k: widen until the mass is reached (a few hundred tokens do for almost every row)
    peak = float(scores.max())
    needed, k = top_p * _total(scores, peak), 256
    while k < n:
        ids, logits = _top(scores, k)
        if np.exp(logits - peak).sum() >= needed:
            return ids, logits
        k *= 8
    return _top(scores, n)


def _top(scores: Row, k: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """The k largest scores exactly. A k-th largest block maximum bounds the k-th largest score from below."""
    n = scores.shape[0]
    whole = n - n % _BLOCK
    if k * _BLOCK < whole:
        maxima = scores[:whole].reshape(_BLOCK, -1).max(axis=0)  # interleaved blocks: one vectorised pass
        bound = np.partition(maxima, maxima.shape[0] - k)[maxima.shape[0] - k]
        at = np.flatnonzero(scores >= bound)
    else:
        at = np.arange(n)
    values = scores[at].astype(np.float64)
    order = np.lexsort((at, -values))[:k]
    return at[order].astype(np.uint64), values[order]
