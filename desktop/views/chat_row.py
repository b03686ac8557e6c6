"""One row of the list of chats: a title, a heading, or what was found in a message below its chat's title."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, SignalInstance
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop.models.chats import CHAT, HIT
from desktop.store import Chat, Hit
from desktop.theme.tokens import tokens_now
from desktop.widgets.direction import direction

_Index = QModelIndex | QPersistentModelIndex


class ChatRow(QStyledItemDelegate):
    """Draws and edits rows; ``renamed`` gets a chat's id and its new title."""

    def __init__(self, renamed: SignalInstance, parent: QWidget) -> None:
        super().__init__(parent)
        self._renamed = renamed

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        hit = index.data(HIT)
        lines = 2 if isinstance(hit, Hit) and hit.text else 1
        return QSize(80, lines * option.fontMetrics.height() + 12)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        tokens = tokens_now()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = option.rect
        heading = index.data(CHAT) is None
        font = QFont(option.font)
        if heading:
            font.setPointSizeF(font.pointSizeF() * 0.86)
            font.setWeight(QFont.Weight.DemiBold)
            rect = rect.adjusted(0, 6 if index.row() else 0, 0, 0)
        elif option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            chosen = option.state & QStyle.StateFlag.State_Selected
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.bubble if chosen else tokens.hover)
            painter.drawRoundedRect(rect.adjusted(0, 1, -1, -1), 6, 6)
        if not heading and option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(tokens.accent)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 1.5, -1.5, -1.5), 6, 6)
        painter.setFont(font)
        painter.setPen(tokens.subtle if heading else tokens.ink)
        inner, hit = rect.adjusted(8, 0, -8, 0), index.data(HIT)
        if isinstance(hit, Hit) and hit.text:
            upper = QRect(inner.left(), inner.top() + 6, inner.width(), option.fontMetrics.height())
            _line(painter, upper, str(index.data()), option.direction)
            painter.setPen(tokens.subtle)
            _line(painter, upper.translated(0, upper.height()), hit.text, option.direction)
        else:
            _line(painter, inner, str(index.data()), option.direction)
        painter.restore()

    def setModelData(self, editor: QWidget, model: object, index: _Index) -> None:
        chat = index.data(CHAT)
        if isinstance(editor, QLineEdit) and isinstance(chat, Chat) and editor.text().strip():
            self._renamed.emit(chat.id, editor.text().strip())


def _line(painter: QPainter, rect: QRect, text: str, otherwise: Qt.LayoutDirection) -> None:
    """From the side where its own script begins."""
    painter.setLayoutDirection(direction(text, otherwise))
    text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
