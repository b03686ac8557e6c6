"""Runs a trial from the draft list: its dialog, and what becomes of the draft afterwards."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from backend.errors import EngineError
from desktop.bridge import EngineBridge
from desktop.models.choices import label
from desktop.models.conversation import Conversation
from desktop.models.engine import Engine
from desktop.models.shelf import Shelf
from desktop.models.trial import Trial
from desktop.store import Store
from desktop.views.comparing import Comparing
from desktop.views.trial import TrialDialog


class DraftTrial(QObject):
    """One dialog at a time, in front of ``window``: while it is open nothing else can be begun there."""

    def __init__(
        self,
        bridge: EngineBridge,
        store: Store,
        engine: Engine,
        shelf: Shelf,
        conversation: Conversation,
        comparing: Comparing,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._engine, self._shelf, self._window = engine, shelf, window
        self.trial = Trial(bridge, engine, store.path, lambda: conversation.running or comparing.running, self)
        self.dialog: TrialDialog | None = None
        self.trial.changed.connect(self._show)
        self.trial.failed.connect(self._failed)
        conversation.running_changed.connect(lambda _: self.trial.look())
        comparing.running_changed.connect(lambda _: self.trial.look())

    def open(self) -> None:
        """Begin, and show it."""
        if self.dialog is not None:
            return
        self.dialog = dialog = TrialDialog(self._named(self._engine.target or ""), self._named, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.finished.connect(lambda accepted: self._closed(dialog.chosen if accepted else ""))
        dialog.open()
        self.trial.begin()

    def _named(self, model_id: str) -> str:
        model = self._shelf.named(model_id)
        return label(model) if model is not None else model_id

    def _show(self) -> None:
        dialog, trial = self.dialog, self.trial
        if dialog is None or trial.phase == "idle":
            return
        dialog.show_found(trial.found, trial.used)
        if trial.phase == "waiting":
            dialog.show_waiting()
        elif trial.phase == "running":
            dialog.show_progress(trial.progress)
        else:
            dialog.show_end(trial.found, trial.replies)

    def _failed(self, error: EngineError) -> None:
        if self.dialog is not None:
            self.dialog.show_error(error)

    def _closed(self, chosen: str) -> None:
        self.dialog = None
        self.trial.leave(chosen)
