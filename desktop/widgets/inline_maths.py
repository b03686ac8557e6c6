"""Formulas within a text: out of Markdown's way while it is read, then in their place, on the text's baseline.

Each formula becomes a sign that nothing else in the text uses; Markdown carries the signs to where they belong, and
there each is replaced by the formula, or by its source where that cannot be drawn (yet).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QPainter,
    QPyTextObject,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

from desktop.maths.find import Piece, pieces
from desktop.maths.typeset import Drawing
from desktop.theme.tokens import tokens_now
from desktop.widgets.formula import em_of, paint
from desktop.widgets.prose_style import parts_of
from desktop.widgets.tips import plain

_FORMULA = QTextFormat.ObjectTypes.UserObject.value + 1
_STRUT = _FORMULA + 1
_SOURCE, _SILENT, _INDEX, _EM, _HEIGHT, _DEPTH = (QTextFormat.Property.UserProperty.value + n for n in range(1, 7))
_OBJECT, _LINE, _JOINER = "\ufffc", "\u2028", "\u2060"
_BESIDE = 0.04
"""Em that a formula keeps from the words beside it."""
_STICKS = frozenset(".,;:!?)]}’”»%-–…、。，")
"""Signs that do not begin a line."""


@dataclass(slots=True, frozen=True)
class Hidden:
    """Markdown with a sign in place of each formula."""

    markdown: str
    formulas: dict[str, Piece] = field(default_factory=dict)


def hide(text: str, open_end: bool = False) -> Hidden:
    """Put signs in place of formulas; see :func:`desktop.maths.find.pieces`."""
    used = set(text)
    free = (sign for sign in map(chr, range(0xE000, 0xF900)) if sign not in used)
    formulas: dict[str, Piece] = {}
    out = []
    for piece in pieces(text, open_end):
        sign = None if piece.kind == "text" else next(free, None)
        if sign is not None:
            formulas[sign] = piece
        out.append(sign or piece.source)
    return Hidden("".join(out), formulas)


class InlineMaths(QPyTextObject):
    """The formulas of one document, which it belongs to."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._drawings: list[Drawing] = []
        for kind in (_FORMULA, _STRUT):
            document.documentLayout().registerHandler(kind, self)

    def put(self, document: QTextDocument, hidden: Hidden, drawing: Callable[[Piece], Drawing | None]) -> None:
        """Put the formulas in the place of their signs; in code their source, as written."""
        self._drawings.clear()
        for at, piece in reversed(_places(document, hidden)):
            cursor = QTextCursor(document)
            cursor.setPosition(at)
            cursor.setPosition(at + 1, QTextCursor.MoveMode.KeepAnchor)
            style = QTextCharFormat(cursor.charFormat())
            code = style.fontFixedPitch()
            drawn = None if code or piece.kind == "open" else drawing(piece)
            if drawn is not None:
                self._insert(cursor, style, piece, drawn)
                continue
            if not code:
                style.setFontFamilies([QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()])
            cursor.insertText(piece.source.replace("\n", _LINE), style)

    def _insert(self, cursor: QTextCursor, style: QTextCharFormat, piece: Piece, drawing: Drawing) -> None:
        font = QFont(cursor.document().defaultFont())
        if style.fontPointSize() > 0:
            font.setPointSizeF(style.fontPointSize())
        em = em_of(font)
        cursor.removeSelectedText()
        centred = piece.kind == "display" and _on_its_own_line(cursor, style)
        silent = QTextCharFormat(style)
        silent.setProperty(_SILENT, True)
        formula = QTextCharFormat(style)
        formula.setObjectType(_FORMULA)
        formula.setProperty(_SOURCE, piece.source)
        formula.setProperty(_INDEX, len(self._drawings))
        formula.setProperty(_EM, em)
        formula.setProperty(_HEIGHT, QFontMetricsF(font).ascent())
        formula.setToolTip(plain(piece.source))
        self._drawings.append(drawing)
        cursor.insertText(_OBJECT, formula)
        metrics = QFontMetricsF(font)
        between = 0.25 * metrics.height()  # so much room is between two lines
        strut = QTextCharFormat(silent)
        strut.setObjectType(_STRUT)
        strut.setProperty(_DEPTH, max(drawing.descent * em - between, metrics.descent()))
        strut.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
        cursor.insertText(_OBJECT, strut)
        if cursor.document().characterAt(cursor.position()) in _STICKS:
            cursor.insertText(_JOINER, silent)
        if centred:
            middle = QTextBlockFormat()
            middle.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            cursor.mergeBlockFormat(middle)

    def intrinsicSize(self, document: QTextDocument, position: int, style: QTextFormat) -> QSizeF:
        """What a line makes room for: above the baseline, or with a strut below it."""
        if style.objectType() == _STRUT:  # Qt sets an object in the middle of small letters, half of it below
            x_height = QFontMetricsF(QFont(style.toCharFormat().font())).xHeight()
            return QSizeF(0, 2 * float(style.property(_DEPTH)) + x_height / 2)
        drawing = self._drawings[int(style.property(_INDEX))]
        em = self._em(document, style, drawing)
        return QSizeF((drawing.width + 2 * _BESIDE) * em, max(drawing.ascent * em, float(style.property(_HEIGHT))))

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, document: QTextDocument, position: int, style: QTextFormat
    ) -> None:
        """Draw the formula; below the baseline it leaves its place."""
        if style.objectType() == _STRUT:
            return
        drawing = self._drawings[int(style.property(_INDEX))]
        brush = style.toCharFormat().foreground()
        ink = brush.color() if brush.style() != Qt.BrushStyle.NoBrush else tokens_now().ink
        em = self._em(document, style, drawing)
        paint(painter, QRectF(rect).bottomLeft() + QPointF(_BESIDE * em, 0), drawing, em, ink)

    def _em(self, document: QTextDocument, style: QTextFormat, drawing: Drawing) -> float:
        """Smaller where the formula would be wider than the text."""
        em, room = float(style.property(_EM)), document.textWidth()
        return min(em, room / (drawing.width + 2 * _BESIDE)) if room > 0 else em


def source_of(cursor: QTextCursor) -> str | None:
    """What is selected, with formulas as written; None where there are none."""
    copy = QTextDocument()
    QTextCursor(copy).insertFragment(cursor.selection())
    found = _marked(copy)
    for at, length, style in reversed(found):
        place = QTextCursor(copy)
        place.setPosition(at)
        place.setPosition(at + length, QTextCursor.MoveMode.KeepAnchor)
        place.removeSelectedText()
        if style.hasProperty(_SOURCE):
            place.insertText(str(style.property(_SOURCE)).replace("\n", _LINE), QTextCharFormat())
    return copy.toPlainText() if found else None


def as_written(document: QTextDocument) -> str:
    """All of the text with its formulas as written, for screen readers; empty where none is drawn."""
    whole = QTextCursor(document)
    whole.select(QTextCursor.SelectionType.Document)
    return source_of(whole) or ""


def _marked(document: QTextDocument) -> list[tuple[int, int, QTextCharFormat]]:
    found = []
    block = document.begin()
    while block.isValid():
        found += [part for part in parts_of(block) if part[2].hasProperty(_SOURCE) or part[2].hasProperty(_SILENT)]
        block = block.next()
    return found


def _places(document: QTextDocument, hidden: Hidden) -> list[tuple[int, Piece]]:
    """Where the signs stand; Qt counts UTF-16 units."""
    found = []
    block = document.begin()
    while block.isValid():
        at = block.position()
        for sign in block.text():
            if (piece := hidden.formulas.get(sign)) is not None:
                found.append((at, piece))
            at += 1 + (ord(sign) > 0xFFFF)
        block = block.next()
    return found


def _on_its_own_line(cursor: QTextCursor, style: QTextCharFormat) -> bool:
    """Break the line before and after, unless the paragraph begins or ends there; whether it is a paragraph now."""
    free = cursor.currentList() is None and cursor.currentTable() is None

    def cut(there: QTextCursor) -> None:
        if free:
            there.insertBlock()
        else:
            there.insertText(_LINE, style)

    block = cursor.block()
    text = block.text().encode("utf-16-le")
    at = 2 * (cursor.position() - block.position())
    before, behind = text[:at].decode("utf-16-le"), text[at:].decode("utf-16-le")
    sticks = len(behind) - len(behind.lstrip("".join(_STICKS)))
    if behind[sticks:].strip():
        after = QTextCursor(cursor)
        after.setPosition(cursor.position() + sticks)
        if behind[sticks] == " ":
            after.deleteChar()
        here = cursor.position()
        cut(after)
        cursor.setPosition(here)
    if before.strip():
        if before.endswith(" "):
            cursor.deletePreviousChar()
        cut(cursor)
    return free
