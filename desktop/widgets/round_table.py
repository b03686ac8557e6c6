"""One round of a reply as a table: what was guessed at each place, what the target said there, what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from desktop.figures import MISSING, percent
from desktop.language import figure, marked, tr
from desktop.signs import seen
from desktop.words import reason

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
        self.setAttribute(Qt.WidgetAttribute.WA_NoMousePropagation)  # a click beside it picks nothing below it
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 8)
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


def round_rows(record: dict[str, Any], text: dict[int, str]) -> list[tuple[str, ...]]:
    """A stored round as the table shows it; tokens by their text where it is known, else by their number."""
    proposed, targets, accepted = record.get("proposed") or (), record.get("targets") or (), record.get("accepted") or 0

    def shown(ids: Sequence[int], at: int) -> str:
        if at >= len(ids):
            return MISSING
        known = text.get(ids[at])
        if known is None:
            return tr("token {number}", number=ids[at])
        return f"“{seen(known)}”"

    chances = record.get("p") or ()

    def chance(at: int) -> str:
        return chance_text(chances[at]) if at < len(chances) else MISSING

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


def chance_text(chance: float) -> str:
    """A probability; one that would be rounded to nothing is said to be small."""
    return tr("< {most}", most=percent(0.01)) if chance < 0.005 else percent(chance)


def round_title(record: dict[str, Any]) -> str:
    """What the round was, in one line."""
    said = _GUESSED_BY.get(record.get("source") or "")
    values: dict[str, Any] = {
        "number": record.get("round"),
        "guessed": len(record.get("proposed") or ()),
        "accepted": record.get("accepted") or 0,
        "guessing": figure(record.get("draft_ms") or 0, ".1f"),
        "took": figure(record.get("verify_ms") or 0, ".1f"),
    }
    if said is not None:
        return tr(said, **values)
    plain = tr("Round {number}: plain, pass {took} ms.", **values)
    return f"{plain} {reason(str(record.get('reason') or ''))}".strip()
