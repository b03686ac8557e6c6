"""What a pass costs, measured: T_v(n) of the target, and the same table for the draft.

Nothing is assumed about the shape. On a CPU an n-token pass has stairs (4 tokens may cost what 2 do), on a GPU cliffs;
so each size keeps the median of its own recent passes, and sizes never seen are interpolated between their neighbours.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from backend.equations import between

_RECENT = 9
"""Passes per size that the median looks at: few enough to follow drifting memory bandwidth."""
_FIRST_BUCKET = 512
"""Context lengths up to here share a table; each further bucket is twice as long as the one before it."""
_STAY = 0.75
"""Of a bucket's length, below which the one above it is left."""
_SURE = 3
_SAME = 0.01
"""A median that moved by less than this share has not moved."""
_BUCKETS = {str(bucket): bucket for bucket in range(32)}


class PassCosts:
    """Milliseconds of one pass over n tokens, from observations, at the context length entered last.

    Attention reads the whole KV cache, so a pass costs more in a long context, and not all sizes grow alike: each
    bucket of lengths has a table of its own. A bucket entered for the first time borrows its neighbour's figures until
    it has measured.
    """

    def __init__(self) -> None:
        self._tables: dict[int, _Table] = {0: _Table()}
        self._bucket = 0
        self._now = self._tables[0]

    def enter(self, length: int) -> bool:
        """The context holds ``length`` tokens now. True where what a pass costs there has yet to be measured."""
        bucket = max(0, (max(length, 1) - 1).bit_length() - (_FIRST_BUCKET - 1).bit_length())
        if bucket == self._bucket or (bucket == self._bucket - 1 and length > _STAY * (_FIRST_BUCKET << bucket)):
            return False  # two replies that take turns at a border (compare) stay on one side of it
        left, self._bucket = self._now, bucket
        if bucket not in self._tables:
            self._tables[bucket] = left.borrowed()
        self._now = self._tables[bucket]
        self._now.settle()
        return True

    def observe(self, n: int, ms: float) -> None:
        """Record that a pass over ``n`` tokens took ``ms``."""
        self._now.observe(n, ms)
        if n == 1 and (drift := self._now.drift) is not None:
            for table in self._tables.values():
                table.follow(drift)

    @property
    def known(self) -> bool:
        """Whether anything was measured."""
        return self._now.any

    @property
    def measured(self) -> list[int]:
        """Sizes with observations of their own in this bucket, ascending."""
        return self._now.measured

    @property
    def untouched(self) -> bool:
        """Whether no one-token pass was measured in this run, in any bucket."""
        return not any(1 in table.measured for table in self._tables.values())

    def presume_flat(self, n: int, ratio: float) -> None:
        """A pass over ``n`` tokens takes ``ratio`` of one, where nothing is known of any larger than one token."""
        if self._now.sizes == [1]:
            self._now.presume(n, ratio)

    def settle(self) -> None:
        """Time has passed: two new one-token passes outweigh all older ones."""
        self._now.settle()

    def at(self, n: int) -> float:
        """Cost of a pass over ``n`` tokens: measured, else interpolated, else extrapolated along the last slope.

        Raises:
            LookupError: nothing was measured yet.
        """
        return self._now.at(n)

    def table(self) -> dict[int, float]:
        """The sizes that the costs are interpolated between, and their costs."""
        now = self._now
        return {n: now.at(n) for n in now.sizes}

    def to_json(self) -> dict[str, Any]:
        """What :meth:`restore` takes."""
        return {str(bucket): table.to_json() for bucket, table in self._tables.items() if table.sizes}

    def restore(self, stored: object) -> None:
        """Figures of an earlier run, borrowed until this one has measured; what is not a table of costs is left out."""
        if isinstance(stored, dict):
            for name, value in stored.items():
                table = _Table.restored(value)
                if table is not None and name in _BUCKETS:
                    self._tables[_BUCKETS[name]] = table
            self._now = self._tables[self._bucket]


class _Bounded(NamedTuple):
    """Ratios as they can be (see :meth:`_Table._bound`), and what they were made from."""

    of: dict[int, float]
    ratio: dict[int, float]
    sizes: list[int]


class _Table:
    """One bucket's costs.

    Larger sizes are kept as multiples of a one-token pass: memory bandwidth drifts by a third within minutes and takes
    all sizes with it, so a size not seen for a while follows the one-token passes that are.

    One thread observes; another may ask meanwhile. So what is asked for is never changed, only replaced.
    """

    def __init__(self) -> None:
        self._single: deque[float] = deque(maxlen=_RECENT)
        self._seen: dict[int, deque[float]] = {}
        self._ratio: dict[int, float] = {}
        self._bounded = _Bounded(self._ratio, {}, [])
        self.unit = 1.0
        """Milliseconds of a one-token pass."""
        self._earlier: float | None = None
        """The unit of an earlier run."""
        self._stale = False
        """Whether the unit is of other circumstances: sizes are not measured against it."""

    @property
    def any(self) -> bool:
        return bool(self._ratio)

    @property
    def sizes(self) -> list[int]:
        return sorted(self._ratio)

    @property
    def measured(self) -> list[int]:
        return [n for n in self.sizes if (self._seen.get(n) if n > 1 else self._single)]

    def borrowed(self) -> _Table:
        """The same figures, none of them measured here."""
        other = _Table()
        other.unit, other._ratio, other._stale = self.unit, self._ratio, True
        return other

    @property
    def drift(self) -> float | None:
        """How much slower than in an earlier run the machine turns out to be; None where that is not known, or old."""
        if self._earlier is None or not 0 < len(self._single) <= _SURE:
            return None
        return self.unit / self._earlier

    def follow(self, drift: float) -> None:
        """What is of the same earlier run, and was not measured since, drifted alike."""
        if self._earlier is not None and not self._single:
            self.unit = drift * self._earlier

    def observe(self, n: int, ms: float) -> None:
        if n == 1:
            self._single.append(ms)
            unit = _median(self._single)
            if 1 not in self._ratio:  # what was seen before was in plain milliseconds
                self._seen = {size: deque((r / unit for r in seen), _RECENT) for size, seen in self._seen.items()}
                self._ratio = {1: 1.0} | {size: ratio / unit for size, ratio in self._ratio.items()}
            self.unit, self._stale = unit, False
        elif not self._stale or n not in self._ratio:
            seen = self._seen.get(n)
            if seen is None:
                seen = self._seen[n] = deque(maxlen=_RECENT)
            seen.append(ms / self.unit)
            ratio, known = _median(seen), self._ratio.get(n)
            if known is None or len(seen) <= _SURE or abs(ratio - known) >= _SAME * known:
                self._ratio = self._ratio | {n: ratio}

    def presume(self, n: int, ratio: float) -> None:
        self._ratio = self._ratio | {n: ratio}

    def settle(self) -> None:
        self._stale = True
        if self._single:
            self._single = deque([self.unit], _RECENT)

    def at(self, n: int) -> float:
        bounded, ratio = self._bounded, self._ratio
        if n == 1 and 1 in ratio:
            return self.unit
        if bounded.of is not ratio:
            bounded = self._bounded = self._bound(ratio)
        known = bounded.ratio.get(n)
        return self.unit * (between(bounded.ratio, bounded.sizes, n) if known is None else known)

    def _bound(self, ratio: dict[int, float]) -> _Bounded:
        """One slow pass must not mark a size as dear for good: a size that is never chosen is never measured again.

        So until it was seen a few times, a size costs no more than a larger one, nor than its tokens in smaller passes.
        After that it may: kernels change with the size, and some cliffs go down.
        """
        sizes, at = sorted(ratio), dict(ratio)
        unsure = [n for n in sizes if n > 1 and len(self._seen.get(n, ())) < _SURE]
        for n in reversed(unsure):
            at[n] = min(at[n], *(at[m] for m in sizes if m > n), math.inf)
        for n in unsure:
            split = (at[m] * math.ceil(n / m) for m in sizes if m < n)
            at[n] = min(at[n], *split, math.inf)
        return _Bounded(ratio, at, sizes)

    def to_json(self) -> dict[str, Any]:
        return {"unit": self.unit, "ratio": {str(n): self.at(n) / self.unit for n in self.sizes}}

    @classmethod
    def restored(cls, stored: object) -> _Table | None:
        """From :meth:`to_json`; None where it is not that, or holds what no pass can cost."""
        try:
            unit = float(stored["unit"])  # type: ignore[index]
            ratio = {int(n): float(r) for n, r in stored["ratio"].items()}  # type: ignore[index]
        except (TypeError, KeyError, ValueError, AttributeError, ArithmeticError):
            return None
        values = (unit, *ratio.values())
        if ratio.get(1) != 1.0 or min(ratio) < 1 or not all(math.isfinite(v) and v > 0 for v in values):
            return None
        table = cls()
        table.unit, table._ratio, table._stale, table._earlier = unit, ratio, True, unit
        return table


def _median(values: Iterable[float]) -> float:
    """The middle value, the lower one of two: a slow pass is more often an accident than a fast one."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2]
