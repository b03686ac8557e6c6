"""A drop-down whose rows have a second line and whose unfit rows say why: for targets and drafts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QStandardItem,
    QStandardItemModel,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QComboBox,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QStylePainter,
    QWidget,
)

from desktop.language import tr
from desktop.theme.tokens import tokens_now
from desktop.theme.units import lines
from desktop.widgets.tips import plain

VALUE, _DETAIL, _HEADING = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1, Qt.ItemDataRole.UserRole + 2
_Index = QModelIndex | QPersistentModelIndex
_K = Qt.Key
_OPENING = frozenset(
    {_K.Key_Up, _K.Key_Down, _K.Key_PageUp, _K.Key_PageDown, _K.Key_Home, _K.Key_End}
    | {_K.Key_Space, _K.Key_Return, _K.Key_Enter, _K.Key_F4}
)


@dataclass(slots=True, frozen=True)
class Row:
    """One row. A row without a value is a heading; a disabled row cannot be chosen and its detail says why."""

    text: str
    value: str = ""
    detail: str = ""
    enabled: bool = True


class Picker(QComboBox):
    """Emits ``chosen`` with a row's value when a person picks it; setting the value by program emits nothing.

    To pick means to open the list first, since what is picked is loaded or downloaded.
    """

    chosen = Signal(str)

    def __init__(self, name: str, prompt: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setPlaceholderText(prompt)
        self.setItemDelegate(RowDelegate(self))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMaxVisibleItems(14)
        self._rows: list[Row] = []
        self.activated.connect(self._activated)
        self._value = self._note = ""
        self._closed: tuple[str, ...] = ()

    @property
    def value(self) -> str:
        """The choice that holds."""
        return self._value

    @property
    def rows(self) -> list[Row]:
        """What the list offers now."""
        return self._rows

    def set_rows(self, rows: Sequence[Row], value: str) -> None:
        """Fill the list and mark ``value``."""
        if list(rows) != self._rows:
            self._rows = list(rows)
            self.setModel(row_model(rows))
        self.set_value(value)

    def set_value(self, value: str) -> None:
        """Mark the row with ``value``, or none."""
        self._value = value
        at = next((n for n, row in enumerate(self._rows) if row.value and row.value == value), -1)
        self.setCurrentIndex(at)
        row = self._rows[at] if at >= 0 else None
        said = [tr("{title}: {text}", title=self._name, text=row.text), row.detail, self._note] if row else [self._name]
        self.setToolTip(plain("\n".join(filter(None, said))))

    def set_note(self, note: str, closed: Sequence[str] = ()) -> None:
        """What the tooltip says besides, and what the closed box says instead of its row: the first that fits."""
        self._note, self._closed = note, tuple(closed)
        self.set_value(self._value)
        self.update()

    @property
    def closed_text(self) -> str:
        """What the closed box says."""
        fits = (text for text in self._closed if self.fontMetrics().horizontalAdvance(text) <= _room(self))
        return next(fits, self.currentText())

    def showPopup(self) -> None:
        view = self.view()
        widest = max((view.sizeHintForIndex(self.model().index(n, 0)).width() for n in range(self.count())), default=0)
        view.setMinimumWidth(min(max(widest + 24, self.width()), 560))
        super().showPopup()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_box(self, self.closed_text)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # scrolling past must not load another model

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys that would change a closed drop-down at once open it instead."""
        held = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        typed = event.text().isprintable() and event.text() and not held
        if event.key() in _OPENING or typed:
            self.showPopup()
        else:
            event.ignore()

    def _activated(self, at: int) -> None:
        row = self._rows[at]
        if row.value:  # also the one that is shown: it may have failed to load, or have been cancelled
            self.chosen.emit(row.value)


def _room(box: QComboBox) -> int:
    """Pixels for the text of a closed box, which the chevron leaves."""
    return box.width() - 4 - lines(box, 2.25)


def paint_box(box: QComboBox, text: str = "") -> None:
    """The closed box: its text cut with an ellipsis, and a chevron (a style sheet takes the native arrow away)."""
    painter = QStylePainter(box)
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    text = text or option.currentText or box.placeholderText()
    option.currentText = box.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, _room(box))
    painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
    painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(tokens_now().subtle, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    part = max(lines(box, 0.11), 2)
    x, y = float(box.width() - lines(box, 0.85)), box.height() / 2
    if box.layoutDirection() == Qt.LayoutDirection.RightToLeft:
        x = box.width() - x
    painter.drawPolyline([QPointF(x - 2 * part, y - part), QPointF(x, y + part), QPointF(x + 2 * part, y - part)])


class ChoiceBox(QComboBox):
    """A plain drop-down in the window's look; the wheel scrolls what is around it."""

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_box(self)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


def choice(items: Iterable[tuple[str, object]], value: object) -> ChoiceBox:
    """A drop-down of texts and what they stand for; a value that is none of them is left unmarked."""
    box = ChoiceBox()
    box.setSizeAdjustPolicy(ChoiceBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(8)  # wider where there is room, and cut where there is not
    box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    for text, data in items:
        box.addItem(text, data)
    box.setCurrentIndex(next((n for n in range(box.count()) if box.itemData(n) == value), -1))
    return box


def row_model(rows: Sequence[Row]) -> QStandardItemModel:
    """Rows for a view with :class:`RowDelegate`; what stands for a row is at ``VALUE``."""
    model = QStandardItemModel(len(rows), 1)
    for number, row in enumerate(rows):
        item = QStandardItem(row.text)
        item.setData(row.value, VALUE)
        item.setData(row.detail, _DETAIL)
        item.setData(not row.value, _HEADING)
        item.setToolTip(plain(row.detail))
        item.setAccessibleText(f"{row.text}. {row.detail}" if row.detail else row.text)
        if not row.value:
            item.setFlags(Qt.ItemFlag.NoItemFlags)
        elif not row.enabled:
            item.setFlags(Qt.ItemFlag.ItemIsSelectable)
        model.setItem(number, item)
    return model


class RowDelegate(QStyledItemDelegate):
    """Draws a row in two lines, and a heading in small bold ones.

    Args:
        chosen: the chosen row stays marked, and clearly where the keys go to it; else it is the one pointed at.
    """

    def __init__(self, parent: QWidget | None = None, *, chosen: bool = False) -> None:
        super().__init__(parent)
        self._chosen = chosen

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        metrics = option.fontMetrics
        lines = 2 if index.data(_DETAIL) else 1
        width = max(
            metrics.horizontalAdvance(str(index.data())),
            round(metrics.horizontalAdvance(str(index.data(_DETAIL))) * 0.92),
        )
        return QSize(width + 28, lines * metrics.lineSpacing() + 10)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        tokens = tokens_now()
        state, rect = option.state, option.rect
        painter.save()
        if state & QStyle.StateFlag.State_Selected and state & QStyle.StateFlag.State_Enabled:
            strong = self._chosen and state & QStyle.StateFlag.State_Active
            painter.fillRect(rect, tokens.pressed if strong else tokens.hover)
            if self._chosen:
                bar = rect.adjusted(0, 0, 3 - rect.width(), 0)
                painter.fillRect(QStyle.visualRect(option.direction, rect, bar), tokens.accent)
        inner = rect.adjusted(12, 5, -12, -5)
        font = QFont(option.font)
        heading = bool(index.data(_HEADING))
        if heading:
            font.setPointSizeF(font.pointSizeF() * 0.88)
            font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        enabled = bool(state & QStyle.StateFlag.State_Enabled)
        painter.setPen(tokens.subtle if heading or not enabled else tokens.ink)
        line = option.fontMetrics.lineSpacing()
        metrics = painter.fontMetrics()
        text = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideMiddle, inner.width())
        first = QRect(inner.left(), inner.top(), inner.width(), line)
        painter.drawText(first, Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter, text)
        if detail := index.data(_DETAIL):
            font.setPointSizeF(option.font.pointSizeF() * 0.88)
            font.setWeight(QFont.Weight.Normal)
            painter.setFont(font)
            painter.setPen(tokens.subtle)
            metrics = painter.fontMetrics()
            second = metrics.elidedText(str(detail), Qt.TextElideMode.ElideRight, inner.width())
            below = QRect(inner.left(), first.top() + line, inner.width(), metrics.height())
            painter.drawText(below, Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignTop, second)
        painter.restore()
