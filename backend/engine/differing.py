"""Why two texts that should be equal differ: what plain decoding's scores say of both tokens at the first difference.

Passes of one token and of several round differently, and so do equal passes over memories that lie otherwise (two
replies made in turn share one). That decides between two tokens where their scores are all but equal (a near-tie), or
where one lies on the edge of what top-k, top-p or min-p lets through: then it may win in one pass and not be there in
the other, however far the winner leads. Anything else would be a fault, and is said to be one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from backend.protocol import Sampling
from backend.sampling.chain import Chain, Row
from backend.sampling.noise import gumbel, noise_key

ROUNDING = 0.5
"""Logits that passes round a score apart at most (0.27 was the most seen on a Q4_K_M model)."""


def explanation(
    row: Row,
    history: Sequence[int],
    sampling: Sampling,
    seed: int,
    plain: int,
    other: int,
    margins: tuple[float, float],
) -> str:
    """One sentence on a difference under the greedy or the coupled rule.

    Args:
        row: plain decoding's scores after ``history``.
        history: all tokens before the difference, the prompt's included.
        sampling: how the token was chosen.
        seed: of the noise.
        plain: the token that plain decoding chose.
        other: the token chosen with speculation.
        margins: how far each led on its own side.
    """
    scores = Chain(sampling).scores(row, history)
    heat = sampling.temperature or 1.0
    if sum(margins) * heat <= 2 * ROUNDING:  # so far the two tokens' scores moved against each other, or farther
        return (
            f"A near-tie: the first choice led by {margins[0]:.3g} in plain decoding's pass and by {margins[1]:.3g} in "
            "the other's, which round differently."
        )
    if sampling.temperature > 0:
        edges = {token: beyond_the_edge(scores, sampling, token) for token in (plain, other)}
        token, distance = min(edges.items(), key=lambda edge: abs(edge[1]))
        if abs(distance) <= ROUNDING:
            side = "inside" if distance <= 0 else "outside"
            which = "plain decoding's token" if token == plain else "speculation's token"
            return (
                f"On the edge of what top-k, top-p or min-p lets through: {which} lay {abs(distance):.2g} {side} it in "
                "plain decoding's pass, and the other's, which rounds differently, has it on the other side."
            )
    lead = _standing(scores, sampling, seed, len(history), plain) - _standing(
        scores, sampling, seed, len(history), other
    )
    return (
        f"Unexplained: plain decoding's token led the other by {lead:.3g}, too much for rounding. Please report this."
    )


def beyond_the_edge(scores: Row, sampling: Sampling, token: int) -> float:
    """How far a token lies outside of what the filters let through, in logits; negative inside, -inf without filters.

    For top-p it is how far the scores ahead of the token would have to move together, to first order.
    """
    order = np.argsort(-scores, kind="stable")
    logits = scores[order].astype(np.float64)
    rank = int(np.flatnonzero(order == token)[0])
    n = len(logits) if sampling.top_k == 0 else min(sampling.top_k, len(logits))
    beyond = [-math.inf]
    if n < len(logits):
        beyond.append(float(logits[n - 1] - logits[rank]) if rank >= n else -float(logits[rank] - logits[n]))
    p = np.exp(logits - logits[0])
    if sampling.top_p < 1.0:
        ahead = float(p[:rank].sum() / p[:n].sum())  # the token is let in while this is below top-p
        beyond.append((ahead - sampling.top_p) / max(sampling.top_p * (1.0 - sampling.top_p), 1e-9))
    if sampling.min_p > 0.0:
        beyond.append(float(logits[0] - logits[rank] + math.log(sampling.min_p)))
    return max(beyond)


def _standing(scores: Row, sampling: Sampling, seed: int, position: int, token: int) -> float:
    if sampling.temperature == 0:
        return float(scores[token])
    noise = gumbel(noise_key(seed, position), np.array([token], dtype=np.uint64))[0]
    return float(scores[token]) / sampling.temperature + float(noise)
