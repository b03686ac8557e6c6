"""The dialog of a trial: how far it has come, what each draft promises, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QProgressBar, QVBoxLayout, QWidget

from backend.bench.tune import Failed, Trying
from backend.errors import EngineError
from backend.forecast import Forecast
from desktop.figures import MISSING
from desktop.widgets.figure_table import FigureTable
from desktop.widgets.labels import wrapped

_HEADINGS = {
    "Draft": "",
    "Accepted": "Of the replies' tokens, those that would have been the draft's first choice.",
    "Best length": "Draft tokens a pass with the highest predicted speed.",
    "Speed-up": "Of generation against plain decoding, at that length: predicted by Eq. (2), an estimate.",
}
_ROWS_SHOWN = 8
_DRAFT = Qt.ItemDataRole.UserRole
_GONE_ON = "The models were exchanged meanwhile, or the engine stopped. The draft list takes any of these drafts."
_NOTE = (
    "Judged on {tokens:,} tokens of {replies:,} {word} that {target} wrote in your chats, without generating anything. "
    "Accepted: tokens that would have been the draft's first choice. Speed-up: of generation against plain decoding at "
    "the best length, predicted from pass costs measured on this machine."
)


class TrialDialog(QDialog):
    """Shows and asks. Accepted: ``chosen`` is the draft to go on with.

    Args:
        target: its name.
        named: a draft's name from its id.
    """

    def __init__(self, target: str, named: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Try drafts on my chats")
        self._target, self._named = target, named
        self._heading = wrapped("heading")
        self._detail = wrapped("subtle")
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("Progress")
        self.table = FigureTable("Drafts", _HEADINGS)
        self.table.itemSelectionChanged.connect(self._show_button)
        self.buttons = QDialogButtonBox()
        self.use = self.buttons.addButton("Use this draft", QDialogButtonBox.ButtonRole.AcceptRole)
        self.use.setProperty("primary", True)
        self.close_ = self.buttons.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 14)
        layout.setSpacing(8)
        for part in (self._heading, self._bar):
            layout.addWidget(part)
        layout.addWidget(self.table)
        layout.addWidget(self._detail)
        layout.addStretch(1)
        layout.addWidget(self.buttons)
        self.table.hide()
        self.use.hide()
        self._used = ""
        self._over = False
        self._show_button()
        self.setMinimumWidth(460)
        self.resize(640, 0)

    @property
    def text(self) -> str:
        """Heading and detail (tests)."""
        return f"{self._heading.text()} {self._detail.text()}"

    @property
    def chosen(self) -> str:
        """The draft of the selected row; empty = none that can be used."""
        rows = self.table.selectionModel().selectedRows()
        return str(self.table.item(rows[0].row(), 0).data(_DRAFT) or "") if rows else ""  # type: ignore[union-attr]

    def show_waiting(self) -> None:
        """Something else decodes."""
        self._say("Waiting for the engine", "A reply, a comparison or a model is on its way; this begins after it.")

    def show_progress(self, progress: Trying | None) -> None:
        """The trial runs."""
        if progress is None:
            self._say("Reading your chats…")
            return
        what = "Loading {}" if progress.loading else "{} reads the replies"
        turn = f" ({progress.number} of {progress.of})" if progress.of > 1 else ""
        self._say(what.format(self._named(progress.draft)) + turn)
        self._bar.setValue(round(1000 * progress.fraction))

    def show_found(self, found: list[Forecast | Failed], used: str) -> None:
        """What is known of the drafts so far; ``used`` is marked."""
        self._used = used
        for row in range(self.table.rowCount(), len(found)):
            self._add(row, found[row])
        self.table.setVisible(bool(found))
        rows = min(len(found), _ROWS_SHOWN) * self.table.verticalHeader().defaultSectionSize()
        self.table.setFixedHeight(self.table.horizontalHeader().sizeHint().height() + rows + 2)

    def show_end(self, found: list[Forecast | Failed], replies: int) -> None:
        """All are judged: the best is selected."""
        self._over = True
        self._bar.hide()
        self.close_.setText("Close")
        judged = [one for one in found if isinstance(one, Forecast)]
        failures = [f"{self._named(one.draft)} was not tried: {one.why}" for one in found if isinstance(one, Failed)]
        if not judged:
            self._say("No draft could be tried", "\n".join(failures))
            return
        best = max(judged, key=lambda one: one.speedup)
        self.table.selectRow(found.index(best))
        word = "reply" if replies == 1 else "replies"
        note = _NOTE.format(tokens=best.tokens, replies=replies, word=word, target=self._target)
        self.use.show()
        verdict = _verdict(best, self._named(best.draft), in_use=best.draft == self._used)
        self._say(verdict, "\n".join([note, *failures]))
        (self.use if self.use.isEnabled() else self.close_).setFocus()

    def show_error(self, error: EngineError) -> None:
        """It ended before its end, or the engine went after it; what was found stays readable."""
        self._bar.hide()
        self.use.hide()
        self.close_.setText("Close")
        if self._over:
            self._say(self._heading.text(), _GONE_ON)
            return
        self._say("Too few replies yet" if "tokens" in error.details else "The drafts were not tried", error.message)

    def _add(self, row: int, one: Forecast | Failed) -> None:
        name = self._named(one.draft) + (" (in use)" if one.draft == self._used else "")
        self.table.set_row(row, (name, *_figures(one)))
        if isinstance(one, Forecast):
            self.table.item(row, 0).setData(_DRAFT, one.draft)  # type: ignore[union-attr]

    def _show_button(self) -> None:
        self.use.setEnabled(self._over and self.chosen not in ("", self._used))

    def _say(self, heading: str, detail: str = "") -> None:
        self._heading.setText(heading)
        self._detail.setText(detail)
        self._detail.setVisible(bool(detail))
        layout = self.layout()
        assert layout is not None
        self.resize(self.width(), max(self.minimumHeight(), layout.totalHeightForWidth(self.width())))


def _figures(one: Forecast | Failed) -> tuple[str, str, str]:
    if isinstance(one, Failed):
        return MISSING, MISSING, "not tried"
    accepted = f"{one.acceptance:.0%}".replace("%", " %")
    return (accepted, f"{one.best}", f"≈ {one.speedup:.2f}×") if one.best else (accepted, "none", "plain is faster")


def _verdict(best: Forecast, name: str, *, in_use: bool) -> str:
    if not best.best:
        return "No draft here is predicted to beat plain decoding"
    which = f"{name}, which is in use, promises" if in_use else f"{name} promises"
    return f"{which} the most: ≈ {best.speedup:.2f}× plain"
