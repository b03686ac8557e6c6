"""A reply as its tokens: how each came to be, and one round as a table, below the line that it was picked in.

Three kinds of line below the text tell what the tints tell, for eyes that see no colours; the legend is in words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import (
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QLabel, QToolTip, QVBoxLayout, QWidget

from backend.protocol import Origin
from desktop.language import marked, tr
from desktop.models.origins import Piece
from desktop.theme.tokens import mix, tokens_now
from desktop.widgets.in_view import page_of
from desktop.widgets.prose import Prose
from desktop.widgets.prose_style import dress
from desktop.widgets.round_table import RoundTable, chance_text

LEGEND = marked(
    "Underlined: drafted and accepted. Dotted: the target's correction of a draft. Dashed: the token that a wholly "
    "accepted draft brings on top. Not marked: plain decoding. In italics: edited, or not known. Click a token, or "
    "press Enter on it, to see its round."
)
WORDS: dict[Origin | None, str] = {
    "accepted": marked("drafted, accepted"),
    "correction": marked("correction"),
    "bonus": marked("bonus"),
    "plain": marked("plain"),
    None: marked("edited, or not known token by token"),
}
_LINES: dict[Origin | None, QTextCharFormat.UnderlineStyle] = {
    "accepted": QTextCharFormat.UnderlineStyle.SingleUnderline,
    "correction": QTextCharFormat.UnderlineStyle.DotLine,
    "bonus": QTextCharFormat.UnderlineStyle.DashUnderline,
}


class TokenText(Prose):
    """The text itself, each token by its origin."""

    picked = Signal(int)
    """A round's number."""
    fitted = Signal()
    """All is laid out anew, and without the room that was made."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Text of the message, token by token"))
        flags = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        self.setTextInteractionFlags(flags)
        self._pieces: list[Piece] = []
        self._ends: list[int] = []
        self._chances: dict[Any, Sequence[float]] = {}
        self._chosen = 0
        """Where the caret was when a token was picked."""
        self._parted = 0
        """The block below which there is room."""

    def show_pieces(self, pieces: Sequence[Piece], rounds: Iterable[Mapping[str, Any]]) -> None:
        """Show these; ``rounds`` know the target's probabilities."""
        self._pieces = list(pieces)
        self._chances = {record.get("round"): record.get("p") or () for record in rounds}
        self.set_plain("".join(piece.text for piece in pieces))

    def _render(self) -> None:
        document, looks = self.document(), {origin: _look(origin) for origin in WORDS}
        self._look = (tokens_now(), self.font())
        document.clear()
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        self._ends = []
        for piece in self._pieces:
            cursor.insertText(piece.text, looks[piece.origin])
            self._ends.append(cursor.position())  # as Qt counts: a line may end with two letters
        dress(document, *self._look, typed=True)
        cursor.endEditBlock()
        self._fit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self._pick(self._at(event.position().toPoint()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.pick()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            piece = self._at(event.pos())
            QToolTip.showText(event.globalPos(), self._says(piece) if piece else "", self)
            return True
        return super().event(event)

    def _says(self, piece: Piece) -> str:
        how = tr(WORDS[piece.origin])
        if piece.origin is None:
            return how
        values: dict[str, Any] = {"how": how, "number": piece.round, "place": piece.place}
        chances = self._chances.get(piece.round, ())
        if piece.place > len(chances):
            return tr("{how}: round {number}, place {place}", **values)
        chance = chance_text(chances[piece.place - 1])
        return tr("{how}: round {number}, place {place}, probability {chance}", chance=chance, **values)

    def pick(self) -> None:
        """The token at the caret."""
        self._pick(self._index(self.textCursor().position()))

    def make_room(self, height: int) -> QRect:
        """Leave so many pixels free below the line that a token was picked in; gives that line's place."""
        document = self.document()
        block = document.findBlock(self._chosen)
        block = block if block.isValid() else document.lastBlock()
        _leave(document.findBlockByNumber(self._parted), 0)
        _leave(block, height)
        self._parted = block.blockNumber()
        super()._fit()
        if not block.next().isValid():  # what is below the last one counts for nothing
            self.setFixedHeight(self.minimumHeight() + height)
        return document.documentLayout().blockBoundingRect(block).toAlignedRect()

    def _fit(self) -> None:
        super()._fit()
        self.fitted.emit()

    def _pick(self, piece: Piece | None) -> None:
        if piece is not None and piece.origin is not None:
            self._chosen = self.textCursor().position()
            self.picked.emit(piece.round)

    def _at(self, point: QPoint) -> Piece | None:
        cursor = self.cursorForPosition(point)
        before = self.cursorRect(cursor).left() > point.x() and cursor.position() > 0  # it is the nearest gap's
        return self._index(cursor.position() - before)

    def _index(self, position: int) -> Piece | None:
        at = bisect_right(self._ends, position)
        return self._pieces[min(at, len(self._pieces) - 1)] if self._pieces else None


class OriginsView(QWidget):
    """Text, legend and round."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = TokenText()
        self.text.picked.connect(self.picked)
        self.text.fitted.connect(self._place)
        self.round = RoundTable(self.text)
        self.round.hide()
        self.round.installEventFilter(self)
        self.legend = legend = QLabel(tr(LEGEND))
        legend.setObjectName("subtle")
        legend.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for widget in (self.text, legend):
            layout.addWidget(widget)

    def show_round(self, title: str, rows: Sequence[Sequence[str]]) -> None:
        """Below the line that was picked, and both in view, as far as they find room there."""
        self.round.show_round(title, rows)
        self.round.show()
        self._place()
        QTimer.singleShot(0, self, self._bring)  # once all above has its height

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> QRect:
        if self.round.isHidden():
            return QRect()
        height = self.round.heightForWidth(self.text.width())
        line = self.text.make_room(height)
        self.round.setGeometry(0, line.bottom() + 1, self.text.width(), height)
        self.round.raise_()
        return line

    def _bring(self) -> None:
        page = page_of(self)
        if page is None or (inside := page.widget()) is None:
            return
        first = self.text.mapTo(inside, self._place().topLeft()).y()
        last = self.round.mapTo(inside, self.round.rect().bottomLeft()).y()
        bar, height = page.verticalScrollBar(), page.viewport().height()
        if bar.value() > first or bar.value() + height <= last:
            over = min(height // 4, height - (last + 1 - first))  # of the text before it, where there is room for that
            bar.setValue(first - max(over, 0))


def _leave(block: QTextBlock, pixels: int) -> None:
    style = QTextBlockFormat()
    style.setBottomMargin(pixels)
    QTextCursor(block).mergeBlockFormat(style)


def _look(origin: Origin | None) -> QTextCharFormat:
    tokens, look = tokens_now(), QTextCharFormat()
    look.setFontItalic(origin is None)
    if origin in _LINES:
        look.setUnderlineStyle(_LINES[origin])
        look.setUnderlineColor(tokens.accent if origin != "correction" else tokens.bad)
        look.setBackground(mix(tokens.accent if origin != "correction" else tokens.bad, tokens.page, 0.13))
    return look
