"""What the window wants of the engine (target, draft, switch) and what the engine says it is doing."""

from __future__ import annotations

from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError, ErrorCode
from backend.protocol import DraftRequest, LoadOptions, LoadProgress, LoadRequest, Speculation, State
from desktop.bridge import EngineBridge
from desktop.models.shelf import Shelf
from desktop.settings import AUTOMATIC, LOOKUP, NONE, SettingsFile
from desktop.words import Notice, notice

Mode = Literal["starting", "up", "loading", "lost"]


class Engine(QObject):
    """Turns choices into requests. Choices are kept in the settings; what is shown comes from the engine's state."""

    changed = Signal()
    """``state``, ``mode``, ``progress`` or ``error`` changed."""
    drafts_changed = Signal(object)
    noticed = Signal(object)

    def __init__(
        self, bridge: EngineBridge, shelf: Shelf, settings: SettingsFile, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._shelf = shelf
        self._settings = settings
        self.state = State()
        self.mode: Mode = "starting"
        self.progress: LoadProgress | None = None
        self.drafts: list[Any] = []
        self.last_load: EngineError | None = None
        self._loading_job = ""
        self._wanted: str | None = None
        bridge.state_changed.connect(self._on_state)
        bridge.lost.connect(self._on_lost)
        bridge.loading.connect(self._on_loading)
        bridge.loaded.connect(self._on_loaded)
        bridge.failed.connect(self._on_failed)
        shelf.drafts.connect(self._on_drafts)
        shelf.drafts_failed.connect(self._on_drafts_failed)

    @property
    def busy(self) -> bool:
        """Whether a pair or a draft is being loaded."""
        return self.mode == "loading" or bool(self._loading_job)

    # -- choices --------------------------------------------------------------------------------------------------

    def start(self, *, load: bool) -> None:
        """Start the worker; with ``load`` also the last pair."""
        self._bridge.start()
        self._bridge.set_speculation(self._speculation())
        if load and self._settings.now.target:
            self.choose_target(self._settings.now.target)

    def choose_target(self, target: str) -> None:
        """Load ``target`` with the draft that the settings ask for."""
        self._settings.change(target=target)
        self._wanted = target
        self._enter("loading")
        self._shelf.ask_drafts(target)

    def choose_draft(self, choice: str) -> None:
        """A model's id, or automatic, lookup, none. The target and a running reply are not interrupted."""
        enabled = choice != NONE
        speculation = self._settings.now.speculation.model_copy(update={"enabled": enabled})
        self._settings.change(draft=choice, speculation=speculation)
        self.changed.emit()
        self._bridge.set_speculation(self._speculation())
        if self.state.target is None or self.mode in ("loading", "lost"):
            return
        draft = self._draft_id()
        if draft != (self.state.draft.id if self.state.draft else None):
            self._loading_job = self._bridge.set_draft(DraftRequest(draft=draft))

    def set_enabled(self, enabled: bool) -> None:
        """The switch: from the next round."""
        if enabled and self._settings.now.draft == NONE:
            self._settings.change(draft=AUTOMATIC)
            self.choose_draft(AUTOMATIC)
            return
        speculation = self._settings.now.speculation.model_copy(update={"enabled": enabled})
        self._settings.change(speculation=speculation)
        self.changed.emit()
        self._bridge.set_speculation(self._speculation())

    def set_speculation(self, settings: Speculation) -> None:
        """Draft length and rule: from the next round."""
        self._settings.change(speculation=settings)
        self._bridge.set_speculation(self._speculation())

    def set_load_options(self, options: LoadOptions) -> None:
        """Context and GPU layers need the pair to be loaded again."""
        if options != self._settings.now.load:
            self._settings.change(load=options)
            if self.state.target is not None or self.last_load is not None:
                self.reload()

    def refresh_drafts(self) -> None:
        """Look again which drafts fit."""
        if self._settings.now.target:
            self._shelf.ask_drafts(self._settings.now.target)

    def reload(self) -> None:
        """Load the chosen pair again."""
        if self._settings.now.target:
            self.choose_target(self._settings.now.target)

    def restart(self) -> None:
        """A fresh worker with the last pair."""
        request = self._load_request(self._settings.now.target) if self._settings.now.target else None
        self.state = State()
        self._enter("loading" if request else "starting")
        self._loading_job = self._bridge.restart(request, self._speculation())

    def cancel_load(self) -> None:
        """Stop loading."""
        self._wanted = None
        if self._loading_job:
            self._bridge.cancel(self._loading_job)

    # -- what comes back ------------------------------------------------------------------------------------------

    def _on_state(self, state: State) -> None:
        before = self.state
        self.state = state
        if self.mode in ("starting", "lost"):
            self.mode = "up"
        if state.draft_note and state.draft_note != before.draft_note:
            self.noticed.emit(Notice("The draft model is not in use", state.draft_note, mild=True))
        self.changed.emit()

    def _on_lost(self, error: EngineError) -> None:
        self.state = State()
        self._loading_job = ""
        self._enter("lost")
        self.noticed.emit(notice(error))

    def _on_loading(self, job: str, progress: LoadProgress) -> None:
        if job == self._loading_job:
            self.progress = progress
            if progress.phase == "target":
                self.mode = "loading"
            self.changed.emit()

    def _on_loaded(self, job: str, state: State) -> None:
        if job == self._loading_job:
            self._loading_job = ""
            self.last_load = None
            self.state = state
            self._enter("up")

    def _on_failed(self, job: str, error: EngineError) -> None:
        if job != self._loading_job:
            return
        self._loading_job = ""
        self.last_load = error
        gone = error.code in (ErrorCode.WORKER_GONE, ErrorCode.WORKER_START_FAILED)
        self._enter("lost" if gone else "up")
        if error.code != ErrorCode.CANCELLED:
            self.noticed.emit(notice(error, retry=self.reload))

    def _on_drafts(self, target: str, choices: list[Any]) -> None:
        if target != self._settings.now.target:
            return
        self.drafts = choices
        self.drafts_changed.emit(choices)
        if self._wanted == target:
            self._wanted = None
            self._loading_job = self._bridge.load(self._load_request(target))

    def _on_drafts_failed(self, target: str, error: EngineError) -> None:
        if target == self._wanted:
            self._wanted = None
            self.last_load = error
            self._enter("up")
        self.noticed.emit(notice(error))

    # -- translation ----------------------------------------------------------------------------------------------

    def _enter(self, mode: Mode) -> None:
        self.mode = mode
        self.progress = None
        self.changed.emit()

    def _load_request(self, target: str) -> LoadRequest:
        return LoadRequest(target=target, draft=self._draft_id(), options=self._settings.now.load)

    def _draft_id(self) -> str | None:
        choice = self._settings.now.draft
        if choice in (LOOKUP, NONE):
            return None
        if choice != AUTOMATIC:
            return choice
        fitting = (c for c in self.drafts if c.fits and c.model.installed and not c.warning)
        return next((c.model.id for c in fitting), None)

    def _speculation(self) -> Speculation:
        """The settings with the source that the draft choice implies."""
        now = self._settings.now
        source = {AUTOMATIC: "auto", LOOKUP: "lookup", NONE: "auto"}.get(now.draft, "draft")
        enabled = now.speculation.enabled and now.draft != NONE
        return now.speculation.model_copy(update={"source": source, "enabled": enabled})
