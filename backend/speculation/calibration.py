"""How likely a draft token is to be accepted, learnt from what happened.

* :class:`BucketCounts` for lookups: counts per (match-length bucket, position), decaying.
* :class:`MarginLogistic` for a draft model: a = sigmoid(w * margin + b) of the top-2 margin, refit online by Newton
  steps with a ridge (the estimator of vLLM's online acceptance).

Both share what they learn between texts, and add how far the present text leans from it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Line = tuple[float, float]
"""Slope and offset of log-odds over margins."""

_DECAY = 0.99
_PRIOR_MEAN = 0.8
_MEAN_RATE = 0.03
_STILL = 1e-3
"""Gain of log likelihood below which a fit is good enough."""
_RIDGE = 1.0
_WINDOW = 500
"""Tokens that a fit looks at."""
_NEVER = 1e-3
"""Hits and misses that are always assumed, so that neither is impossible."""
_BESIDE = (20.0, 17.0)
"""First choices that fell, and of them those where another of the first eight was the text's, to begin with."""
_LEAN_VARIANCE = 0.5
_COPY_DRIFT = 0.02
_DRAFT_DRIFT = 0.05
"""Of a text's lean, in squared log-odds: what texts differ by, and what one token adds. From replaying 48 replies of
seven kinds: a wider prior learns from accidents, a narrower one too late."""


class _Lean:
    """How far a text leans from what texts have in common, in log-odds; added to all its predictions.

    An edit copies what a chat only resembles, and a draft that guesses English well may not guess French: what one
    text showed says little about the next. The lean starts at 0 and follows the text's own hits (one-step Newton on
    the posterior of a random effect, i.e. an extended Kalman filter of one state).
    """

    def __init__(self, drift: float) -> None:
        self._drift = drift
        self.reset()

    def reset(self) -> None:
        """A new text."""
        self.odds, self._variance = 0.0, _LEAN_VARIANCE

    def follow(self, predicted: float, hit: bool) -> None:
        """One outcome, and what was predicted of it."""
        # a sure prediction tells nothing when it holds: without the cap the drift adds up, and one miss overturns all
        prior = min(self._variance + self._drift, _LEAN_VARIANCE)
        self._variance = prior / (1.0 + prior * predicted * (1.0 - predicted))
        self.odds += self._variance * (hit - predicted)


class BucketCounts:
    """Acceptance by match length and position, with a prior from published chat and edit transcripts."""

    edges: tuple[int, ...] = (3, 4, 8, 16)
    """Match lengths: 2, 3, 4-7, 8-15, 16 and up."""
    first: tuple[float, ...] = (0.55, 0.65, 0.75, 0.86, 0.95)
    later: tuple[float, ...] = (0.70, 0.75, 0.80, 0.92, 0.96)
    weight = 4.0

    def __init__(self, positions: int = 16) -> None:
        self._positions = positions
        priors = [[a] + [b] * (positions - 1) for a, b in zip(self.first, self.later, strict=True)]
        self._hits = [[self.weight * a for a in row] for row in priors]
        self._tries = [[self.weight] * positions for _ in priors]
        self._lean = _Lean(_COPY_DRIFT)

    def new_text(self) -> None:
        """A new reply: it may copy more or less than the others did."""
        self._lean.reset()

    def bucket(self, match: int) -> int:
        """Bucket of a match of ``match`` tokens."""
        return sum(match >= edge for edge in self.edges)

    def expect(self, bucket: int, k: int) -> list[float]:
        """Acceptance of the first ``k`` positions, each given the ones before it."""
        return [self._predict(bucket, min(i, self._positions - 1)) for i in range(k)]

    def observe(self, bucket: int, position: int, hit: bool) -> None:
        """A token at ``position`` (0 = first) of a lookup was, or would have been, accepted."""
        i = min(position, self._positions - 1)
        self._lean.follow(self._predict(bucket, i), hit)
        self._hits[bucket][i] = self._hits[bucket][i] * _DECAY + hit
        self._tries[bucket][i] = self._tries[bucket][i] * _DECAY + 1.0

    def to_json(self) -> dict[str, Any]:
        """What :meth:`restore` takes; the lean is this text's alone."""
        return {"hits": self._hits, "tries": self._tries}

    def restore(self, stored: object) -> None:
        """Counts of an earlier run; what is not such counts is left out."""
        try:
            hits = [[float(v) for v in row] for row in stored["hits"]]  # type: ignore[index]
            tries = [[float(v) for v in row] for row in stored["tries"]]  # type: ignore[index]
        except (TypeError, KeyError, ValueError, ArithmeticError):
            return
        pairs = [list(zip(h, t, strict=False)) for h, t in zip(hits, tries, strict=False)]
        fits = [len(row) for row in pairs] == [len(row) for row in self._hits]
        if fits and all(0 <= h <= t and 0 < t < math.inf for row in pairs for h, t in row):
            self._hits, self._tries = hits, tries

    def _predict(self, bucket: int, i: int) -> float:
        hits, tries = self._hits[bucket][i], self._tries[bucket][i]
        odds = (hits + _NEVER) / (tries - hits + _NEVER) * math.exp(self._lean.odds)
        return odds / (1.0 + odds)


class MarginLogistic:
    """a = sigmoid(w * m + b), m the draft's top-2 margin (leads beyond :attr:`surest` say no more)."""

    surest = 12.0
    prior = (0.15, 0.3)

    def __init__(self) -> None:
        self.w, self.b = self.prior
        self._lean = _Lean(_DRAFT_DRIFT)
        self._data: deque[tuple[float, bool]] = deque(maxlen=_WINDOW)
        self._fresh = 0
        self.mean = _PRIOR_MEAN
        """Average acceptance lately, for planning before margins are known."""
        self._misses, self._beside = _BESIDE

    def __call__(self, margin: float) -> float:
        """Acceptance predicted for a token with this margin."""
        odds = self.w * (margin if margin < self.surest else self.surest) + self.b + self._lean.odds
        return 1.0 / (1.0 + math.exp(min(30.0, -odds)))

    def chances(self, scores: Sequence[float]) -> list[float]:
        """Of a tree's choices at one place, by their scores, best first: that the text goes on with each.

        What the first leaves is shared as the draft itself would share it, but for the texts that none of them meets.
        """
        if len(scores) < 2:
            return [self(self.surest)]
        first = self(scores[0] - scores[1])
        weights = [math.exp(score - scores[1]) for score in scores[1:]]
        share = (1.0 - first) * self._beside / self._misses / sum(weights)
        return [first, *(share * weight for weight in weights)]

    def missed(self, beside: bool) -> None:
        """The first choice at one place fell; ``beside``: another of them was the text's."""
        self._misses = _DECAY * self._misses + 1.0
        self._beside = _DECAY * self._beside + beside

    def observe(self, margin: float, hit: bool) -> None:
        """A token with this margin was judged by what the text went on with, the text before it being the same.

        Tokens that were drafted but not put to the target count alike: without them a text that the draft is unsure of
        would cost a step each round for ever, and nothing would be learnt from it.
        """
        self._lean.follow(self(margin), hit)
        self._data.append((min(margin, self.surest), hit))
        self.mean += _MEAN_RATE * (hit - self.mean)
        self._fresh += 1
        enough = max(32, len(self._data) // 4)  # with nothing in the caches a fit takes 1 to 3 ms
        if self._fresh >= enough:
            self._fresh = 0
            self._refit()

    def decline(self, expected: float) -> None:
        """A step was paid for a token that was not even drawn (rejection rule): its prediction stands for a verdict."""
        self.mean += _MEAN_RATE * (expected - self.mean)

    def new_text(self) -> None:
        """A new reply: go half way back to the prior, so that one hard text does not silence the draft for good."""
        self._lean.reset()
        self.mean = max(self.mean, 0.5 * (self.mean + _PRIOR_MEAN))

    def to_json(self) -> dict[str, Any]:
        """What :meth:`restore` takes."""
        return {"mean": self.mean, "data": [[m, int(hit)] for m, hit in self._data]}

    def restore(self, stored: object) -> None:
        """What an earlier run learnt; what is not that is left out."""
        try:
            mean = float(stored["mean"])  # type: ignore[index]
            data = [(float(m), bool(hit)) for m, hit in stored["data"]]  # type: ignore[index]
        except (TypeError, KeyError, ValueError, ArithmeticError):
            return
        if 0 <= mean <= 1 and all(0 <= m <= self.surest for m, _ in data):
            self.mean = mean
            self._data.extend(data)
            self._refit()

    def _refit(self, steps: int = 8) -> None:
        """Newton from the prior, each step halved until the penalised likelihood rises.

        Outcomes that one line separates have hardly a best fit, and a full step from there leads anywhere.
        """
        if not self._data:
            return
        data = np.array(self._data)
        x, y, line = data[:, 0], data[:, 1], self.prior
        value, p = _fit(x, y, line, self.prior)
        for _ in range(steps):
            by_w, by_b = _newton(x, y, p, line, self.prior)
            gain = -1.0
            while gain < 0.0 and max(abs(by_w), abs(by_b)) > _STILL:
                there = line[0] + by_w, line[1] + by_b
                better, p = _fit(x, y, there, self.prior)
                gain, by_w, by_b = better - value, 0.5 * by_w, 0.5 * by_b
            if gain < 0.0:
                break
            line, value = there, better
            if gain < _STILL:
                break
        self.w, self.b = max(0.0, line[0]), line[1]


def _fit(x: Vector, y: Vector, line: Line, prior: Line) -> tuple[float, Vector]:
    """Log likelihood of the outcomes less the ridge, and what is predicted of each."""
    odds = line[0] * x + line[1]
    ridge = 0.5 * _RIDGE * ((line[0] - prior[0]) ** 2 + (line[1] - prior[1]) ** 2)
    return float(y @ odds - np.logaddexp(0.0, odds).sum()) - ridge, 1.0 / (1.0 + np.exp(-odds))


def _newton(x: Vector, y: Vector, p: Vector, line: Line, prior: Line) -> Line:
    """The step; solved by hand, since LAPACK's code would come from memory for two unknowns."""
    miss, curve = y - p, p * (1.0 - p)
    bent = x * curve
    slope_w = float(x @ miss) - _RIDGE * (line[0] - prior[0])
    slope_b = float(miss.sum()) - _RIDGE * (line[1] - prior[1])
    ww, wb, bb = float(bent @ x) + _RIDGE, float(bent.sum()), float(curve.sum()) + _RIDGE
    det = ww * bb - wb * wb
    return (bb * slope_w - wb * slope_b) / det, (ww * slope_b - wb * slope_w) / det
