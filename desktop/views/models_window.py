"""The models window: what is here, what can be had, and everything that can be done with it. It blocks nothing."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop.language import tr
from desktop.models.model_rows import HUB, SEARCH
from desktop.views.hub_detail import HubDetail
from desktop.views.model_detail import ModelDetail, text
from desktop.widgets.divided import Divided
from desktop.widgets.picker import Row
from desktop.widgets.rows import RowList
from desktop.widgets.switch import Switch

_NARROW = 680


class ModelsWindow(QDialog):
    """Shows rows and details; what is behind them is set from outside."""

    searched = Signal()
    """Other words or another filter: the rows are to be made anew."""
    hub_asked = Signal(str)
    """Words to look for on the hub."""
    picked = Signal(str)
    """A row's value: a model's id, or a repository; empty = none."""
    acted = Signal(str)
    """A model's id, by Enter or double click: what is most likely wanted of it."""
    add_file = Signal()
    add_folder = Signal()
    token = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Models"))
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.words = QLineEdit()
        self.words.setObjectName("field")
        self.words.setPlaceholderText(tr("Search models"))
        self.words.setAccessibleName(tr("Search models"))
        self.words.setClearButtonEnabled(True)
        self._later = ""
        self._pause = QTimer(self, singleShot=True, interval=150)
        self._pause.timeout.connect(self.searched)
        self.words.textChanged.connect(lambda _: self._pause.start())
        self.words.returnPressed.connect(self._to_rows)
        self.fitting = Switch(tr("Only what fits this machine"))
        self.fitting.setToolTip(tr("Only models that find room in the memory that is free"))
        self.fitting.toggled.connect(lambda _: self.searched.emit())
        self.rows = RowList(tr("Models"))
        self.rows.selected.connect(self._picked)
        self.rows.activated_value.connect(self._activated)
        self.detail = ModelDetail()
        self.hub = HubDetail()
        self.note = text("subtle")
        self.note.hide()
        self._side = QStackedWidget()
        self._side.addWidget(_scrolled(self.detail))
        self._side.addWidget(self.hub)
        self._lay_out()
        find = QShortcut(QKeySequence.StandardKey.Find, self)
        find.activated.connect(self._to_words)
        self.resize(900, 600)
        self.setMinimumSize(420, 340)
        self.rows.setFocus()

    @property
    def value(self) -> str:
        """The selected row's."""
        return self.rows.value

    def show_rows(self, rows: list[Row]) -> None:
        """The list; something stays selected where there is something."""
        self.rows.set_rows(rows)
        if self._later and self.rows.select(self._later):
            self._later = ""
        if not self.rows.value:
            self.rows.select_first()

    def select(self, value: str) -> None:
        """Show this row, whatever is searched for."""
        if not self.rows.select(value) and (self.words.text() or self.fitting.isChecked()):
            self.words.clear()
            self.fitting.setChecked(False)
            self.searched.emit()
            self.rows.select(value)

    def select_later(self, value: str) -> None:
        """Show this row as soon as there is one."""
        self._later = value
        self.words.clear()

    def say(self, words: str) -> None:
        """One line above the list, until the next."""
        self.note.setText(words)
        self.note.setVisible(bool(words))

    def bring(self) -> None:
        """Show it, in front."""
        self.show()
        self.raise_()
        self.activateWindow()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(10)
        top.addWidget(self.words, 1)
        fits = QLabel(tr("Fits this machine"))
        fits.setBuddy(self.fitting)
        top.addWidget(fits)
        top.addWidget(self.fitting)
        self._foot = QHBoxLayout()
        self._foot.setSpacing(8)
        for words, signal in (
            (tr("Add a file…"), self.add_file),
            (tr("Add a folder…"), self.add_folder),
            (tr("Token…"), self.token),
        ):
            self._foot.addWidget(_button(words, signal))
        self._foot.addStretch(1)
        self._foot.addWidget(_button(tr("Close"), self.reject))
        self.split = Divided("models", 1000, 1200)
        self.split.addWidget(self.rows)
        self.split.addWidget(self._side)
        self.split.setStretchFactor(0, 5)
        self.split.setStretchFactor(1, 6)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(10)
        column.addLayout(top)
        column.addWidget(self.note)
        column.addWidget(self.split, 1)
        column.addLayout(self._foot)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the detail stands below the list."""
        super().resizeEvent(event)
        self.split.stack(event.size().width() < _NARROW)

    def _picked(self, value: str) -> None:
        self._side.setCurrentIndex(1 if value.startswith(HUB) else 0)
        if value in ("", SEARCH):
            self.detail.show_nothing()
        self.picked.emit(value)

    def _activated(self, value: str) -> None:
        if value == SEARCH:
            self.hub_asked.emit(self.words.text().strip())
        elif value.startswith(HUB):
            self.hub.offers.setFocus()
        else:
            self.acted.emit(value)

    def _to_rows(self) -> None:
        self._pause.stop()
        self.searched.emit()
        self.rows.setFocus()

    def _to_words(self) -> None:
        self.words.setFocus()
        self.words.selectAll()


def _scrolled(widget: QWidget) -> QScrollArea:
    """All of it can be reached, however small the window."""
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(widget)
    for part in (widget, area.viewport()):  # the dialog's own page shows through
        part.setAutoFillBackground(False)
    return area


def _button(words: str, target: object) -> QPushButton:
    button = QPushButton(words)
    button.setAutoDefault(False)  # Enter in the search field is no press
    button.clicked.connect(target)
    return button
