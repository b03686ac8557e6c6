"""Runs the benchmark dialog: reads prompts, begins and stops, and hands the report on; files are beside the window."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from backend.bench.workloads import Prompt, load_prompts
from backend.documents import asked
from backend.errors import EngineError, ErrorCode
from backend.outputs import checked, write_whole
from desktop.bridge import EngineBridge
from desktop.errands import Errands
from desktop.language import marked, tr
from desktop.models.benchmark import Benchmark
from desktop.models.conversation import Conversation
from desktop.models.engine import Engine
from desktop.models.report import Report
from desktop.settings import SettingsFile
from desktop.views.benchmark import BenchmarkDialog
from desktop.views.comparing import Comparing

log = logging.getLogger(__name__)
_TICK_MS = 500
_PAGE, _FIGURES = marked("A page with plots ({files})"), marked("All figures ({files})")


class Benchmarking(QObject):
    """One dialog, not modal, that keeps its report for as long as the program runs."""

    def __init__(
        self,
        bridge: EngineBridge,
        engine: Engine,
        settings: SettingsFile,
        conversation: Conversation,
        comparing: Comparing,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._engine, self._conversation, self._window = engine, conversation, window
        self.benchmark = Benchmark(bridge, engine, settings, lambda: conversation.running or comparing.running, self)
        self.dialog: BenchmarkDialog | None = None
        self._errands = Errands("benchmark", self)
        self._clock = QTimer(self, interval=_TICK_MS)
        self._clock.timeout.connect(self._show)
        self.benchmark.changed.connect(self._show)
        engine.changed.connect(self._show_state)
        conversation.opened.connect(lambda _: self._show_questions())
        conversation.appended.connect(lambda _: self._show_questions())
        conversation.running_changed.connect(lambda _: self.benchmark.look())
        comparing.running_changed.connect(lambda _: self.benchmark.look())

    def open(self) -> None:
        """Show the dialog: with what it measures or has measured, else with what there is to measure."""
        if self.dialog is None:
            self.dialog = self._made()
        self._show_state()
        self._show_questions()
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    def leave(self) -> None:
        """The window closes."""
        self.benchmark.stop()
        if self.dialog is not None:
            self.dialog.close()

    def close(self) -> None:
        """Wait for what is being written."""
        self._errands.close()

    def copy(self) -> None:
        """The report as text, to the clipboard."""
        if (report := self.benchmark.report) is not None:
            self._beside(report.text, self._copied, self._failed)

    def save(self) -> None:
        """Ask for the place."""
        page, figures = tr(_PAGE, files="*.html"), tr(_FIGURES, files="*.json")
        name, kind = QFileDialog.getSaveFileName(
            self.dialog, tr("Save the report"), "tandem-benchmark.html", f"{page};;{figures}"
        )
        if name:
            path = Path(name)
            if path.suffix.lower() not in (".html", ".htm", ".json"):
                path = path.with_name(f"{path.name}{'.json' if kind == figures else '.html'}")
            self.save_to(path, figures=path.suffix.lower() == ".json")

    def save_to(self, path: Path, *, figures: bool) -> None:
        """Write the file, whole or not at all: all figures, or the page."""
        report = self.benchmark.report
        if report is not None and self.dialog is not None:
            self.dialog.say(tr("Saving…"))
            said = tr("Saved to {path}.", path=path)
            self._beside(lambda: _write(path, report, figures), lambda _: self._say(said), self._failed)

    def read(self, name: str) -> None:
        """The prompts of a file."""

        def take(found: list[Prompt] | EngineError) -> None:
            if self.dialog is not None and self.dialog.options.path.text().strip() == name:
                self.dialog.options.set_file(Path(name).name, found)

        self._beside(lambda: _prompts(Path(name)), take, take)

    # -- the dialog

    def _made(self) -> BenchmarkDialog:
        dialog = BenchmarkDialog(self._window)
        dialog.started.connect(self.benchmark.begin)
        dialog.stopped.connect(self.benchmark.stop)
        dialog.copied.connect(self.copy)
        dialog.saved.connect(self.save)
        dialog.options.browse.connect(self._browse)
        dialog.options.file_named.connect(self.read)
        return dialog

    def _browse(self) -> None:
        kinds = f"{tr('JSON Lines ({files})', files='*.jsonl *.ndjson *.json')};;{tr('All files (*)')}"
        name, _ = QFileDialog.getOpenFileName(self.dialog, tr("Prompts"), "", kinds)
        if name and self.dialog is not None:
            self.dialog.options.path.setText(name)
            self.dialog.options.path.editingFinished.emit()

    def _show(self) -> None:
        dialog, benchmark = self.dialog, self.benchmark
        if dialog is None or benchmark.series is None:
            return
        if benchmark.phase == "waiting":
            dialog.show_waiting()
        elif benchmark.phase == "warming":
            dialog.show_warming()
        elif (turn := benchmark.next) is not None:
            dialog.show_progress(benchmark.series, len(benchmark.runs), turn, benchmark.left, benchmark.report)
        elif benchmark.phase == "over" and self._clock.isActive():
            dialog.show_end(benchmark.report, len(benchmark.series.turns()), benchmark.error)
            QApplication.alert(dialog)
        self._tick(benchmark.under_way)

    def _tick(self, on: bool) -> None:
        if on and not self._clock.isActive():
            self._clock.start()
        elif not on:
            self._clock.stop()

    def _show_state(self) -> None:
        if self.dialog is not None:
            self.dialog.options.set_state(self._engine.state)

    def _show_questions(self) -> None:
        if self.dialog is not None:
            own = [asked(m.content, m.attachments) for m in self._conversation.messages if m.role == "user"]
            self.dialog.options.set_questions([text for text in own if text.strip()])

    def _say(self, text: str) -> None:
        if self.dialog is not None:
            self.dialog.say(text)

    def _copied(self, text: str) -> None:
        QApplication.clipboard().setText(text)
        self._say(tr("Copied."))

    def _failed(self, error: EngineError) -> None:
        self._say(error.message)

    # -- beside the window

    def _beside(
        self, work: Callable[[], Any], good: Callable[[Any], object], bad: Callable[[EngineError], object]
    ) -> None:
        def failed(error: Exception) -> None:
            if not isinstance(error, EngineError):
                log.error("the benchmark's file work failed", exc_info=error)
                said = tr("Tandem hit a fault of its own: {fault}. The log has the details.", fault=repr(error))
                error = EngineError(ErrorCode.BUG, said)
            bad(error)

        self._errands.run(work, good, failed)


def _prompts(path: Path) -> list[Prompt]:
    if path.exists() and not (path.is_file() or path.is_dir()):  # reading a pipe may never end
        said = tr("{path} is a device or a pipe; choose a file.", path=path)
        raise EngineError(ErrorCode.BAD_REQUEST, said)
    return load_prompts(path)


def _write(path: Path, report: Report, figures: bool) -> None:
    with checked([path], []):
        write_whole(path, report.json() if figures else report.page())
