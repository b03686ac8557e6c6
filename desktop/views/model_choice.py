"""Target, draft and switch in the top bar: what there is to choose, what is chosen, and what a choice does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from backend.library.paths import data_path
from backend.protocol import State
from desktop.language import tr
from desktop.models.choices import ADD_FILE, DOWNLOAD, MANAGE, TRY_DRAFTS, draft_rows, in_use, target_rows
from desktop.models.forecast import forecasts
from desktop.models.measured import Measured
from desktop.settings import AUTOMATIC, NONE
from desktop.views.managing import Managing

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow


class ModelChoice(QObject):
    """Binds the top bar to library and engine."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._top, self._page = window, window.top, window.page
        self._engine, self._shelf, self._settings = window.engine, window.shelf, window.settings
        self._priced_by = _pricing(self._engine.state)
        """What the forecasts of models that are not here were made from."""
        self._top.target.chosen.connect(self.choose_target)
        self._top.draft.chosen.connect(self.choose_draft)
        self._engine.changed.connect(self._show_state)
        self._engine.drafts_changed.connect(self._show_drafts)
        self._shelf.changed.connect(self._show_models)
        self._adding = False
        """Whether a file is being added from here, to be loaded."""
        self._shelf.added.connect(self._added)
        self._shelf.failed.connect(self._not_added)
        measured = Measured(data_path() / "measured.json", window.bridge, window.engine)
        self._engine.speedup = measured.speedup
        measured.changed.connect(lambda: self._show_drafts(self._engine.drafts))
        measured.changed.connect(self._engine.reconsider)
        benchmark = window.benchmarking.benchmark
        benchmark.changed.connect(lambda: measured.take(None if benchmark.under_way else benchmark.report))
        self.managing = Managing(window, measured)
        self._measured = measured
        window.downloads.opened.connect(self.managing.open)
        window.outlooks.proposed.connect(lambda: self._list_targets(self._shelf.models))  # memory was measured for it
        self._show_state()

    def choose_target(self, value: str) -> None:
        """A row of the target's list: a model that is here, one to be fetched, or a file to be added."""
        if value == ADD_FILE:
            self.add_file()
        elif value == MANAGE:
            self.manage()
            self._top.target.set_value(self._named())
            return
        elif value.startswith(DOWNLOAD):
            self._window.downloads.get([value.removeprefix(DOWNLOAD)])
        else:
            self._engine.choose_target(value)
        self._top.target.set_value(self._named())
        self._page.composer.setFocus()

    def choose_draft(self, value: str) -> None:
        """A row of the draft's list."""
        if value.startswith(DOWNLOAD):
            self._window.downloads.get([value.removeprefix(DOWNLOAD)], use="draft")
        elif value == TRY_DRAFTS:
            self._window.trying.open()
        else:
            self._engine.choose_draft(value)
        self._top.draft.set_value(self._settings.now.draft)

    def add_file(self) -> None:
        """Choose a GGUF file on this machine."""
        kinds = tr("Model files (*.gguf);;All files (*)")
        name, _ = QFileDialog.getOpenFileName(self._window, tr("Add a model file"), "", kinds)
        if name:
            self._adding = True
            self._shelf.add(Path(name))

    def manage(self, model_id: str = "") -> None:
        """The models window."""
        self.managing.open(model_id)

    def _added(self, model: Any) -> None:
        if self._adding:
            self._adding = False
            self._engine.choose_target(model.id)

    def _not_added(self) -> None:
        self._adding = False

    def _show_models(self, models: list[Any]) -> None:
        self._list_targets(models)
        self._window.downloads.propose()

    def _list_targets(self, models: list[Any]) -> None:
        self._priced_by = _pricing(self._engine.state)
        speeds = forecasts(models, self._engine.state, self._window.outlooks.rate)
        self._top.target.set_rows(target_rows(models, speeds), self._named())

    def _show_drafts(self, choices: list[Any]) -> None:
        target = self._engine.drafts_of
        rows = draft_rows(choices, target, self._shelf.pairs.get(target, {}), self._measured.speedup)
        self._top.draft.set_rows(rows, self._settings.now.draft)

    def _show_state(self) -> None:
        engine, now = self._engine, self._settings.now
        if self._shelf.models and _pricing(engine.state) != self._priced_by:
            self._show_models(self._shelf.models)
        self._top.target.set_value(self._named())
        self._top.draft.set_note(*self._draft_in_use())
        self._top.draft.set_value(now.draft)
        self._top.set_switch(now.speculation.enabled and now.draft != NONE)
        self._page.composer.set_note(engine.state.target.template_note if engine.state.target else "")

    def _named(self) -> str:
        """The target to show; where the engine is gone, the one that a restart loads."""
        last = self._settings.now.target if self._engine.mode == "lost" else None
        return self._engine.target or last or ""

    def _draft_in_use(self) -> tuple[str, tuple[str, ...]]:
        """Which model "Automatic" has come to."""
        draft = self._engine.state.draft
        if draft is None or self._settings.now.draft != AUTOMATIC:
            return "", ()
        return in_use(self._shelf.named(draft.id) or draft)


def _pricing(state: State) -> tuple[bool, int]:
    """Changes with what is known of this machine: what a loaded model measured, and its devices."""
    return state.target is not None and state.cost is not None, len(state.devices)
