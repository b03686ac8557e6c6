"""Keeps the status bar true: the engine's state at the left, and the figures of the reply that is on screen.

A figure stands there only as long as it belongs to what is seen: another chat or a comparison blanks it, and a
comparison's end turns the estimated speed-up into the measured one.
"""

from __future__ import annotations

from dataclasses import asdict

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QLabel

from backend.protocol import PromptProgress, Timings
from desktop import figures
from desktop.language import marked, tr
from desktop.models.asking import held, timings_of
from desktop.models.conversation import Conversation
from desktop.models.engine import Engine
from desktop.status import detail, exact, lead
from desktop.store import Message
from desktop.views.comparing import Comparing
from desktop.widgets.status_bar import StatusBar

_LENT = {"trial": marked("Trying drafts on your chats"), "benchmark": marked("Measuring this pair: messages wait")}


class StatusLine(QObject):
    """Binds a status bar.

    Args:
        bar: what is drawn.
        engine: its state and what it is doing.
        conversation: the running reply.
        comparing: the running comparison.
    """

    def __init__(self, bar: StatusBar, engine: Engine, conversation: Conversation, comparing: Comparing) -> None:
        super().__init__(bar)
        self._bar, self._engine = bar, engine
        self._conversation, self._comparing = conversation, comparing
        self._timings: Timings | None = None
        self._reading: PromptProgress | None = None
        self._chat: int | None = None
        """Where the running reply is written."""
        self._exact = QLabel()
        self._exact.setFont(bar.font())
        self._exact.hide()
        bar.add(self._exact)
        bar.cancelled.connect(engine.cancel_load)
        engine.changed.connect(self._show_state)
        conversation.opened.connect(self._opened)
        conversation.measured.connect(self._measured)
        conversation.reading.connect(self._read)
        conversation.running_changed.connect(self._running)
        conversation.changed.connect(self._compared)
        comparing.running_changed.connect(self._comparing_changed)
        self._show_state()

    def _show_state(self) -> None:
        state = self._engine.state
        self._bar.set_figures(memory=figures.memory(state.memory, state.memory_total))
        self._show_context()
        self._exact.setText(exact(state))
        self._exact.setToolTip(tr(figures.EXACT, rows=state.exact_rows))
        self._exact.setVisible(bool(self._exact.text()) and self._engine.mode == "up")
        self._show_lead()

    def _show_context(self) -> None:
        """What the chat on screen takes, not what the engine holds of another."""
        state, conversation = self._engine.state, self._conversation
        here = conversation.running and self._chat == (conversation.chat.id if conversation.chat else None)
        used: int | None = state.context_used
        if not here and not self._comparing.running:
            used = held(conversation.messages, state.target.tokenizer if state.target else None)
        self._bar.set_figures(context=figures.context(used, state.target.n_ctx if state.target else None))

    def _show_lead(self) -> None:
        engine = self._engine
        running = self._conversation.running or self._comparing.running
        text = lead(
            engine.mode,
            engine.state,
            engine.progress,
            running=running,
            reading=self._reading if running else None,
            timings=self._timings,
        )
        if engine.lent is not None and engine.mode == "up":
            text = tr(_LENT[engine.lent])
        elif self._comparing.running and engine.mode == "up":
            text = tr("Comparing with and without speculation")
        self._bar.set_lead(text, cancellable=engine.mode == "loading", detail=detail(text, engine.state))

    def _show_figures(self, timings: Timings | None, measured_ratio: float | None = None) -> None:
        self._timings = timings
        texts = asdict(figures.figures(timings, measured_ratio))
        if texts["speedup"] != figures.MISSING:
            texts["speedup"] = tr("{speedup} plain", speedup=texts["speedup"])
        self._bar.set_figures(**texts)

    def _blank(self) -> None:
        self._show_figures(None)
        self._show_lead()

    def _opened(self, _messages: list[Message]) -> None:
        self._show_context()
        if not self._conversation.running:
            self._blank()

    def _measured(self, timings: Timings) -> None:
        self._reading = None
        self._show_figures(timings)
        self._show_lead()

    def _read(self, progress: PromptProgress) -> None:
        self._reading = progress
        self._show_lead()

    def _running(self, running: bool) -> None:
        chat = self._conversation.chat.id if self._conversation.chat else None
        if running:  # it may begin when its chat is not on screen any more
            self._chat = live.chat if (live := self._conversation.live) is not None else None
        if running or self._chat != chat:  # begun, or ended while another chat is on screen
            self._show_figures(None)
        self._reading = None
        self._show_context()
        self._show_lead()

    def _comparing_changed(self, running: bool) -> None:
        self._show_context()
        if running:
            self._show_figures(None)
        self._show_lead()

    def _compared(self, message: Message) -> None:
        self._show_context()
        if message.comparison is not None and not self._conversation.running:
            self._show_figures(*figures.of_one_run(timings_of(message), message.comparison))
            self._show_lead()
