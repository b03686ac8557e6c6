"""The dialog of a benchmark: what to measure, how far it has come, and the report."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QCloseEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QProgressBar, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from backend.bench.duration import in_words
from backend.bench.report import ALL, Divergence, Ratio, Row
from backend.bench.series import Series, Turn
from backend.bench.words import margins
from backend.errors import EngineError, ErrorCode
from desktop.figures import MISSING
from desktop.models.report import Report
from desktop.theme.units import lines
from desktop.views.benchmark_options import BenchmarkOptions
from desktop.widgets.figure_table import FigureTable
from desktop.widgets.labels import wrapped

_HEADINGS = {
    "Prompts": "Their category.",
    "Way": "How replies were decoded.",
    "tok/s": "Generation: (tokens - 1) ÷ time from the prompt's end to the last token.",
    "Generation": "How many times as fast as plain, by milliseconds a token; with the 95 % interval over prompts.",
    "Whole request": "The same of the whole time, reading the prompt included.",
    "Accepted": "Draft tokens that the target kept ÷ draft tokens that it checked.",
    "Tokens/pass": "Tokens ÷ passes of the target after the prompt. Plain decoding makes 1.",
    "Same text": "Replies with plain's text, token by token.",
    "Lead": "Where texts differ: the largest lead of a token over its second best at the first difference. Small is a "
    "near-tie, which passes of different sizes round differently.",
}
_WAYS = {"plain": "Plain", "auto": "Automatic"}
_DIFFERENCES = 5
"""That are listed; the saved report has all."""


class BenchmarkDialog(QDialog):
    """Shows and asks; what is asked for is done elsewhere. Closed and opened again, it shows what it showed."""

    started = Signal(object)
    """Series."""
    stopped = Signal()
    copied = Signal()
    saved = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Measure this pair")
        self.options = BenchmarkOptions()
        self.heading, self.detail, self.more, self.note = (
            wrapped(name) for name in ("heading", "subtle", "subtle", "subtle")
        )
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress")
        self.table = FigureTable("Report", _HEADINGS, names=2, whole=True)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.options)
        self._pages.addWidget(self._found())
        self.start, self.stop, self.anew = QPushButton("Measure"), QPushButton("Stop"), QPushButton("Measure again…")
        self.copy, self.save, self.close_ = QPushButton("Copy as text"), QPushButton("Save…"), QPushButton("Close")
        self._running = False
        self._build()
        self.ask()

    @property
    def text(self) -> str:
        """Everything it says at the moment (tests)."""
        shown = (self.heading, self.detail, self.more, self.note, self.options.says)
        return " ".join(label.text() for label in shown if label.isVisible())

    def ask(self) -> None:
        """What is to be measured?"""
        self._pages.setCurrentIndex(0)
        self._say("How much faster is this pair here?", "All ways in turn, with the same prompts, on this machine.")
        self._buttons(self.start, self.close_)

    def show_waiting(self) -> None:
        """Something else decodes."""
        self._show_run("Waiting for the engine", "A reply, a comparison or a model is on its way; this comes after it.")
        self.bar.setValue(0)

    def show_warming(self) -> None:
        """A few tokens each way, which do not count."""
        self._show_run("Warming up", "Each way writes a few tokens that do not count. Messages wait until the end.")
        self.bar.setValue(0)

    def show_progress(self, series: Series, done: int, turn: Turn, left: float | None, report: Report | None) -> None:
        """A reply is measured.

        Args:
            series: what is measured.
            done: replies so far.
            turn: the one on its way.
            left: milliseconds for the rest.
            report: of those so far.
        """
        of = len(series.turns())
        at = series.prompts.index(turn.prompt) + 1
        repeat = f", repeat {turn.repeat + 1} of {series.repeats}" if series.repeats > 1 else ""
        rest = f", about {in_words(left)} left" if left is not None else ""
        where = f"Prompt {at} of {len(series.prompts)} ({turn.prompt.id}), {way(turn.mode).lower()}{repeat}."
        self._show_run(f"Reply {done + 1:,} of {of:,}{rest}", f"{where} Messages wait until the end.")
        self.bar.setValue(round(1000 * done / of))
        self._show_rows(report.rows if report is not None else ())

    def show_end(self, report: Report | None, of: int, error: EngineError | None) -> None:
        """It is over, before its end where there is an error."""
        done = len(report.runs) if report is not None else 0
        ended = _ended(error, done, of)
        verdict = report.verdict if report is not None else ""
        self._pages.setCurrentIndex(1)
        self.bar.hide()
        self._say(verdict or (ended if error else f"{done:,} replies measured."), report.noise if report else "")
        parts = [ended if error is not None and verdict else "", _differences(report.differences) if report else ""]
        self.more.setText("\n\n".join(filter(None, parts)))
        self.more.setVisible(bool(self.more.text()))
        self.note.setVisible(report is not None)
        self._show_rows(report.rows if report is not None else ())
        kept = (self.copy, self.save) if report is not None else ()
        self._buttons(self.anew, *kept, self.close_)
        QAccessible.updateAccessibility(QAccessibleEvent(self.heading, QAccessible.Event.Alert))

    def say(self, note: str) -> None:
        """What came of copying or saving."""
        self.note.setText(note)
        QAccessible.updateAccessibility(QAccessibleEvent(self.note, QAccessible.Event.Alert))

    def reject(self) -> None:
        """Esc stops what runs, and closes when nothing does."""
        if self._running:
            self.stopped.emit()
        else:
            super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._running:
            self.stopped.emit()
        super().closeEvent(event)

    def _found(self) -> QWidget:
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for part in (self.bar, self.table, self.more, self.note):
            layout.addWidget(part, 1 if part is self.table else 0)
        layout.addStretch(0)
        return page

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for button in (self.anew, self.copy, self.save, self.stop, self.close_, self.start):
            row.addWidget(button)
        self.start.setProperty("primary", True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 14)
        layout.setSpacing(8)
        layout.addWidget(self.heading)
        layout.addWidget(self.detail)
        layout.addSpacing(4)
        layout.addWidget(self._pages, 1)
        layout.addLayout(row)
        self.setMinimumSize(420, 300)
        self.resize(lines(self, 54), lines(self, 29))
        self.start.clicked.connect(self._begin)
        self.stop.clicked.connect(self.stopped)
        self.anew.clicked.connect(self.ask)
        self.copy.clicked.connect(self.copied)
        self.save.clicked.connect(self.saved)
        self.close_.clicked.connect(self.close)
        self.options.changed.connect(self._show_start)

    def _begin(self) -> None:
        if (series := self.options.series) is not None:
            self.note.setText("")
            self.started.emit(series)

    def _show_start(self) -> None:
        self.start.setEnabled(self.options.series is not None)

    def _show_run(self, heading: str, detail: str) -> None:
        if not self._running:
            self._pages.setCurrentIndex(1)
            self._show_rows(())
            self.bar.show()
            self.more.hide()
            self.note.hide()
            self._buttons(self.stop)
            self._running = True
        self._say(heading, detail)

    def _show_rows(self, rows: Sequence[Row]) -> None:
        """All prompts together first; what has no figures yet is left out."""
        shown = sorted((row for row in rows if row.tokens), key=lambda row: row.category != ALL)
        self.table.setRowCount(min(self.table.rowCount(), len(shown)))
        for n, row in enumerate(shown):
            self.table.set_row(n, cells(row))
        self.table.setVisible(bool(shown))

    def _say(self, heading: str, detail: str) -> None:
        self.heading.setText(heading)
        self.detail.setText(detail)
        self.detail.setVisible(bool(detail))

    def _buttons(self, *shown: QPushButton) -> None:
        self._running = False
        for button in (self.anew, self.copy, self.save, self.stop, self.close_, self.start):
            button.setVisible(button in shown)
        first = shown[0]
        first.setDefault(True)
        first.setFocus()
        self._show_start()


def way(mode: str) -> str:
    """A mode in words."""
    name, _, again = mode.partition("#")
    kind, _, length = name.partition(":")
    said = _WAYS.get(kind) or f"{length} drafted"
    return f"{said} again" if again else said


def cells(row: Row) -> tuple[str, ...]:
    """A row of the report as texts."""
    return (
        "All" if row.category == ALL else row.category,
        way(row.mode),
        _shown(row.tokens_per_second, "{:.1f}"),
        _ratio(row.generation),
        _ratio(row.request),
        _shown(row.acceptance, "{:.0%}").replace("%", " %"),
        _shown(row.tokens_per_pass, "{:.2f}"),
        f"{row.equal}/{row.compared}" if row.compared else MISSING,
        _shown(row.worst_margin, "{:.3g}"),
    )


def _ratio(ratio: Ratio | None) -> str:
    if ratio is None:
        return MISSING
    interval = f" ({ratio.low:.2f} to {ratio.high:.2f})" if ratio.prompts > 1 else ""
    return f"{ratio.value:.2f}×{interval}"


def _shown(value: float | None, form: str) -> str:
    return MISSING if value is None else form.format(value)


def _ended(error: EngineError | None, done: int, of: int) -> str:
    if error is None:
        return ""
    after = f" after {done:,} of {of:,} replies" if done else " before the first reply was measured"
    if error.code is ErrorCode.CANCELLED:
        return f"Stopped{after}."
    return f"It ended{after}. {error.message[:1].upper()}{error.message[1:]}"


def _differences(found: Sequence[Divergence]) -> str:
    if not found:
        return ""
    more = f"\n… and {len(found) - _DIFFERENCES:,} more in the saved report." if len(found) > _DIFFERENCES else ""
    listed = "\n".join(
        f"{way(d.mode)}, {d.prompt_id}, repeat {d.repeat + 1}, token {d.index + 1}: {margins(d)}"
        for d in found[:_DIFFERENCES]
    )
    return f"Where texts leave plain's, and the lead of either token over its second best there:\n{listed}{more}"
