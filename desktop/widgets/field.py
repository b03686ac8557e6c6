"""A number that is typed: below it stands what it changes, or why what was typed cannot be used."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from desktop.language import tr
from desktop.models.limits import Unfit, read_number, shown_number
from desktop.widgets.form import quiet

_DIGITS = 14
_STEPS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}


@dataclass(slots=True, frozen=True)
class Number:
    """Of which field of which model, its label, and in one sentence what it changes, both marked for translation.

    ``step`` is that of the arrow keys.
    """

    model: type[BaseModel]
    field: str
    label: str
    says: str
    step: float = 1
    whole: bool = True


class NumberField(QWidget):
    """Line and words. Empty means that the number is chosen elsewhere, which the placeholder tells."""

    changed = Signal()
    """The number, or why what is typed cannot be used, is another than before."""

    def __init__(self, number: Number, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.number = number
        self.problem = ""
        self._value: int | float | None = None
        self._held: int | float | None = None
        """What was shown last: what is typed after it may go through numbers that nobody meant."""
        self._default: int | float | None = None
        self._tail = ""
        self.edit = QLineEdit()
        self.edit.setObjectName("field")
        self.edit.setAccessibleName(tr(number.label))
        self.edit.installEventFilter(self)
        self.edit.textEdited.connect(self._read)
        self.words = quiet("")
        self.setFocusProxy(self.edit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.edit, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self.words)
        self._fit()
        self._tell()

    @property
    def value(self) -> int | float | None:
        """The number; None = empty. Where what is typed cannot be used, the one that was shown before it was typed."""
        return self._held if self.problem else self._value

    def set_value(self, value: float | None, default: float | None, *, empty: str = "", tail: str = "") -> None:
        """Show a number.

        Args:
            value: None = chosen elsewhere.
            default: what it is by default, or there.
            empty: what an empty field says; else the default.
            tail: what is said of the default; else that it is one.
        """
        self._value, self._held, self._default, self.problem = value, value, default, ""
        self._tail = tail or tr("Default: {number}.", number=shown_number(default))
        self.edit.setText(shown_number(value))
        self.edit.setPlaceholderText(empty or shown_number(default))
        self._tell()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            times = _STEPS.get(Qt.Key(event.key()))
            if times is not None and not self.edit.isReadOnly():
                self._step(times)
                return True
        return False

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "words"):
            self._fit()

    def _fit(self) -> None:
        self.edit.setFixedWidth((_DIGITS + 3) * self.edit.fontMetrics().horizontalAdvance("0"))

    def _step(self, times: int) -> None:
        begin = self._value if self._value is not None else self._default
        there = round((begin or 0) + times * self.number.step, 6)
        text = shown_number(int(there) if self.number.whole else there)
        try:
            read_number(self.number.model, self.number.field, text, whole=self.number.whole)
        except Unfit:
            return  # the arrows stay within the limits
        self.edit.setText(text)
        self._read(text)

    def _read(self, text: str) -> None:
        before, told = self._value, self.problem
        self.problem = ""
        try:
            number = self.number
            self._value = read_number(number.model, number.field, text, whole=number.whole) if text.strip() else None
        except Unfit as unfit:
            self.problem = str(unfit)
        self._tell()
        if self.problem and self.problem != told:
            QAccessible.updateAccessibility(QAccessibleEvent(self.words, QAccessible.Event.Alert))
        if (self._value, self.problem) != (before, told):
            self.changed.emit()

    def _tell(self) -> None:
        says = f"{tr(self.number.says)} {self._tail}"
        self.words.setText(tr("Not used: {problem}", problem=self.problem) if self.problem else says)
        self.words.setObjectName("bad" if self.problem else "subtle")
        self.edit.setProperty("wrong", bool(self.problem))
        self.edit.setAccessibleDescription(self.words.text())
        for widget in (self.words, self.edit):
            widget.style().polish(widget)
