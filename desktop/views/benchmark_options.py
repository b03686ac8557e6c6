"""What a benchmark is to measure: prompts, ways of decoding, length and repeats; and how long that will take."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from backend.bench.duration import Pace
from backend.bench.series import Series
from backend.bench.workloads import WORKLOADS, Prompt
from backend.errors import EngineError
from backend.protocol import State
from desktop.figures import forecast_time
from desktop.language import counted, figure, marked, tr
from desktop.widgets.labels import wrapped
from desktop.widgets.picker import ChoiceBox

BUILT_IN, CHAT, FILE = "three", "this chat", "file"
_SOURCES = (
    (marked("Three built-in ones: refactor, explain, tell a story"), BUILT_IN),
    (marked("My questions in this chat"), CHAT),
    (marked("A file"), FILE),
)
_NO_MODEL = marked("No model is loaded; choose one first.")
_NO_QUESTION = marked("This chat has no question yet; choose other prompts.")
NO_FILE = marked('Choose a JSON Lines file: one {"id": …, "category": …, "prompt": …} a line.')
READING = marked("Reading the file…")
_MEANWHILE = marked("Messages that you send meanwhile are answered afterwards; let the machine do nothing else.")


class BenchmarkOptions(QWidget):
    """Edits a :class:`Series`."""

    changed = Signal()
    browse = Signal()
    file_named = Signal(str)
    """A file is to be read: then :meth:`set_file`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = State()
        self._questions: tuple[Prompt, ...] = ()
        self._file: tuple[Prompt, ...] | str = tr(NO_FILE)
        """Its prompts, or why there are none."""
        self._file_name = ""
        self.source = ChoiceBox()
        for text, value in _SOURCES:
            self.source.addItem(tr(text), value)
        self.path = QLineEdit()
        self.path.setObjectName("field")
        self.path.setAccessibleName(tr("Prompt file"))
        self.path.setPlaceholderText("prompts.jsonl")
        self.pick = QPushButton(tr("Browse…"))
        self.automatic = QCheckBox(tr("Automatic: any source, the length chosen round by round"))
        self.fixed = QCheckBox(tr("Always so many drafted:"))
        self.length = _count(4, 1, 16, tr("Draft tokens a round"))
        self.again = QCheckBox(tr("Plain once more, which states the noise"))
        self.tokens = _count(128, 2, 8192, tr("Tokens a reply, at most"))
        self.repeats = _count(1, 1, 50, tr("Repeats"))
        self.says = wrapped("subtle")
        self._build()
        self._connect()
        self.refresh()

    @property
    def series(self) -> Series | None:
        """What is asked for; None while something is missing."""
        prompts = self._prompts()
        if isinstance(prompts, str) or self._state.target is None:
            return None
        name = self._file_name if self.source.currentData() == FILE else str(self.source.currentData())
        return Series(prompts, self._modes(), self.tokens.value(), self.repeats.value(), name)

    def set_state(self, state: State) -> None:
        """What is loaded, and what its passes cost."""
        self._state = state
        self.refresh()

    def set_questions(self, questions: Sequence[str]) -> None:
        """What was asked in the chat on screen."""
        self._questions = tuple(Prompt(f"question {n}", CHAT, text) for n, text in enumerate(questions, 1))
        self.source.setItemText(1, tr("My questions in this chat ({questions})", questions=len(questions)))
        self.refresh()

    def set_file(self, name: str, found: Sequence[Prompt] | EngineError) -> None:
        """What came of reading the file of that name."""
        self._file_name = name
        self._file = found.message if isinstance(found, EngineError) else tuple(found)
        self.refresh()

    def refresh(self) -> None:
        """Say how long it will take, or what is missing."""
        self.length.setEnabled(self.fixed.isChecked())
        of_file = self.source.currentData() == FILE
        self._form.setRowVisible(self._file_row, of_file)
        series, prompts = self.series, self._prompts()
        if series is not None:
            self.says.setText(f"{forecast(series, self._state)} {tr(_MEANWHILE)}")
        else:
            self.says.setText(prompts if isinstance(prompts, str) else tr(_NO_MODEL))
        self.changed.emit()

    def _prompts(self) -> tuple[Prompt, ...] | str:
        """Or what is missing."""
        match self.source.currentData():
            case "file":
                return self._file
            case "this chat":
                return self._questions or tr(_NO_QUESTION)
            case _:
                return WORKLOADS[BUILT_IN]

    def _modes(self) -> tuple[str, ...]:
        chosen = {
            "auto": self.automatic.isChecked(),
            f"fixed:{self.length.value()}": self.fixed.isChecked(),
            "plain#2": self.again.isChecked(),
        }
        return "plain", *(name for name, wanted in chosen.items() if wanted)

    def _read(self) -> None:
        if name := self.path.text().strip():
            self._file = tr(READING)
            self.refresh()
            self.file_named.emit(name)

    def _build(self) -> None:
        always = QCheckBox(tr("Plain: the target alone, what the others are compared with"))
        always.setChecked(True)
        always.setEnabled(False)
        for box in (self.automatic, self.again):
            box.setChecked(True)
        self._file_row, fixed, ways = QWidget(), QHBoxLayout(), QVBoxLayout()
        file = QHBoxLayout(self._file_row)
        file.setContentsMargins(0, 0, 0, 0)
        file.addWidget(self.path, 1)
        file.addWidget(self.pick)
        fixed.addWidget(self.fixed)
        fixed.addWidget(self.length)
        fixed.addStretch(1)
        ways.setSpacing(6)
        ways.addWidget(always)
        ways.addWidget(self.automatic)
        ways.addLayout(fixed)
        ways.addWidget(self.again)
        self._form = form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        form.setVerticalSpacing(10)
        self.source.setAccessibleName(tr("Prompts"))
        form.addRow(tr("Prompts"), self.source)
        form.addRow("", self._file_row)
        form.addRow(tr("Ways"), ways)
        form.addRow(tr("Tokens a reply"), self.tokens)
        form.addRow(tr("Repeats"), self.repeats)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addLayout(form)
        layout.addWidget(self.says)
        layout.addStretch(1)

    def _connect(self) -> None:
        self.source.currentIndexChanged.connect(self.refresh)
        for box in (self.automatic, self.fixed, self.again):
            box.toggled.connect(self.refresh)
        for number in (self.length, self.tokens, self.repeats):
            number.valueChanged.connect(self.refresh)
        self.pick.clicked.connect(self.browse)
        self.path.editingFinished.connect(self._read)


def forecast(series: Series, state: State) -> str:
    """How much it is, and about how long it will take."""
    turns, asked = len(series.turns()), len(series.prompts)
    prompts = counted("{prompts} prompt", "{prompts} prompts", asked, prompts=figure(asked, ","))
    replies = counted("{replies} reply", "{replies} replies", turns, replies=figure(turns, ","))
    left = Pace(series, state.cost, has_draft=state.draft is not None).left()
    if left is None:
        return tr(
            "{prompts}, {replies}. How long they take is known once the first is measured.",
            prompts=prompts,
            replies=replies,
        )
    return tr(
        "{prompts}, {replies}: about {time} by what passes cost here, less where replies end early.",
        prompts=prompts,
        replies=replies,
        time=forecast_time(left),
    )


def _count(value: int, low: int, high: int, name: str) -> QSpinBox:
    box = QSpinBox()
    box.setObjectName("field")
    box.lineEdit().setTextMargins(6, 0, 6, 0)  # a sheet's padding does not reach it
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    box.setRange(low, high)
    box.setValue(value)
    box.setGroupSeparatorShown(True)
    box.setAccessibleName(name)
    box.setToolTip(tr("From {low} to {high}.", low=low, high=figure(high, ",")))
    return box
