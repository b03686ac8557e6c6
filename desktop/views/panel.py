"""The speculation panel: what it did in the reply on screen, and what it would do elsewhere."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from backend.protocol import RoundRecord, Timings
from backend.wire import dump
from desktop.bridge import EngineBridge
from desktop.language import marked, tr
from desktop.models import insight
from desktop.models.asking import timings_of
from desktop.models.conversation import Conversation
from desktop.models.engine import Engine
from desktop.models.parts import last_rounds
from desktop.shortcuts import key_text
from desktop.store.records import ROUNDS_KEPT
from desktop.theme.units import lines
from desktop.widgets.cost_table import CostTableView
from desktop.widgets.plots import EquationPlot, PositionPlot, RatePlot, TimelinePlot
from desktop.widgets.time_split import TimeSplit
from desktop.widgets.what_if import WhatIf
from desktop.words import reason

UPDATE_MS = 500
_NOTHING = marked("What speculation is doing, and why, stands here while a reply is written.")


class Panel(QScrollArea):
    """Follows the running reply, else shows the last one of the chat; at most twice a second, and only while open."""

    def __init__(self, bridge: EngineBridge, engine: Engine, conversation: Conversation) -> None:
        super().__init__()
        self._engine, self._conversation = engine, conversation
        self._timings: Timings | None = None
        self._rounds: list[dict[str, Any]] = []
        self._partly = False
        """Whether these are of the reply's last part alone."""
        self._reply: int | None = None
        """Whose they are, once it is whole."""
        self.setObjectName("panel")
        self.setAccessibleName(tr("Speculation"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fit()
        self.why = QLabel()
        self.why.setWordWrap(True)
        self.why.setTextFormat(Qt.TextFormat.PlainText)
        self.rate, self.positions = RatePlot(), PositionPlot()
        self.equation, self.timeline = EquationPlot(), TimelinePlot()
        self.split, self.costs = TimeSplit(), CostTableView()
        self.what_if = WhatIf()
        self.measure = QPushButton(tr("Measure this pair…"))
        tip = tr("Plain and speculation in turn on several prompts ({keys})", keys=key_text("benchmark"))
        self.measure.setToolTip(tip)
        self._build()
        self._timer = QTimer(self, singleShot=True, interval=UPDATE_MS)
        self._timer.timeout.connect(self.refresh)
        self.timeline.moved.connect(self.refresh)
        conversation.opened.connect(lambda _: self._look())
        conversation.changed.connect(lambda _: self._look())
        conversation.running_changed.connect(self._running)
        conversation.measured.connect(self._measured)
        bridge.rounds.connect(self._on_rounds)
        engine.changed.connect(self._soon)
        self._look()
        self.refresh()

    def refresh(self) -> None:
        """Draw what is known now."""
        timings, state = self._timings or Timings(), self._engine.state
        self.why.setText(reason(state.why or tr(_NOTHING)))
        points = insight.rate_points(self._rounds)
        self.rate.show_points(points, self._rate(timings))
        self.positions.show_shares(insight.position_shares(timings))
        self.equation.show_reply(
            timings.alpha, insight.usual_length(timings), timings.tokens_per_pass, insight.says_equation_one(timings)
        )
        plain = timings.plain_ms
        rounds = insight.passes(self._rounds)
        shown, end = rounds[self.timeline.place(len(rounds))], insight.number_of(rounds[-1]) if rounds else 0
        self.timeline.show_rounds(insight.timeline(shown), plain, insight.says_timeline(shown, end, plain))
        self._numbers.setText(insight.says_equation_two(timings, state.cost))
        self._numbers.setVisible(bool(self._numbers.text()))
        self.split.show_shares(insight.time_shares(timings))
        self.costs.show_rows(insight.cost_rows(state.cost))
        self.what_if.set_cost(state.cost)

    def show_round(self, reply: int, number: int) -> None:
        """Bring a round into the timeline, where that is of this reply."""
        rounds = insight.passes(self._rounds) if reply == self._reply else []
        at = next((n for n, record in enumerate(rounds) if insight.number_of(record) == number), None)
        if at is not None:
            self.timeline.place(len(rounds))  # so far it may be of another reply
            self.timeline.go_to(at)

    def _rate(self, timings: Timings) -> str:
        rate = timings.tokens_per_second
        if not rate:
            return tr("No reply yet.")
        if self._partly:
            return tr("{rate:.1f} tok/s over the last part of the reply.", rate=rate)
        return tr("{rate:.1f} tok/s over the whole reply.", rate=rate)

    def _build(self) -> None:
        heading = QLabel(tr("Speculation"))
        heading.setObjectName("heading")
        self._numbers = QLabel()
        self._numbers.setObjectName("subtle")
        self._numbers.setWordWrap(True)
        self._numbers.setTextFormat(Qt.TextFormat.PlainText)
        page = QWidget()
        page.setObjectName("column")
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 14, 16, 16)
        column.setSpacing(16)
        parts = (
            heading,
            self.why,
            self.rate,
            self.positions,
            self.equation,
            self._numbers,
            self.split,
            self.timeline,
            self.costs,
            self.what_if,
            self.measure,
        )
        for widget in parts:
            column.addWidget(widget)
        column.addStretch(1)
        self.setWidget(page)

    def _soon(self) -> None:
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self._soon()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_timer"):
            self._soon()  # lines and bars have colours of their own
        elif event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        self.setMinimumWidth(lines(self, 14.5))

    def _look(self) -> None:
        """The last reply that is whole, unless one is being written."""
        if self._conversation.running:
            return
        replies = [m for m in self._conversation.messages if m.role == "assistant" and m.timings]
        last = replies[-1] if replies else None
        self._timings = timings_of(last) if last is not None else None
        self._rounds = last_rounds(last) if last is not None else []
        self._partly = last is not None and bool(last.parts)
        self._reply = last.id if last is not None else None
        self._soon()

    def _running(self, running: bool) -> None:
        if running:
            live = self._conversation.live
            self._timings, self._rounds, self._reply = None, [], None
            self._partly = live is not None and bool(live.parts)
            self._soon()
        else:
            self._look()

    def _measured(self, timings: Timings) -> None:
        self._timings = timings
        self._soon()

    def _on_rounds(self, job: str, records: tuple[RoundRecord, ...]) -> None:
        if job == self._conversation.job:  # not a comparison's
            self._rounds = [*self._rounds, *(dump(record) for record in records)][-ROUNDS_KEPT:]
            self._soon()
