"""How likely a draft token is to be accepted, learnt from what happened.

* :class:`BucketCounts` for lookups: counts per (match-length bucket, position), decaying, and how far this text leans
  from them.
* :class:`MarginLogistic` for a draft model: a = sigmoid(w * margin + b) of the top-2 margin, refit online by Newton
  steps with a ridge (the estimator of vLLM's online acceptance, prior w = 0, b = 1.5).
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np

_DECAY = 0.99
_PRIOR_MEAN = 0.8
_NEVER = 1e-3
"""Hits and misses that are always assumed, so that neither is impossible."""
_LEAN_VARIANCE = 0.5
_LEAN_DRIFT = 0.02
"""Of a text's lean, in squared log-odds: what texts differ by, and what one token adds. From replaying 48 replies of
seven kinds: a wider prior learns from accidents, a narrower one too late."""


class BucketCounts:
    """Acceptance by match length and position, with a prior from published chat and edit transcripts.

    An edit copies what a chat only resembles, and the counts of one say little about the other. So each text has a
    lean, added to the log-odds of all its predictions: it starts at 0 and follows the text's own hits (one-step Newton
    on the posterior of a random effect, i.e. an extended Kalman filter of one state).
    """

    edges = (3, 4, 8, 16)
    """Match lengths: 2, 3, 4-7, 8-15, 16 and up; each in three kinds, see :meth:`bucket`."""
    first = (0.30, 0.55, 0.65, 0.38, 0.65, 0.78, 0.58, 0.75, 0.88, 0.75, 0.86, 0.95, 0.92, 0.95, 0.98)
    later = (0.70, 0.75, 0.80, 0.92, 0.96)
    weight = 4.0

    def __init__(self, positions: int = 16) -> None:
        self._positions = positions
        priors = [[first] + [self.later[i // 3]] * (positions - 1) for i, first in enumerate(self.first)]
        self._hits = [[self.weight * a for a in row] for row in priors]
        self._tries = [[self.weight] * positions for _ in priors]
        self._lean, self._variance = 0.0, _LEAN_VARIANCE

    def new_text(self) -> None:
        """A new reply: it may copy more or less than the others did."""
        self._lean, self._variance = 0.0, _LEAN_VARIANCE

    def bucket(self, match: int, places: int, agreeing: int) -> int:
        """Bucket of a match of ``match`` tokens.

        What followed the last two tokens before says more than the match's length: where it was twice another token,
        half of the copies fail. Of ``places`` places ``agreeing`` went on as the copy would: not all, one, all of many.
        """
        kind = 0 if agreeing < places else 1 if places == 1 else 2
        return 3 * sum(match >= edge for edge in self.edges) + kind

    def expect(self, bucket: int, k: int) -> list[float]:
        """Acceptance of the first ``k`` positions, each given the ones before it."""
        return [self._predict(bucket, min(i, self._positions - 1)) for i in range(k)]

    def observe(self, bucket: int, position: int, hit: bool) -> None:
        """A token at ``position`` (0 = first) of a lookup was, or would have been, accepted."""
        i = min(position, self._positions - 1)
        p = self._predict(bucket, i)
        prior = self._variance + _LEAN_DRIFT
        self._variance = prior / (1.0 + prior * p * (1.0 - p))
        self._lean += self._variance * (hit - p)
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
        except (TypeError, KeyError, ValueError):
            return
        pairs = [list(zip(h, t, strict=False)) for h, t in zip(hits, tries, strict=False)]
        fits = [len(row) for row in pairs] == [len(row) for row in self._hits]
        if fits and all(0 <= h <= t and 0 < t < math.inf for row in pairs for h, t in row):
            self._hits, self._tries = hits, tries

    def _predict(self, bucket: int, i: int) -> float:
        hits, tries = self._hits[bucket][i], self._tries[bucket][i]
        odds = (hits + _NEVER) / (tries - hits + _NEVER) * math.exp(self._lean)
        return odds / (1.0 + odds)


class MarginLogistic:
    """a = sigmoid(w * m + b), m the draft's top-2 margin; the prior until 32 outcomes are in."""

    def __init__(self) -> None:
        self.w, self.b = 0.15, 0.3
        self._data: deque[tuple[float, bool]] = deque(maxlen=500)
        self._fresh = 0
        self.mean = _PRIOR_MEAN
        """Average acceptance lately, for planning before margins are known."""

    def __call__(self, margin: float) -> float:
        """Acceptance predicted for a token with this margin."""
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, self.w * margin + self.b))))

    def observe(self, margin: float, hit: bool, fair: bool = True) -> None:
        """A token with this margin was judged (only tokens up to the first rejection are).

        One that was drafted but not put to the target is judged by the text that came instead: without that, a text
        that the draft is unsure of would cost a step each round for ever, and nothing would be learnt from it. A token
        that was dropped for being doubtful does not stand for others (not ``fair``): it weighs less in the mean.
        """
        self._data.append((margin, hit))
        self.mean += (0.03 if fair else 0.01) * (hit - self.mean)
        self._fresh += 1
        enough = max(32, len(self._data) // 4)  # with nothing in the caches a fit takes 1 to 3 ms
        if self._fresh >= enough:
            self._fresh = 0
            self._refit()

    def decline(self, expected: float) -> None:
        """A step was paid for a token that was not even drawn (rejection rule): its prediction stands for a verdict."""
        self.mean += 0.01 * (expected - self.mean)

    def new_text(self) -> None:
        """A new reply: go half way back to the prior, so that one hard text does not silence the draft for good."""
        self.mean = max(self.mean, 0.5 * (self.mean + _PRIOR_MEAN))

    def to_json(self) -> dict[str, Any]:
        """What :meth:`restore` takes."""
        return {"w": self.w, "b": self.b, "mean": self.mean, "data": [[m, int(hit)] for m, hit in self._data]}

    def restore(self, stored: object) -> None:
        """What an earlier run learnt; what is not that is left out."""
        try:
            w, b, mean = (float(stored[name]) for name in ("w", "b", "mean"))  # type: ignore[index]
            data = [(float(m), bool(hit)) for m, hit in stored["data"]]  # type: ignore[index]
        except (TypeError, KeyError, ValueError):
            return
        if all(math.isfinite(v) for v in (w, b, *(m for m, _ in data))) and w >= 0 and 0 <= mean <= 1:
            self.w, self.b, self.mean = w, b, mean
            self._data.extend(data)

    def _refit(self, ridge: float = 1.0, steps: int = 4) -> None:
        data = np.asarray(self._data, dtype=np.float64)
        x = np.column_stack([data[:, 0], np.ones(len(data))])
        y = data[:, 1]
        prior = np.array([0.15, 0.3])
        theta = np.array([self.w, self.b])
        for _ in range(steps):
            p = 1.0 / (1.0 + np.exp(-np.clip(x @ theta, -30, 30)))
            gradient = x.T @ (y - p) - ridge * (theta - prior)
            hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge * np.eye(2)
            theta = theta + np.linalg.solve(hessian, gradient)
        if np.isfinite(theta).all() and theta[0] >= 0:
            self.w, self.b = float(theta[0]), float(theta[1])
