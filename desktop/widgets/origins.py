"""A reply as its tokens: how each came to be, and of one round what was guessed and what the target said.

Three kinds of line below the text tell what the tints tell, for eyes that see no colours; the legend is in words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from backend.protocol import Origin
from desktop.language import marked, tr
from desktop.models.origins import Piece
from desktop.theme.tokens import mix, tokens_now
from desktop.widgets.prose import Prose
from desktop.widgets.prose_style import dress

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

_COLUMNS = (
    marked("Place"),
    marked("Guessed"),
    marked("The target said"),
    marked("Probability"),
    marked("What came of it"),
)
_GUESSED_BY = {
    "draft": marked(
        "Round {number}: {guessed} guessed by the draft model, {accepted} accepted; "
        "guessing {guessing} ms, pass {took} ms."
    ),
    "lookup": marked(
        "Round {number}: {guessed} guessed by lookup, {accepted} accepted; guessing {guessing} ms, pass {took} ms."
    ),
    "lookahead": marked(
        "Round {number}: {guessed} guessed by lookahead, {accepted} accepted; guessing {guessing} ms, pass {took} ms."
    ),
}
"""A round by who guessed: whole sentences, which other languages build otherwise."""
_CHANCE = 3
_CHANCE_TIP = marked(
    "The target's probability for its token, by all of the chat's sampling settings; where the likeliest token is "
    "always taken, at temperature 1. Known of replies that are written while tokens are shown."
)


class TokenText(Prose):
    """The text itself, each token by its origin."""

    picked = Signal(int)
    """A round's number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Text of the message, token by token"))
        flags = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        self.setTextInteractionFlags(flags)
        self._pieces: list[Piece] = []
        self._ends: list[int] = []
        self._chances: dict[Any, Sequence[float]] = {}

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
            self._pick(self._index(self.textCursor().position()))
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
        chance = _share(chances[piece.place - 1])
        return tr("{how}: round {number}, place {place}, probability {chance}", chance=chance, **values)

    def _pick(self, piece: Piece | None) -> None:
        if piece is not None and piece.origin is not None:
            self.picked.emit(piece.round)

    def _at(self, point: QPoint) -> Piece | None:
        cursor = self.cursorForPosition(point)
        before = self.cursorRect(cursor).left() > point.x() and cursor.position() > 0  # it is the nearest gap's
        return self._index(cursor.position() - before)

    def _index(self, position: int) -> Piece | None:
        at = bisect_right(self._ends, position)
        return self._pieces[min(at, len(self._pieces) - 1)] if self._pieces else None


class RoundTable(QWidget):
    """One round: what was guessed at each place, what the target said there, and what came of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel()
        self.title.setObjectName("subtle")
        self.title.setWordWrap(True)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.table = QTableWidget(0, len(_COLUMNS))
        self.table.setHorizontalHeaderLabels([tr(heading) for heading in _COLUMNS])
        self.table.horizontalHeaderItem(_CHANCE).setToolTip(tr(_CHANCE_TIP))  # type: ignore[union-attr]
        self.table.setAccessibleName(tr("Round"))
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        head = self.table.horizontalHeader()
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(len(_COLUMNS) - 1, QHeaderView.ResizeMode.Stretch)
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.title)
        layout.addWidget(self.table)

    def show_round(self, title: str, rows: Sequence[Sequence[str]]) -> None:
        """A heading and the table's rows."""
        self.title.setText(title)
        self.table.setVisible(bool(rows))
        self.table.setRowCount(len(rows))
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                self.table.setItem(i, j, QTableWidgetItem(text))
        self.table.resizeRowsToContents()
        head = self.table.horizontalHeader().sizeHint().height()
        self.table.setFixedHeight(head + sum(self.table.rowHeight(i) for i in range(len(rows))) + 4)


class OriginsView(QWidget):
    """Text, legend and round."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = TokenText()
        self.text.picked.connect(self.picked)
        self.round = RoundTable()
        self.round.hide()
        self.legend = legend = QLabel(tr(LEGEND))
        legend.setObjectName("subtle")
        legend.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for widget in (self.text, self.round, legend):
            layout.addWidget(widget)

    def show_round(self, title: str, rows: Sequence[Sequence[str]]) -> None:
        """Below the text."""
        self.round.show_round(title, rows)
        self.round.show()


def _look(origin: Origin | None) -> QTextCharFormat:
    tokens, look = tokens_now(), QTextCharFormat()
    look.setFontItalic(origin is None)
    if origin in _LINES:
        look.setUnderlineStyle(_LINES[origin])
        look.setUnderlineColor(tokens.accent if origin != "correction" else tokens.bad)
        look.setBackground(mix(tokens.accent if origin != "correction" else tokens.bad, tokens.page, 0.13))
    return look


def round_rows(record: dict[str, Any], text: dict[int, str]) -> list[tuple[str, ...]]:
    """A stored round as the table shows it; tokens by their text where it is known, else by their number."""
    proposed, targets, accepted = record.get("proposed") or (), record.get("targets") or (), record.get("accepted") or 0

    def shown(ids: Sequence[int], at: int) -> str:
        if at >= len(ids):
            return "–"
        known = text.get(ids[at])
        if known is None:
            return tr("token {number}", number=ids[at])
        return f"“{known}”".replace("\n", "⏎").replace("\t", "⇥")

    chances = record.get("p") or ()

    def chance(at: int) -> str:
        return _share(chances[at]) if at < len(chances) else "–"

    def outcome(at: int) -> str:
        if at < accepted:
            return tr("accepted")
        if at < len(proposed):
            return tr("replaced") if at == accepted and at < len(targets) else tr("discarded")
        return tr("bonus") if proposed else tr("plain")

    return [
        (str(at + 1), shown(proposed, at), shown(targets, at), chance(at), outcome(at))
        for at in range(max(len(proposed), len(targets)))
    ]


def _share(chance: float) -> str:
    return "< 1 %" if chance < 0.005 else f"{chance:.0%}".replace("%", " %")


def round_title(record: dict[str, Any]) -> str:
    """What the round was, in one line."""
    said = _GUESSED_BY.get(record.get("source") or "")
    values: dict[str, Any] = {
        "number": record.get("round"),
        "guessed": len(record.get("proposed") or ()),
        "accepted": record.get("accepted") or 0,
        "guessing": f"{record.get('draft_ms') or 0:.1f}",
        "took": f"{record.get('verify_ms') or 0:.1f}",
    }
    if said is not None:
        return tr(said, **values)
    why = str(record.get("reason") or "").replace("%", " %")
    return f"{tr('Round {number}: plain, pass {took} ms.', **values)} {why[:1].upper()}{why[1:]}".strip()
