"""What passes took on this machine: the engine notes it down after replies, and plans start from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.library.jsonfile import read_json

KEY = "passes"
"""Its entry in ``learnt.json``; by type of quantization in that."""
TELLING = 500_000_000
"""Bytes that a pass reads, from which on it is mainly reading that it waits for."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Passes of one type of weights in main memory.

    Attributes:
        rate: bytes of weights that a one-token pass reads in a millisecond.
        passes: what passes of other sizes take, as multiples of a one-token pass.
    """

    rate: float
    passes: Mapping[int, float]


def noted(quant: str, read: int, costs: Mapping[str, Any]) -> dict[str, Any]:
    """What to keep under :data:`KEY`: of weights that a pass reads ``read`` bytes of, its costs as they are kept."""
    return {quant: {"read": read} | dict(costs)}


def measured(path: Path, quant: str) -> Measured | None:
    """What ``path`` tells of this type; None where it tells nothing that can be."""
    entries = read_json(path).get("entries")
    kept = entries.get(KEY) if isinstance(entries, dict) else None
    try:
        figures = kept[quant]  # type: ignore[index]
        rate = figures["read"] / figures["unit"]
        passes = {int(n): float(ratio) for n, ratio in figures["ratio"].items()}
    except (TypeError, KeyError, ValueError, AttributeError, ArithmeticError):
        return None
    values = (rate, *passes.values())
    if passes.get(1) != 1.0 or min(passes) < 1 or not all(math.isfinite(v) and v > 0 for v in values):
        return None
    return Measured(rate, passes)
