"""Whether a target's texts are plain decoding's to the bit: asked for, or by itself where that costs little.

Decided once for a file, build and setting, and kept: first whether passes of a few tokens cost more without llamafile's
kernels, then (``engine.exact``) whether all of them are exact so.
"""

from __future__ import annotations

from typing import Any

from backend.engine import kernels
from backend.engine.cancel import CancelFlag
from backend.engine.exact import exact_rows, exact_to, most_tried
from backend.engine.learnt import Learnt, model_key
from backend.engine.load import LoadedModel, Progress
from backend.engine.measure import SIZES, measure_passes
from backend.equations import LONGEST
from backend.protocol import ONLY_SINGLE
from backend.speculation.cost import PassCosts

_LITTLE = 1.05
"""What passes that check drafts may cost more, where nobody has asked for exact texts."""
_PATIENCE_MS = 20_000.0
"""How long finding exact passes may take, where nobody has asked for it."""


class Strictness:
    """What is known of one target's exactness.

    Args:
        target: as loaded; what an earlier run decided is put in place at once.
        learnt: what earlier runs found.
    """

    def __init__(self, target: LoadedModel, learnt: Learnt | None) -> None:
        self._target = target
        self._learnt = learnt
        self._usual = model_key(target, "target")
        self._little: bool | None = None
        self._found: tuple[int, int] | None = None
        """The largest exact pass, and the largest that was tried."""
        if target.strict is None and self._recall(self._usual).get("exact_costs_little") is True:
            self._use_exact(True)
            if (known := self._known()) is None or known[0] < most_tried(target):
                self._use_exact(False)
            else:
                self._take(known)

    def settle(self, costs: PassCosts, progress: Progress, flag: CancelFlag) -> PassCosts:
        """Decide what is not decided; the pass costs to go on with. Clears the memory where it has to look.

        Raises:
            EngineError: CANCELLED; nothing is decided then.
        """
        target = self._target
        if target.context.exact_rows is not None or target.strict is False:
            return costs
        if target.strict:
            self._take(self._known() or self._find(progress, flag))
            return costs
        if self._little is None and self._recall(self._usual).get("exact_costs_little") is None and self._may(costs):
            return self._try(costs, progress, flag)
        return costs

    def to_json(self) -> dict[str, dict[str, Any]]:
        """What to keep, by key; the target's own key is among them only where exact passes were found."""
        out: dict[str, dict[str, Any]] = {}
        if self._found is not None:
            rows, tried = self._found
            key = model_key(self._target, "target")
            out[key] = {"exact_rows": rows, "exact_tried": tried, "exact_to": exact_to(self._target)}
        if self._little is not None:
            out[self._usual] = {"exact_costs_little": self._little}
        return out

    def _may(self, costs: PassCosts) -> bool:
        """Whether it is worth looking: on a processor, with nothing in the way, and within seconds."""
        target = self._target
        plain = target.info.gpu_layers == 0 and not target.streamed and target.context.max_rollback is None
        if not (plain and kernels.can_choose() and "attention off" in target.context.kind and costs.known):
            return False
        passes = sum(costs.at(n) + costs.at(1) for n in range(1, LONGEST + 1))
        return 2 * passes + exact_to(target) / LONGEST * costs.at(LONGEST) < _PATIENCE_MS

    def _try(self, usual: PassCosts, progress: Progress, flag: CancelFlag) -> PassCosts:
        target, exact = self._target, PassCosts()
        self._use_exact(True)
        try:
            measure_passes(target, exact, SIZES, 0, progress, flag)
            little = sum(exact.at(n) for n in SIZES) <= _LITTLE * sum(usual.at(n) for n in SIZES)
            found = self._find(progress, flag) if little else (1, most_tried(target))
            self._little = found[0] == found[1]
        finally:
            target.context.sequence().clear()  # also where it was stopped: what is left would be taken for a chat
            if not self._little:
                self._use_exact(False)
        if not self._little:
            return usual
        self._take(found)
        return exact

    def _find(self, progress: Progress, flag: CancelFlag) -> tuple[int, int]:
        return exact_rows(self._target, lambda f: progress("exact", f), flag), most_tried(self._target)

    def _known(self) -> tuple[int, int] | None:
        """What an earlier run found, where it tried all that can be tried now."""
        kept, most = self._recall(model_key(self._target, "target")), most_tried(self._target)
        rows, tried = kept.get("exact_rows", 0), kept.get("exact_tried", 0)
        whole = isinstance(rows, int) and isinstance(tried, int) and 1 <= rows <= tried
        if not whole or rows == tried < most or kept.get("exact_to") != exact_to(self._target):
            return None
        return rows, tried

    def _take(self, found: tuple[int, int]) -> None:
        most = most_tried(self._target)
        self._found = found
        self._target.context.exact_rows = min(found[0], most)
        if found[0] == 1 < most:
            self._target.info = self._target.info.model_copy(update={"truncate_note": ONLY_SINGLE})

    def _use_exact(self, exact: bool) -> None:
        self._target.exact_kernels = exact
        self._target.context.exact_rows = None
        kernels.serve(exact)

    def _recall(self, key: str) -> dict[str, Any]:
        return self._learnt.recall(key) if self._learnt is not None else {}
