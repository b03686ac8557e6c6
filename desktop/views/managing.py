"""Runs the models window: what it shows comes from library, downloads and engine; what it asks for is done there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QFileDialog, QMessageBox

from desktop.figures import gigabytes
from desktop.language import tr
from desktop.models.choices import label, pair_memory
from desktop.models.fetching import Fetch
from desktop.models.measured import Measured
from desktop.models.model_rows import FOLDER, HUB, SEARCH, folder_rows, model_rows, path_text
from desktop.models.outlook import UNKNOWN
from desktop.models.ranking import Ranking
from desktop.views.hub_side import HubSide
from desktop.views.models_window import ModelsWindow
from desktop.widgets.picker import Row
from desktop.words import title_of

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow

_OFTEN_MS = 250
"""While a download runs, the rows are made anew this often."""


class Managing(QObject):
    """One window, made when it is first wanted; it stays as it was left."""

    def __init__(self, window: MainWindow, measured: Measured) -> None:
        super().__init__(window)
        self._main, self._measured = window, measured
        self._shelf, self._engine = window.shelf, window.engine
        self._fetching = window.shelf.fetching
        self.outlooks = window.outlooks
        self.hub = HubSide(self._shelf, self.outlooks, lambda: self._engine.state, self)
        self.window: ModelsWindow | None = None
        self._drafts: tuple[str, list[Any]] = ("", [])
        self._soon = QTimer(self, singleShot=True, interval=_OFTEN_MS)
        self._soon.timeout.connect(self._show)
        self._shelf.changed.connect(self._models_changed)
        self._shelf.removed.connect(self._say_removed)
        self._shelf.failed.connect(lambda error: self._say(error.message))
        self._shelf.drafts.connect(self._on_drafts)
        self._shelf.added.connect(lambda model: self.window.select(model.id) if self.window is not None else None)
        self._fetching.changed.connect(self._tick)
        self._fetching.failed.connect(self._on_failed)
        self._engine.changed.connect(self._tick)
        self._measured.changed.connect(self._show_drafts)
        self.outlooks.changed.connect(self._show)
        self.hub.changed.connect(self._show)
        self.hub.said.connect(self._say)

    def close(self) -> None:
        """Wait for what runs beside the window."""
        self.hub.search.close()
        self.outlooks.close()

    def open(self, model_id: str = "") -> None:
        """Show the window, and a model in it."""
        if self.window is None:
            self.window = self._made()
        self.window.bring()
        self._show()
        self._shelf.refresh()
        if model_id:
            self.window.select(model_id)

    def _made(self) -> ModelsWindow:
        window = ModelsWindow(self._main)
        window.split.take(self._main.settings.now.widths.get(window.split.objectName()))
        window.searched.connect(self._show)
        self.hub.bind(window)
        window.picked.connect(self._picked)
        window.acted.connect(self._act)
        window.add_file.connect(self._add_file)
        window.add_folder.connect(self._add_folder)
        detail = window.detail
        detail.use.connect(self._use)
        detail.fetch.connect(self._fetch)
        detail.pause.connect(self._fetching.pause)
        detail.cancel.connect(self._fetching.cancel)
        detail.remove.connect(self._ask_to_remove)
        detail.forget.connect(self._forget)
        detail.draft_picked.connect(window.select)
        return window

    # -- what is shown --------------------------------------------------------------------------------------------

    def _models_changed(self, models: list[Any]) -> None:
        if self.window is not None and self.window.isVisible():
            self.outlooks.ask(models, self._engine.state)
            self._show()

    def _tick(self) -> None:
        if self.window is not None and self.window.isVisible() and not self._soon.isActive():
            self._soon.start()

    def _show(self) -> None:
        if self.window is None:
            return
        words = self.window.words.text()
        rows = model_rows(
            self._shelf.models,
            self.outlooks.by_id,
            self._fetching.items,
            words,
            fitting=self.window.fitting.isChecked(),
            used=self._used(),
        )
        rows += folder_rows(self._shelf.gone) + self.hub.rows(words)
        self.window.show_rows(rows or [Row(tr("No model fits"))])
        self._show_detail()

    def _show_detail(self) -> None:
        window = self.window
        model = self._shelf.named(window.value) if window is not None else None
        if window is None or model is None:
            return
        window.detail.show_model(
            model,
            self.outlooks.by_id.get(model.id, UNKNOWN),
            self._fetching.items.get(model.id),
            in_use=self._used().get(model.id, ""),
            ours=model.id in self._shelf.ours,
        )

    def _used(self) -> dict[str, str]:
        """What is loaded, and as what; of one model that is both, as target."""
        state = self._engine.state
        loaded = (("draft", state.draft), ("target", state.target))
        return {model.id: role for role, model in loaded if model is not None}

    def _picked(self, value: str) -> None:
        if self.window is None or value == SEARCH:
            return
        if value.startswith(HUB):
            self.hub.show(value)
            return
        self.window.detail.show_drafts([])
        if value.startswith(FOLDER):
            self.window.detail.show_folder(value, value.removeprefix(FOLDER))
            return
        self._show_detail()
        model = self._shelf.named(value)
        if model is not None and (model.entry is None or "target" in model.entry.roles):
            self._shelf.ask_drafts(value)

    # -- drafts of the model that is shown ------------------------------------------------------------------------

    def _on_drafts(self, target: str, choices: list[Any]) -> None:
        if self.window is not None and target == self.window.value:
            self._drafts = (target, choices)
            self._show_drafts()

    def _show_drafts(self) -> None:
        target, choices = self._drafts
        if self.window is not None and target == self.window.value:
            here = (model := self._shelf.named(target)) is not None and model.installed
            shown = [c for c in choices if c.model.id != target and (c.fits or here)]  # else it is not known yet
            best = Ranking(target, self._shelf.pairs.get(target, {}), self._measured.speedup).recommended(choices)
            rows = [self._draft_row(target, c, best) for c in shown]
            self.window.detail.show_drafts(rows)

    def _draft_row(self, target: str, choice: Any, best: str) -> Row:
        if not choice.fits:
            return Row(label(choice.model), choice.model.id, tr("Does not fit: {reason}", reason=choice.reason))
        pair = self._shelf.pairs.get(target, {}).get(choice.model.id, UNKNOWN)
        ratio = self._measured.speedup(target, choice.model.id)
        parts = (
            tr("Recommended") if choice.model.id == best else "",
            tr("Fits") if choice.model.installed else tr("Fits, to download"),
            pair_memory(choice, pair),
            tr("{ratio:.2f}× measured here", ratio=ratio) if ratio else "",
            choice.warning,
        )
        return Row(label(choice.model), choice.model.id, " · ".join(part for part in parts if part))

    # -- what is asked for ----------------------------------------------------------------------------------------

    def _act(self, model_id: str) -> None:
        """Enter on a row: the first of its buttons, none that takes something away."""
        assert self.window is not None
        buttons = [self.window.detail.buttons[name] for name in ("use", "fetch", "pause")]
        first = next((button for button in buttons if not button.isHidden() and button.isEnabled()), None)
        if first is not None:
            first.click()

    def _use(self, model_id: str) -> None:
        assert self.window is not None
        self.window.close()
        self._engine.choose_target(model_id)

    def _fetch(self, model_id: str) -> None:
        model = self._shelf.named(model_id)
        if model is not None:
            self._fetching.start([(model_id, model.name)])

    def _forget(self, value: str) -> None:
        if value.startswith(FOLDER):
            self._shelf.remove_folder(Path(value.removeprefix(FOLDER)))
        elif (model := self._shelf.named(value)) is not None:
            self._shelf.forget(model)

    def _on_failed(self, fetch: Fetch) -> None:
        if fetch.error is not None:
            self._say(tr("{model}: {problem}.", model=fetch.name, problem=title_of(fetch.error)))

    def _ask_to_remove(self, model_id: str) -> None:
        from backend.library.removing import own_download

        model = self._shelf.named(model_id)
        if model is None or not (files := own_download(model)):
            return
        box = QMessageBox(self.window)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle(tr("Delete a model"))
        box.setTextFormat(Qt.TextFormat.PlainText)  # names come from the hub
        box.setText(tr("Delete {model}?", model=label(model)))
        names = "\n".join(path_text(path) for path in files)
        freed = tr("{size} are freed. It can be downloaded again.", size=gigabytes(model.size or 0))
        box.setInformativeText(f"{freed}\n\n{names}")
        delete = box.addButton(tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        box.buttonClicked.connect(lambda button: self._shelf.delete(model) if button is delete else None)
        box.finished.connect(box.deleteLater)
        box.open()

    def _add_file(self) -> None:
        kinds = tr("Model files (*.gguf);;All files (*)")
        name, _ = QFileDialog.getOpenFileName(self.window, tr("Add a model file"), "", kinds)
        if name:
            self._shelf.add(Path(name))

    def _add_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self.window, tr("Look for models in a folder"))
        if name:
            self._shelf.add_folder(Path(name))

    def _say_removed(self, name: str, freed: int) -> None:
        self._say(tr("{model} was deleted; {size} are free.", model=name, size=gigabytes(freed)))

    def _say(self, words: str) -> None:
        if self.window is not None:
            self.window.say(words)
