"""Which layers are read from disk in every pass, where the weights are larger than the memory."""

from __future__ import annotations

from collections.abc import Mapping

from backend.plan.needs import Needs

TURNS = 3
"""Layers from disk that are in memory at once."""


def layers_from_disk(sizes: Mapping[int, int], missing: int) -> list[int]:
    """Evenly spread so that the disk is never far behind, and enough for what is missing; else all but the first.

    The first layer stays: nothing tells when a pass begins. Of those chosen a few are in memory at any time.

    Args:
        sizes: of the layers, in bytes.
        missing: bytes of weights that do not fit.
    """
    layers = sorted(layer for layer in sizes if layer > 0)
    if not layers or missing <= 0:
        return []
    for n in range(1, len(layers) + 1):
        chosen = [layers[(2 * i + 1) * len(layers) // (2 * n)] for i in range(n)]
        if spared(sizes, chosen) >= missing:
            return chosen
    return layers


def spared(sizes: Mapping[int, int], chosen: list[int]) -> int:
    """Bytes of memory that the chosen layers do not take: all of them, but for room in which they take turns."""
    return sum(sizes[layer] for layer in chosen) - min(len(chosen), TURNS) * max(sizes.values(), default=0)


def read_and_left_out(target: Needs, n_layers: int, missing: int, weights: int) -> tuple[int, int]:
    """What every pass reads from disk, and how much less than all weights is in memory: by whole layers.

    A mixture's stay in the page cache as far as it goes (``engine.stream``): there just what is missing is left out.

    Args:
        target: whose weights they are.
        n_layers: of it, those not on cards.
        missing: bytes that do not fit.
        weights: bytes in main memory, if they fitted.
    """
    sizes = dict(enumerate(target.layers[:n_layers]))
    chosen = [] if target.experts else layers_from_disk(sizes, missing)
    if (left_out := spared(sizes, chosen)) >= missing:
        return sum(sizes[layer] for layer in chosen), left_out
    return min(weights, missing + TURNS * max(target.layers, default=0)), missing
