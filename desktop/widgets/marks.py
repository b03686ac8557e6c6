"""Marking words in a text that is shown: a tint behind them and a line below, so that colour is not all that tells."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from desktop.theme.tokens import mix, tokens_now

_MOST = 200
"""Places marked of one word in one text."""


def mark(edit: QTextEdit | QPlainTextEdit, words: Sequence[str]) -> QRect | None:
    """Mark all places of the words, in any case, instead of what was marked before; the first of them, if any."""
    tokens = tokens_now()
    look = QTextCharFormat()
    look.setBackground(mix(tokens.accent, tokens.page, 0.3))
    look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
    selections: list[QTextEdit.ExtraSelection] = []
    for word in words:
        cursor = QTextCursor(edit.document())
        for _ in range(_MOST):
            cursor = edit.document().find(word, cursor)
            if cursor.isNull():
                break
            selection = QTextEdit.ExtraSelection()
            selection.cursor, selection.format = cursor, look
            selections.append(selection)
    edit.setExtraSelections(selections)
    if not selections:
        return None
    return edit.cursorRect(min((s.cursor for s in selections), key=lambda cursor: cursor.selectionStart()))
