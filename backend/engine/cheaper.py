"""A cheaper copy of the draft: made by the quantizer, and used only where it was measured to pay.

A step of the copy must be clearly quicker, measured in turn with the draft's own. A copy may also guess worse, so both
are judged on the same short texts by what the target itself would say there, and Eq. (2) weighs one against the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backend.engine.cancel import CancelFlag
from backend.engine.judge import first_choices
from backend.engine.learnt import Learnt, copy_key
from backend.engine.load import LoadedModel
from backend.engine.measure import cost_table, measure_passes, measure_reading
from backend.engine.quantize import quantize
from backend.equations import LONGEST
from backend.forecast import forecast
from backend.library import copies
from backend.library.copies import COPY_TYPE
from backend.protocol import CostTable, LoadOptions
from backend.speculation.cost import PassCosts

if TYPE_CHECKING:
    from backend.engine.pair import Pair

CLEARLY_FASTER = 0.95
_TURNS = 4
_PROMPT, _JUDGED = 4, 92
"""Tokens of each sample: given, and judged at most."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was measured of a draft and its copy, and which of them is used. Milliseconds, and shares of tokens."""

    use: bool
    step: float
    draft_step: float
    accepted: float
    draft_accepted: float

    @property
    def sentence(self) -> str:
        """One line for the person."""
        if self.use:
            return f"using a {COPY_TYPE} copy of the draft: a step takes {self.step:.3g} ms, not {self.draft_step:.3g}"
        kept = f"the draft is used as it is: its {COPY_TYPE} copy"
        if self.step > CLEARLY_FASTER * self.draft_step:
            slower = self.step > self.draft_step and f"{self.step:.3g}" != f"{self.draft_step:.3g}"
            than = "slower" if slower else "hardly quicker"
            return f"{kept} is {than} ({self.step:.3g} ms a step, not {self.draft_step:.3g})"
        quicker = f"{kept} is quicker ({self.step:.3g} ms a step, not {self.draft_step:.3g})"
        if round(self.accepted, 2) < round(self.draft_accepted, 2):
            return f"{quicker} but guesses worse ({self.accepted:.0%} of a sample, not {self.draft_accepted:.0%})"
        return f"{quicker} but guesses fewer tokens in a row"


def make_copy(source: Path, progress: Callable[[float], None], flag: CancelFlag) -> Path:
    """A copy of a draft, in the background process of the quantizer.

    Raises:
        EngineError: what ``copies.make`` and ``quantize`` raise; CANCELLED leaves nothing behind.
    """
    return copies.make(source, lambda file: quantize(source, file, COPY_TYPE, progress, flag))


def recall(learnt: Learnt, target: LoadedModel, copy: Path, options: LoadOptions) -> Choice | None:
    """The choice made earlier for this pair here; None where there is none."""
    try:
        stored = learnt.recall(copy_key(target, copy, options))["choice"]
        use = stored["use"]
        figures = [float(stored[name]) for name in ("step", "draft_step", "accepted", "draft_accepted")]
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return None
    sound = isinstance(use, bool) and all(0 <= figure < math.inf for figure in figures)
    return Choice(use, *figures) if sound else None


def try_copy(
    pair: Pair, copy: LoadedModel, file: Path, options: LoadOptions, learnt: Learnt, flag: CancelFlag
) -> Choice:
    """Measure and judge ``copy`` against the pair's draft, keep the choice, and put the better one to work.

    On the engine thread, between replies. Where the copy is chosen it belongs to the pair; else it stays the caller's.

    Raises:
        EngineError: CANCELLED (nothing has changed then but what the drafts hold), CONTEXT_FULL.
    """
    draft = pair.draft
    assert draft is not None
    draft_costs, costs = steps(draft, copy, flag)
    draft_hits, hits = agreement(pair, draft, copy, flag)
    measure_reading(copy, costs)
    longest = min(LONGEST, pair.target.context.sequence().max_rows - 1)
    choice = choose(cost_table(pair.costs, draft_costs), cost_table(pair.costs, costs), draft_hits, hits, longest)
    learnt.keep({copy_key(pair.target, file, options): {"choice": asdict(choice)}})
    if choice.use:
        pair.offer_draft(copy)
        pair.take_offers()
        pair.draft_costs = costs
    return choice


def steps(draft: LoadedModel, copy: LoadedModel, flag: CancelFlag) -> tuple[PassCosts, PassCosts]:
    """Passes of both, in turn: a machine whose speed drifts slows both alike. Both forget what they hold."""
    draft_costs, costs = PassCosts(), PassCosts()
    order = [(draft, draft_costs), (copy, costs)]
    for turn in range(_TURNS):
        for model, found in order if turn % 2 == 0 else order[::-1]:
            measure_passes(model, found, (1, 2), 1, lambda _phase, _fraction: None, flag)
    return draft_costs, costs


def agreement(pair: Pair, draft: LoadedModel, copy: LoadedModel, flag: CancelFlag) -> tuple[list[str], list[str]]:
    """Where the drafts say what the target says, a text of "1" and "0" a sample."""
    context = pair.target.context
    # a sequence beside the conversation's; a recurrent target has none, and reads its conversation once more
    spare = context.sequence(context.n_seq - 1)
    for model in (pair.target, draft, copy):
        model.context.abort_on(flag)
    draft_hits: list[str] = []
    hits: list[str] = []
    try:
        for text in SAMPLES:
            tokens = pair.target.vocab.tokenize(text, parse_special=False, add_special=True)
            prompt, rest = tokens[:_PROMPT], tokens[_PROMPT : _PROMPT + _JUDGED]
            meant = first_choices(spare, prompt, rest, context.n_vocab)
            for model, found in ((draft, draft_hits), (copy, hits)):
                found.append(_hits(meant, first_choices(model.context.sequence(), prompt, rest, context.n_vocab)))
    finally:
        spare.clear()  # its cells are the conversation's to use
    return draft_hits, hits


def _hits(meant: Sequence[int], said: Sequence[int]) -> str:
    equal = [a == b for a, b in zip(meant, said, strict=False)]
    return "".join("1" if hit else "0" for hit in equal).ljust(len(meant), "0")


def choose(
    draft_costs: CostTable, costs: CostTable, draft_hits: Sequence[str], hits: Sequence[str], longest: int
) -> Choice:
    """By a clearly quicker step, and by the speed-up that Eq. (2) promises with each draft's own acceptance.

    Args:
        draft_costs: of the target with the draft.
        costs: of the target with the copy.
        draft_hits: see :func:`agreement`.
        hits: of the copy.
        longest: most draft tokens of a pass, at least one.
    """
    promised = forecast("draft", draft_hits, draft_costs, longest)
    found = forecast("copy", hits, costs, longest)
    step, draft_step = costs.draft_step, draft_costs.draft_step
    assert step is not None
    assert draft_step is not None
    quicker = step <= CLEARLY_FASTER * draft_step
    pays = max(found.speedups.values()) > max(promised.speedups.values())
    return Choice(quicker and pays, step, draft_step, found.acceptance, promised.acceptance)


SAMPLES = (
    """def count_words(path):
    \"\"\"Count how often each word occurs in a text file.\"\"\"
    counts = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            for word in line.lower().split():
                counts[word] = counts.get(word, 0) + 1
    return counts


def most_common(counts, n=10):
    \"\"\"The n most common words, the most common first.\"\"\"
    return sorted(counts.items(), key=lambda item: item[1], reverse=True)[:n]
""",
    """The query joins the orders with the customers who placed them and keeps only the orders of the last thirty days.
The results are then grouped by region, so each row of the output stands for one region. For each of these groups, the
query computes the number of orders and the average amount. Finally, the rows are sorted by the average amount in
descending order, which means that the region whose customers spend the most comes first.""",
    """Once upon a time, in a small village by the sea, there lived an old lighthouse keeper named Thomas. Every
evening he climbed the narrow stairs to light the lamp, and every morning he climbed them again to put it out. One
night, when the storm was louder than he had ever heard it, he saw a small boat far out on the waves. He knew that he
had to do something, and so he took his coat and went down to the shore.""",
)
"""Code, an explanation and a story, each more than the tokens judged on most vocabularies."""
