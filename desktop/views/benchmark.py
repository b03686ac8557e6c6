"""The dialog of a benchmark: what to measure, how far it has come, and the report."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QCloseEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QProgressBar, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from backend.bench.report import Row
from backend.bench.series import Series, Turn
from backend.bench.workloads import ALL
from backend.errors import EngineError
from desktop.language import tr
from desktop.models.report import Report
from desktop.theme.units import lines
from desktop.views.benchmark_options import BenchmarkOptions
from desktop.views.benchmark_words import cells, differences, ending, headings, progress, where
from desktop.widgets.figure_table import FigureTable
from desktop.widgets.labels import wrapped


class BenchmarkDialog(QDialog):
    """Shows and asks; what is asked for is done elsewhere. Closed and opened again, it shows what it showed."""

    started = Signal(object)
    """Series."""
    stopped = Signal()
    copied = Signal()
    saved = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Measure this pair"))
        self.options = BenchmarkOptions()
        self.heading, self.detail, self.more, self.note = (
            wrapped(name) for name in ("heading", "subtle", "subtle", "subtle")
        )
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress"))
        self.table = FigureTable(tr("Report", note="a noun"), headings(), names=2, whole=True)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.options)
        self._pages.addWidget(self._found())
        self.start, self.stop = QPushButton(tr("Measure")), QPushButton(tr("Stop"))
        self.anew, self.close_ = QPushButton(tr("Measure again…")), QPushButton(tr("Close"))
        self.copy, self.save = QPushButton(tr("Copy as text")), QPushButton(tr("Save…"))
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
        detail = tr("All ways in turn, with the same prompts, on this machine.")
        self._say(tr("How much faster is this pair here?"), detail)
        self._buttons(self.start, self.close_)

    def show_waiting(self) -> None:
        """Something else decodes."""
        detail = tr("A reply, a comparison or a model is on its way; this comes after it.")
        self._show_run(tr("Waiting for the engine"), detail)
        self.bar.setValue(0)

    def show_warming(self) -> None:
        """A few tokens each way, which do not count."""
        detail = tr("Each way writes a few tokens that do not count. Messages wait until the end.")
        self._show_run(tr("Warming up"), detail)
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
        self._show_run(progress(done + 1, of, left), where(series, turn))
        self.bar.setValue(round(1000 * done / of))
        self._show_rows(report.rows if report is not None else ())

    def show_end(self, report: Report | None, of: int, error: EngineError | None) -> None:
        """It is over, before its end where there is an error."""
        done = len(report.runs) if report is not None else 0
        ended = ending(error, done, of)
        verdict = report.verdict if report is not None else ""
        self._pages.setCurrentIndex(1)
        self.bar.hide()
        self._say(verdict or ended, report.noise if report else "")
        parts = [ended if error is not None and verdict else "", differences(report.differences) if report else ""]
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
