"""What the policy makes of costs and acceptances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.equations import LONGEST, expected_tokens
from backend.protocol import Speculation
from backend.speculation.contracts import LAG, GoOn, Proposal
from backend.speculation.cost import PassCosts
from backend.speculation.policy import Policy
from tests.speculation.loop import SETTINGS, costs


class Stated:
    """A source that states its acceptance and its cost, and proposes what it is asked for."""

    def __init__(self, name: str, expected: Sequence[float], step: float = 1.0, unseen: int = 1) -> None:
        self.name = name
        self._expected = list(expected)
        self._step = step
        self._unseen = unseen
        self.asked: list[int] = []

    def begin(self, history: Sequence[int]) -> None: ...

    def expect(self, history: Sequence[int], k: int) -> list[float]:
        return self._expected[:k]

    def cost(self, k: int, unseen: int) -> float:
        return self._step * (k + unseen - 1)

    def unseen(self, history: Sequence[int]) -> int:
        return self._unseen

    def read(self, history: Sequence[int], end: int) -> int:
        return 0

    may_follow = True

    def follow(self, history: Sequence[int]) -> None: ...

    def propose(self, history: list[int], k: int, go_on: GoOn | None) -> Proposal:
        self.asked.append(k)
        return Proposal([1] * k, self.name, None, self._expected[:k], k)

    def observe(self, history: Sequence[int], start: int, proposal: Proposal | None, accepted: int) -> None: ...

    def truncate(self, n: int) -> None: ...


def policy(settings: Speculation, table: PassCosts, rest: int = 200, start: int = 0) -> Policy:
    return Policy(lambda: settings, table, lambda: rest, start)


def paid(chooser: Policy) -> Policy:
    """Speculation has gained a few passes in this reply."""
    assert chooser.plan([1], [Stated("lookup", [0.99] * 16, step=0.0)], 16).source
    chooser.spent(1.0, 0.0, 9)
    return chooser


FLAT = {"n1": 100.0, "n2": 100.5, "n16": 110.0}


STEEP = {"n1": 10.0, "n2": 20.0, "n16": 160.0}


def test_zero_when_nothing_pays() -> None:
    """A pass over two tokens costs two passes: no acceptance can pay for that."""
    plan = policy(Speculation(), costs(**STEEP)).plan([1], [Stated("draft", [0.99] * 16)], 16)
    assert (plan.source, plan.k) == (None, 0)
    assert "paused" in plan.reason


def test_long_when_checking_is_free() -> None:
    lookup = Stated("lookup", [0.95] * 16, step=0.0)
    plan = policy(Speculation(), costs(**FLAT)).plan([1], [lookup], 16)
    assert plan.source is lookup
    assert plan.k >= 12


def test_length_grows_with_acceptance_and_is_the_best_one() -> None:
    table = costs(n1=50, n2=70, n4=90, n8=118, n16=167)
    chosen = []
    for a in (0.3, 0.5, 0.7, 0.9, 0.98):
        plan = paid(policy(Speculation(), table)).plan([1], [Stated("lookup", [a] * 16, step=0.0)], 16)
        rates = [expected_tokens(a, k) / (table.at(k + 1) + (0.3 if k else 0)) for k in range(17)]
        best = int(np.argmax(rates))
        assert plan.k == (best if rates[best] > 1.03 * rates[0] else 0)
        chosen.append(plan.k)
    assert chosen == sorted(chosen)
    assert chosen[0] == 0
    assert chosen[-1] > 4


def test_a_tie_is_not_worth_the_trouble() -> None:
    table = costs(n1=10.0, n2=14.8)
    plan = policy(Speculation(), table).plan([1], [Stated("lookup", [0.5], step=0.0)], 1)
    assert plan.source is None, "one per cent is less than the noise of the costs"


def test_first_copies_risk_little_where_checking_is_dear() -> None:
    """Until a reply has gained, a copy has three tokens or takes two plain passes; a draft is asked token by token."""
    table = costs(n1=30.0, n2=45.0, n4=75.0, n8=120.0, n16=150.0)
    copies, drafts = Stated("lookup", [0.97] * 16, step=0.0), Stated("draft", [0.97] * 16, step=0.1)
    chooser = policy(Speculation(), table)
    assert chooser.plan([1], [copies], 16).k == 3
    assert chooser.plan([1], [drafts], 16).k == 16
    assert paid(chooser).plan([1], [copies], 16).k >= 14
    assert policy(Speculation(), costs(**FLAT)).plan([1], [copies], 16).k >= 14, "it costs next to nothing"


def test_what_a_reply_lost_must_be_promised_by_its_next_copies() -> None:
    """Two copies that failed: a third like them is not checked, until others have paid, or the draft says so."""
    likely, sure = Stated("lookup", [0.75] * 16, step=0.0), Stated("lookup", [0.99] * 16, step=0.0)
    draft = Stated("draft", [0.75] * 16, step=0.0)
    chooser = policy(Speculation(), costs(n1=30.0, n2=40.0, n4=60.0, n16=130.0))
    assert chooser.plan([1], [likely], 16).source is likely
    for _ in range(2):
        chooser.spent(90.0, 0.0, 1)
    plan = chooser.plan([1], [likely], 16)
    assert plan.source is None
    assert "4.0 passes" in plan.reason
    chooser.spent(300.0, 0.0, 1)  # a slow plain pass is the machine's affair
    assert "4.0 passes" in chooser.plan([1], [likely], 16).reason
    assert chooser.plan([1], [draft], 16).source is draft
    assert chooser.plan([1], [sure], 16).source is sure
    chooser.spent(120.0, 0.0, 12)
    assert chooser.plan([1], [likely], 16).source is likely


def test_a_machine_that_slept_does_not_end_copying() -> None:
    copies = Stated("lookup", [0.97] * 16, step=0.0)
    chooser = policy(Speculation(), costs(**FLAT))
    assert chooser.plan([1], [copies], 16).source is copies
    chooser.spent(3_600_000.0, 0.0, 1)
    assert chooser.plan([1], [copies], 16).source is copies


def test_the_cheaper_source_wins_when_both_pay() -> None:
    lookup, draft = Stated("lookup", [0.8] * 16, step=0.0), Stated("draft", [0.8] * 16, step=20.0)
    table = costs(**FLAT)
    assert policy(Speculation(), table).plan([1], [lookup, draft], 16).source is lookup
    lookup = Stated("lookup", [0.2] * 16, step=0.0)
    draft = Stated("draft", [0.9] * 16, step=2.0)
    assert policy(Speculation(), table).plan([1], [lookup, draft], 16).source is draft


def test_lookup_then_model_prefers_a_lookup_that_pays() -> None:
    lookup, draft = Stated("lookup", [0.6] * 16, step=0.0), Stated("draft", [0.95] * 16, step=0.5)
    table = costs(**FLAT)
    assert policy(Speculation(source="lookup+draft"), table).plan([1], [lookup, draft], 16).source is lookup
    assert policy(Speculation(source="auto"), table).plan([1], [lookup, draft], 16).source is draft


def plainly(chooser: Policy, tokens: int, ms: float = 100.0) -> Policy:
    """After so many tokens that came without the draft, one in ``ms``."""
    for _ in range(tokens):
        chooser.plan([1], [], 16)
        chooser.spent(ms, 0.0, 1)
    return chooser


def test_a_short_reading_begins_at_once_where_enough_tokens_are_to_come() -> None:
    draft = Stated("draft", [0.9] * 16, step=2.0, unseen=100)  # two passes of reading
    table = costs(**FLAT)
    plan = policy(Speculation(), table, rest=2000).plan([1], [draft], 16)
    assert (plan.source, plan.reading) == (None, draft)
    assert policy(Speculation(), table, rest=2).plan([1], [draft], 16).reading is None


def test_a_long_reading_begins_when_as_much_was_lost_without() -> None:
    """Twenty passes of reading, of which three may be spent at once; a token without the draft loses 0.8 of a pass."""
    draft = Stated("draft", [0.9] * 16, step=2.0, unseen=1000)
    begun = []
    for tokens in (0, 10, 18, 25, 100):
        chooser = plainly(policy(Speculation(), costs(**FLAT), rest=2000), tokens)
        begun.append(chooser.plan([1], [draft], 16).reading is draft)
    assert begun == [False, False, False, True, True]
    chooser = plainly(policy(Speculation(), costs(**FLAT), rest=5), 100)
    assert chooser.plan([1], [draft], 16).reading is None, "nor then, where few tokens are to come"


@given(tokens=st.integers(0, 400), unseen=st.integers(9, 3000), step=st.floats(0.1, 4.0))
def test_waiting_never_costs_more_than_twice_what_is_best(tokens: int, unseen: int, step: float) -> None:
    """Whenever the reply ends: reading, and what is lost before it, against never reading or reading at once."""
    draft = Stated("draft", [0.9] * 16, step=step, unseen=unseen)
    chooser = policy(Speculation(), costs(**FLAT), rest=10_000)
    rate = max(expected_tokens(0.9, k) / (costs(**FLAT).at(k + 1) + 1.0 + k * step) for k in range(1, 17))
    price, lost, read = step * (unseen - 1), 100.0 - 1.0 / rate, 0.0
    for done in range(tokens):
        if chooser.plan([1], [draft], 16).reading is draft:
            read = done * lost + price
            break
        plainly(chooser, 1)
    spent = read or tokens * lost
    best = min(tokens * lost, price)  # beyond what each token takes with the draft
    assert spent <= 2 * best + (3 + 2) * 100.0


def test_lookup_serves_while_the_draft_reads() -> None:
    draft, lookup = Stated("draft", [0.95] * 16, unseen=200), Stated("lookup", [0.6] * 2, step=0.0)
    plan = policy(Speculation(), costs(**FLAT), rest=2000).plan([1], [lookup, draft], 16)
    assert (plan.source, plan.reading) == (lookup, draft)


def test_a_reply_that_goes_fast_without_the_draft_is_not_worth_its_reading() -> None:
    """Two seconds of reading would save ten, were it not for the copies that came so far."""
    draft = Stated("draft", [0.9] * 16, step=2.0, unseen=1000)
    assert plainly(policy(Speculation(), costs(**FLAT), rest=100), 40).plan([1], [draft], 16).reading is draft
    chooser = policy(Speculation(), costs(**FLAT), rest=100)
    for _ in range(20):
        chooser.plan([1], [], 16)
        chooser.spent(110.0, 0.0, 8)
    assert chooser.plan([1], [draft], 16).reading is None


@pytest.mark.parametrize("unseen", [2, 8, 9, 300])
def test_what_is_unseen_now_is_not_charged_to_every_round(unseen: int) -> None:
    """Checking four tokens costs 1.3 passes, a step 0.1, reading a token as much: 0.8 pays however much is unseen."""
    table = costs(n1=100, n2=110, n4=130, n8=170, n16=250)
    draft = Stated("draft", [0.8] * 16, step=10.0, unseen=unseen)
    chooser = plainly(policy(Speculation(), table, rest=5000), 200 if unseen > 100 else 0)
    plan = chooser.plan([1], [draft], 16)
    assert (plan.source or plan.reading) is draft
    few = policy(Speculation(), table, rest=1).plan([1], [draft], 16)
    assert few.source is None or unseen == 2, "but where one token is left, it is"
    assert few.reading is None


def test_drafting_never_hopes_for_tokens_beyond_its_room() -> None:
    """Eight tokens would be worth a try, one is not."""
    table = costs(n1=100, n2=160, n4=161, n8=162, n16=163)
    chooser = policy(Speculation(), table)
    for room, wanted in ((16, True), (1, False)):
        go_on = chooser.plan([1], [Stated("draft", [0.9] * 16, step=2.0)], room).go_on
        assert (go_on is not None and go_on([0.5])) is wanted


def test_reasons_are_said() -> None:
    table = costs(**FLAT)
    draft = Stated("draft", [0.9] * 16)
    assert policy(Speculation(enabled=False), table).plan([1], [draft], 16).reason == "speculation is off"
    assert policy(Speculation(source="draft"), table).plan([1], [], 16).reason == "no draft model is loaded"
    assert policy(Speculation(length=0), table).plan([1], [draft], 16).reason == "a draft length of 0 is set"
    assert policy(Speculation(), table).plan([1], [draft], 0).reason == "last token"
    assert policy(Speculation(), table).plan([1], [Stated("lookup", [])], 16).reason == "no earlier match"
    blocked = policy(Speculation(), table)
    blocked.blocked = "this model's memory cannot be rolled back"
    assert blocked.plan([1], [draft], 16).reason == blocked.blocked
    assert blocked.plan([1], [draft], 16).source is None


def test_plain_passes_are_measured_every_fifty_rounds_and_when_the_context_changed() -> None:
    table = costs(n1=50, n2=55, n4=60, n8=80, n16=120)
    for wanted in (Speculation(), Speculation(length=4)):
        chooser = policy(wanted, table)
        draft = Stated("draft", [0.9] * 16)
        said = [chooser.plan([1], [draft], 16).source is draft for _ in range(54)]
        assert said == [True] * 50 + [False] * 2 + [True] * 2
        chooser.unmeasured()
        said = [chooser.plan([1], [draft], 16).source is draft for _ in range(16)]
        assert said == [True] * 10 + [False] * 2 + [True] * 4
        chooser.unmeasured()
        for _ in range(2):
            assert chooser.plan([1], [Stated("lookup", [])], 16).source is None
        said = [chooser.plan([1], [draft], 16).source is draft for _ in range(50)]
        assert all(said), "two plain passes came anyway"


def test_two_plain_passes_after_a_while_are_believed() -> None:
    table = costs(n1=50, n4=80)
    for _ in range(9):
        table.observe(1, 50)
    table.settle()
    table.observe(1, 30)
    table.observe(1, 30)
    assert table.at(1) == pytest.approx(30)
    assert table.at(4) == pytest.approx(48)


def test_a_draft_left_aside_is_asked_now_and_then_within_its_share_of_time() -> None:
    chooser = policy(Speculation(), costs(n1=50, n2=80, n4=110, n8=160), start=10)
    step = 5.0
    draft = Stated("draft", [0.3] * 16, step=step, unseen=LAG + 1)
    history = list(range(100))
    asked = []
    for i in range(500):
        plan = chooser.plan(history, [draft], 16)
        assert plan.source is None
        asked += [i] if plan.following else []
        chooser.spent(50.0, 0.0, 1)
    assert 3 <= len(asked) <= 500 * 50 * 0.02 / (LAG * step)
    assert chooser.plan(history, [Stated("draft", [0.3] * 16, step, LAG)], 16).following is None, "it is too near"
    chooser.spent(1e5, 0.0, 1)
    unread = Stated("draft", [0.3] * 16, step, 95)
    assert chooser.plan(history, [unread], 16).following is None, "the prompt is not the target's text"
    draft.may_follow = False
    assert chooser.plan(history, [draft], 16).following is None, "it would learn nothing"
    draft.may_follow = True
    assert chooser.plan(history, [draft], 16).following is draft


ACCEPTANCES = st.lists(st.floats(0, 1), max_size=20)


@settings(max_examples=300)
@given(
    SETTINGS,
    st.tuples(*[st.floats(0.01, 1000)] * 4),
    ACCEPTANCES,
    ACCEPTANCES,
    st.floats(0, 50),
    st.integers(-3, 70),
    st.integers(0, 500),
)
def test_a_plan_never_exceeds_its_room(
    wanted: Speculation,
    ms: tuple[float, ...],
    lookup: list[float],
    draft: list[float],
    step: float,
    room: int,
    unseen: int,
) -> None:
    table = costs(n1=ms[0], n2=ms[1], n4=ms[2], n16=ms[3])
    chooser = policy(wanted, table)
    sources = [Stated("lookup", lookup, 0.0), Stated("draft", draft, step, unseen)]
    for _ in range(3):
        plan = chooser.plan([1, 2], sources, room)
        chooser.spent(500.0, 0.0, 10)
        assert 0 <= plan.k <= max(0, room)
        assert plan.k <= (LONGEST if wanted.length == "auto" else wanted.length)
        assert (plan.source is None) <= (plan.k == 0)
        if plan.source is None:
            assert plan.reason, "plain decoding always says why"
        elif wanted.source in ("draft", "lookup"):
            assert plan.source.name == wanted.source
        assert wanted.enabled or plan.source is None
