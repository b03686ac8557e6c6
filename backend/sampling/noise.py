"""Position-keyed Gumbel noise: the shared randomness of the coupled rule.

The noise for (seed, position, token) is a pure function, so target and draft see the same noise, plain decoding and
speculation see the same noise, and nothing depends on how often or in which order positions are evaluated.
Construction: seed and position are mixed to a 64-bit key before the token enters (adding them instead gave suspicious
chi-square values); the token then indexes a SplitMix64 stream started at that key (Steele, Lea & Flood, 2014).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_M1, _M2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_GOLDEN_U, _M1_U, _M2_U = np.uint64(_GOLDEN), np.uint64(_M1), np.uint64(_M2)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


def _mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * _M1) & _MASK
    x = ((x ^ (x >> 27)) * _M2) & _MASK
    return x ^ (x >> 31)


def noise_key(seed: int, position: int) -> int:
    """The 64-bit key of one position under one seed."""
    return _mix((_mix((seed + _GOLDEN) & _MASK) ^ ((position * _GOLDEN + 1) & _MASK)) & _MASK)


def gumbel(key: int, tokens: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Standard Gumbel noise for ``tokens`` (any shape) under ``key``; same shape, float64."""
    h = tokens * _GOLDEN_U
    h += np.uint64((key + _GOLDEN) & _MASK)
    h ^= h >> _S30
    h *= _M1_U
    h ^= h >> _S27
    h *= _M2_U
    h ^= h >> _S31
    u = (h >> _S11).astype(np.float64)
    u += 0.5
    u *= 2.0**-53
    np.log(u, out=u)
    np.negative(u, out=u)
    np.log(u, out=u)
    np.negative(u, out=u)
    return u
