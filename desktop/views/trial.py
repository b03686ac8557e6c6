"""The dialog of a trial: how far it has come, what each draft promises, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QProgressBar, QVBoxLayout, QWidget

from backend.bench.tune import Failed, Trying
from backend.errors import EngineError
from backend.forecast import Forecast
from desktop.figures import MISSING, percent
from desktop.language import counted, marked, tr
from desktop.widgets.figure_table import FigureTable
from desktop.widgets.labels import wrapped

_HEADINGS = {
    marked("Draft"): "",
    marked("Accepted"): marked("Of the replies' tokens, those that would have been the draft's first choice."),
    marked("Best length"): marked("Draft tokens a pass with the highest predicted speed."),
    marked("Speed-up"): marked(
        "Of generation against plain decoding, at that length: predicted by Eq. (2), an estimate."
    ),
}
_ROWS_SHOWN = 8
_DRAFT = Qt.ItemDataRole.UserRole
_GONE_ON = marked(
    "The models were exchanged meanwhile, or the engine stopped. The draft list takes any of these drafts."
)
_DEFINITIONS = marked(
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
        self.setWindowTitle(tr("Try drafts on my chats"))
        self._target, self._named = target, named
        self._heading = wrapped("heading")
        self._detail = wrapped("subtle")
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(tr("Progress"))
        headings = [(tr(heading), tr(says)) for heading, says in _HEADINGS.items()]
        self.table = FigureTable(tr("Drafts"), headings)
        self.table.itemSelectionChanged.connect(self._show_button)
        self.buttons = QDialogButtonBox()
        self.use = self.buttons.addButton(tr("Use this draft"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.use.setProperty("primary", True)
        self.close_ = self.buttons.addButton(tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
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
        detail = tr("A reply, a comparison or a model is on its way; this begins after it.")
        self._say(tr("Waiting for the engine"), detail)

    def show_progress(self, progress: Trying | None) -> None:
        """The trial runs."""
        if progress is None:
            self._say(tr("Reading your chats…"))
            return
        draft = self._named(progress.draft)
        doing = tr("Loading {draft}", draft=draft) if progress.loading else tr("{draft} reads the replies", draft=draft)
        if progress.of > 1:
            doing = tr("{doing} ({number} of {all})", doing=doing, number=progress.number, all=progress.of)
        self._say(doing)
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
        self.close_.setText(tr("Close"))
        judged = [one for one in found if isinstance(one, Forecast)]
        failures = [
            tr("{draft} was not tried: {why}", draft=self._named(one.draft), why=one.why)
            for one in found
            if isinstance(one, Failed)
        ]
        if not judged:
            self._say(tr("No draft could be tried"), "\n".join(failures))
            return
        best = max(judged, key=lambda one: one.speedup)
        self.table.selectRow(found.index(best))
        note = f"{_judged(best.tokens, replies, self._target)} {tr(_DEFINITIONS)}"
        self.use.show()
        verdict = _verdict(best, self._named(best.draft), in_use=best.draft == self._used)
        self._say(verdict, "\n".join([note, *failures]))
        (self.use if self.use.isEnabled() else self.close_).setFocus()

    def show_error(self, error: EngineError) -> None:
        """It ended before its end, or the engine went after it; what was found stays readable."""
        self._bar.hide()
        self.use.hide()
        self.close_.setText(tr("Close"))
        if self._over:
            self._say(self._heading.text(), tr(_GONE_ON))
            return
        few = "tokens" in error.details
        self._say(tr("Too few replies yet") if few else tr("The drafts were not tried"), error.message)

    def _add(self, row: int, one: Forecast | Failed) -> None:
        name = self._named(one.draft)
        if one.draft == self._used:
            name = tr("{draft} (in use)", draft=name)
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


def _judged(tokens: int, replies: int, target: str) -> str:
    return counted(
        "Judged on {tokens:,} tokens of {replies:,} reply that {target} wrote in your chats, without generating "
        "anything.",
        "Judged on {tokens:,} tokens of {replies:,} replies that {target} wrote in your chats, without generating "
        "anything.",
        replies,
        tokens=tokens,
        replies=replies,
        target=target,
    )


def _figures(one: Forecast | Failed) -> tuple[str, str, str]:
    if isinstance(one, Failed):
        return MISSING, MISSING, tr("not tried")
    accepted = percent(one.acceptance)
    if not one.best:
        return accepted, tr("none"), tr("plain is faster")
    return accepted, f"{one.best}", tr("≈ {ratio:.2f}×", ratio=one.speedup)


def _verdict(best: Forecast, name: str, *, in_use: bool) -> str:
    if not best.best:
        return tr("No draft here is predicted to beat plain decoding")
    which = (
        marked("{draft}, which is in use, promises the most: ≈ {ratio:.2f}× plain")
        if in_use
        else marked("{draft} promises the most: ≈ {ratio:.2f}× plain")
    )
    return tr(which, draft=name, ratio=best.speedup)
