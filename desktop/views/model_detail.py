"""What there is to know of one model, and what can be done with it: the right side of the models window."""

from __future__ import annotations

from html import escape
from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from desktop.figures import gigabytes, progress
from desktop.language import counted, marked, tr
from desktop.models.choices import label
from desktop.models.fetching import Fetch
from desktop.models.model_rows import path_text, place, state_text
from desktop.models.outlook import Outlook
from desktop.widgets.picker import Row
from desktop.widgets.rows import RowList

_FACTS = (marked("Licence"), marked("Size"), marked("Fits"), marked("Memory"), marked("Speed"), marked("Where"))
_IN_USE = {"target": marked("In use as target"), "draft": marked("In use as draft")}


class ModelDetail(QWidget):
    """Shows and asks. Every signal carries the model's id."""

    use = Signal(str)
    fetch = Signal(str)
    pause = Signal(str)
    cancel = Signal(str)
    remove = Signal(str)
    """Delete the download."""
    forget = Signal(str)
    draft_picked = Signal(str)
    """A draft in the list of those that fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._id = ""
        self._title = text("heading")
        font = self._title.font()
        font.setPointSizeF(font.pointSizeF() * 1.25)
        self._title.setFont(font)
        self._facts = QFormLayout()
        self._facts.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._facts.setHorizontalSpacing(16)
        self._values = {name: self._fact(tr(name)) for name in _FACTS}
        self._values["Licence"].setTextFormat(Qt.TextFormat.RichText)
        self._values["Licence"].setOpenExternalLinks(True)
        self._values["Licence"].setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self._problem = text("bad")
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(tr("Download progress"))
        self._progress = text("subtle")
        self.buttons = {
            "use": self._button(tr("Use this model"), self.use, primary=True),
            "fetch": self._button(tr("Download"), self.fetch, primary=True),
            "pause": self._button(tr("Pause"), self.pause),
            "cancel": self._button(tr("Cancel download"), self.cancel),
            "remove": self._button(tr("Delete…"), self.remove),
            "forget": self._button(tr("Forget"), self.forget),
        }
        self._drafts_title = text("heading")
        self._drafts_title.setText(tr("Drafts for this model"))
        self.drafts = RowList(tr("Drafts for this model"))
        self.drafts.activated_value.connect(self.draft_picked)
        self.drafts.selected.connect(self._explain_draft)
        self._draft_note = text("subtle")
        self.drafts.setMinimumHeight(self.drafts.fontMetrics().lineSpacing() * 7)
        self._drafts_title.setBuddy(self.drafts)
        self._lay_out()
        self.show_nothing()

    def show_nothing(self) -> None:
        """Nothing is selected."""
        self._id = ""
        self._title.setText("")
        for value in self._values.values():
            self._set(value, "")
        for widget in (self._problem, self._bar, self._progress, *self.buttons.values()):
            widget.hide()
        self.show_drafts([])

    def show_folder(self, value: str, folder: str) -> None:
        """A folder that was added and is not there; ``value`` is what "Forget" tells."""
        self.show_nothing()
        self._id = value
        self._title.setText(folder)
        self._problem.setText(
            tr("This folder is not there: a drive may be out, or it was moved. Put it back, or forget it.")
        )
        self._problem.show()
        self.buttons["forget"].setText(tr("Forget this folder"))
        self.buttons["forget"].show()

    def show_model(self, model: Any, outlook: Outlook, fetch: Fetch | None, *, in_use: str, ours: bool) -> None:
        """A model as it stands.

        Args:
            model: of the library.
            outlook: for this machine.
            fetch: its download, if there is one.
            in_use: what it is loaded as; empty = it is not loaded.
            ours: whether its files are Tandem's own download.
        """
        self._id = model.id
        self._title.setText(label(model))
        self._show_facts(model, outlook)
        problem = model.problem.message if model.problem is not None and model.state != "available" else ""
        if fetch is not None and fetch.error is not None:
            problem = fetch.error.message
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        self._show_progress(model, fetch)
        self._show_buttons(model, fetch, in_use, ours=ours)

    def show_drafts(self, rows: list[Row]) -> None:
        """The drafts, those that fit first."""
        self.drafts.set_rows(rows)
        self._explain_draft(self.drafts.value)
        self.drafts.setVisible(bool(rows))
        self._drafts_title.setVisible(bool(rows))

    # -----------------------------------------------------------------------------------------------------------------

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            relink(self._values["Licence"])

    def _explain_draft(self, value: str) -> None:
        """The second line of the selected draft, whole: reasons are longer than a row."""
        words = next((row.detail for row in self.drafts.rows if row.value == value), "")
        self._draft_note.setText(words)
        self._draft_note.setVisible(bool(words))

    def _show_facts(self, model: Any, outlook: Outlook) -> None:
        licence = model.entry.licence if model.entry is not None else None
        link = f'<a href="{escape(licence.link)}">{escape(licence.name)}</a>' if licence is not None else ""
        self._set(self._values["Licence"], link, licence.name if licence is not None else "")
        size, files = gigabytes(model.size or 0), len(model.files)
        if files > 1:
            size = counted("{size}, in %n file", "{size}, in %n files", files, size=size)
        self._set(self._values["Size"], size if model.size else "")
        self._set(self._values["Memory"], _memory(outlook))
        yes, no = tr("Yes, in the memory that is free"), tr("No: {reason}", reason=outlook.reason)
        self._set(self._values["Fits"], {True: yes, False: no, None: ""}[outlook.fits])
        self._set(self._values["Speed"], tr("{speed} here, estimated", speed=outlook.speed) if outlook.speed else "")
        where = tr("{place}: {path}", place=place(model), path=path_text(model.files[0])) if model.installed else ""
        self._set(self._values["Where"], where[:1].upper() + where[1:])

    def _show_progress(self, model: Any, fetch: Fetch | None) -> None:
        stands = state_text(model, fetch)
        running = fetch is not None and fetch.state == "running"
        done, total = (fetch.done, fetch.total) if fetch is not None else (model.fetched, model.size or 0)
        if not done:
            done, total = model.fetched, model.size or 0
        self._bar.setValue(round(1000 * done / total) if total else 0)
        self._bar.setVisible(bool(stands))
        if running and fetch is not None and fetch.total:
            doing = tr("Checking") if fetch.checking else tr("Downloading")
            stands = progress(doing, fetch.done, fetch.total, fetch.speed)
        self._progress.setText(stands)
        self._progress.setVisible(bool(stands))

    def _show_buttons(self, model: Any, fetch: Fetch | None, in_use: str, *, ours: bool) -> None:
        moving = fetch is not None and fetch.state in ("running", "waiting")
        begun = bool(model.fetched) or (fetch is not None and not moving)
        can_have = model.state == "available" and not moving
        usable = model.state == "installed" and (model.facts is None or model.facts.kind == "model")
        self.buttons["use"].setVisible(usable)
        self.buttons["use"].setEnabled(not in_use)
        self.buttons["use"].setText(tr(_IN_USE[in_use]) if in_use else tr("Use this model"))
        left = max(0, (model.size or 0) - model.fetched)
        self.buttons["fetch"].setVisible(can_have)
        self.buttons["fetch"].setText(tr("Go on") if begun else tr("Download"))
        self.buttons["fetch"].setToolTip(tr("{size} to download", size=gigabytes(left)) if left else "")
        self.buttons["pause"].setVisible(moving)
        self.buttons["cancel"].setVisible(moving or (can_have and begun))
        self.buttons["remove"].setVisible(ours and model.installed)
        self.buttons["remove"].setEnabled(not in_use)
        self.buttons["remove"].setToolTip(tr("It is loaded; choose another model first") if in_use else "")
        self.buttons["forget"].setVisible(model.source in ("own", "folder"))
        self.buttons["forget"].setText(tr("Forget its folder") if model.source == "folder" else tr("Forget"))
        self.buttons["forget"].setToolTip(tr("The file stays where it is"))

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        for button in self.buttons.values():
            row.addWidget(button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 4, 4, 4)
        column.setSpacing(8)
        column.addWidget(self._title)
        column.addLayout(self._facts)
        for part in (self._problem, self._bar, self._progress):
            column.addWidget(part)
        column.addLayout(row)
        column.addSpacing(8)
        column.addWidget(self._drafts_title)
        column.addWidget(self.drafts, 1)
        column.addWidget(self._draft_note)
        column.addStretch(0)

    def _fact(self, name: str) -> QLabel:
        value = text()
        value.setProperty("fact", name)
        title = text("subtle")
        title.setText(name)
        self._facts.addRow(title, value)
        return value

    def _set(self, value: QLabel, words: str, spoken: str = "") -> None:
        value.setText(words)
        value.setAccessibleName(tr("{fact}: {value}", fact=value.property("fact"), value=spoken or words))
        self._facts.setRowVisible(value, bool(words))

    def _button(self, words: str, signal: Any, *, primary: bool = False) -> QPushButton:
        button = QPushButton(words)
        button.setProperty("primary", primary)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: signal.emit(self._id))
        return button


def _memory(outlook: Outlook) -> str:
    """The sum, and of what it is made."""
    if not outlook.weights:
        return tr("More than {size}, estimated", size=gigabytes(outlook.memory)) if outlook.memory else ""
    return tr(
        "{size}, estimated: {weights} weights, {caches} caches, {buffers} buffers",
        size=gigabytes(outlook.memory),
        weights=gigabytes(outlook.weights),
        caches=gigabytes(outlook.caches),
        buffers=gigabytes(max(0, outlook.memory - outlook.weights - outlook.caches)),
    )


def relink(label: QLabel) -> None:
    """Links keep the colour of the palette under which they were set."""
    words = label.text()
    label.setText("")
    label.setText(words)


def text(name: str = "") -> QLabel:
    """A label whose words can be selected, and wrap; nothing in them is markup."""
    made = QLabel()
    made.setObjectName(name)
    made.setWordWrap(True)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made
