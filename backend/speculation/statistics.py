"""Counting: a round into a reply's :class:`Timings`, and the identities that must hold at its end."""

from __future__ import annotations

from backend.errors import EngineError, ErrorCode
from backend.protocol import RoundRecord, Timings
from backend.speculation.round import Round

_BINS = 10


def count(timings: Timings, done: Round) -> None:
    """Add one round. ``predicted_n`` counts its emitted tokens (the caller takes discarded ones back)."""
    timings.predicted_n += len(done.emitted)
    timings.passes += done.passes
    timings.draft_ms += done.draft_ms
    timings.verify_ms += done.verify_ms
    timings.host_ms += done.host_ms
    timings.corrections += done.outcome == "correction"
    timings.rounds_mismatch += done.outcome == "correction"
    timings.bonuses += done.outcome == "bonus"
    timings.plain += done.outcome == "plain"
    proposal = done.proposal
    if proposal is None:
        return
    verified = len(proposal.along(done.path))
    timings.beside += len(proposal.tokens) - verified
    timings.proposed += proposal.drafted - (len(proposal.tokens) - verified)
    timings.verified += verified
    timings.draft_n += verified
    timings.draft_n_accepted += done.accepted
    if verified:
        _count_positions(timings, verified, done.accepted)
        source = timings.by_source.setdefault(proposal.source, [0, 0, 0])
        source[0] += 1
        source[1] += verified
        source[2] += done.accepted


def _count_positions(timings: Timings, verified: int, accepted: int) -> None:
    missing = verified - len(timings.drafted_per_position)
    if missing > 0:
        timings.drafted_per_position += [0] * missing
        timings.accepted_per_position += [0] * missing
    for i in range(verified):
        timings.drafted_per_position[i] += 1
        timings.accepted_per_position[i] += i < accepted


class Reliability:
    """Predicted acceptance against what happened, by source and tenths of the prediction.

    Only tokens up to a round's first rejection are judged; what is behind it was never given a chance.
    """

    def __init__(self) -> None:
        self._bins: dict[str, list[list[float]]] = {}

    def observe(self, done: Round) -> None:
        """Count one round's draft tokens."""
        proposal = done.proposal
        if proposal is None or not proposal.tokens:
            return
        bins = self._bins.setdefault(proposal.source, [[0, 0.0, 0] for _ in range(_BINS)])
        stood = set(done.path)
        reached = [-1, *done.path]
        if done.outcome == "cut":
            reached.pop()
        for node in (node for at in reached for node in proposal.behind(at) if node < len(proposal.expected)):
            expected = proposal.expected[node]
            tally = bins[min(int(expected * _BINS), _BINS - 1)]
            tally[0] += 1
            tally[1] += expected
            tally[2] += node in stood

    def to_wire(self) -> dict[str, tuple[tuple[int, float, int], ...]]:
        """As ``Finished.reliability``."""
        return {
            source: tuple((int(n), round(total, 4), int(stood)) for n, total, stood in bins)
            for source, bins in self._bins.items()
        }


def check(timings: Timings) -> None:
    """Assert the identities of design §1.

    Raises:
        EngineError: BUG, naming the counters, when one does not hold.
    """
    made = timings.draft_n_accepted + timings.corrections + timings.bonuses + timings.plain
    if timings.predicted_n + timings.discarded != made or not (
        timings.draft_n_accepted <= timings.verified <= timings.proposed
    ):
        raise EngineError(ErrorCode.BUG, f"The token counters do not add up: {timings}")


def record(done: Round) -> RoundRecord:
    """The round as front ends see it."""
    proposal = done.proposal
    return RoundRecord(
        round=done.index,
        pos=done.start,
        source=proposal.source if proposal and proposal.tokens else None,
        proposed=tuple(proposal.along(done.path)) if proposal else (),
        targets=tuple(e.token for e in done.emitted),
        accepted=done.accepted,
        outcome=done.outcome,
        emitted=len(done.emitted),
        draft_ms=done.draft_ms,
        verify_ms=done.verify_ms,
        host_ms=done.host_ms,
        reason=done.reason,
        p=tuple(round(chance, 4) for chance in done.chances),
    )
