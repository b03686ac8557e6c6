"""Compare: the same reply with and without speculation, run now, side by side; then what the difference was."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from backend.errors import EngineError
from backend.protocol import Comparison, Delta, PromptProgress, Timings
from desktop.figures import count, figures
from desktop.language import counted, figure, marked, tr
from desktop.maths.typesetter import Typesetter
from desktop.models.thinking import tagged
from desktop.shortcuts import key_text
from desktop.signs import seen
from desktop.theme.icons import IconButton
from desktop.theme.units import lines
from desktop.views.difference import ENDS, Excerpt, excerpts
from desktop.widgets.blocks import BlockView
from desktop.widgets.divided import Divided
from desktop.words import notice

_NOISE = 0.02
"""Two plain runs differ by about this much on a quiet machine, so less is no difference."""
_TITLES = {"plain": marked("Plain"), "speculation": marked("With speculation")}


class CompareView(QWidget):
    """Shows one comparison from its start to its verdict."""

    closed = Signal()

    def __init__(self, maths: Typesetter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        back = IconButton("left", tr("Back to the chat"), text=True, shortcut=key_text("stop"))
        back.clicked.connect(self.closed)
        self._note = ""
        self._verdict = QLabel()
        self._verdict.setObjectName("verdict")
        self._detail = QLabel()
        self._detail.setObjectName("subtle")
        for label in (self._verdict, self._detail):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.panes = {side: Pane(tr(title), maths) for side, title in _TITLES.items()}
        self._split = Divided("compared", 1000, 1000)
        self._split.setHandleWidth(12)
        for pane in self.panes.values():
            self._split.addWidget(pane)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 10, 16, 14)
        layout.setSpacing(8)
        layout.addWidget(back, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._verdict)
        layout.addWidget(self._detail)
        layout.addWidget(self._split, 1)

    @property
    def text(self) -> str:
        """Verdict and detail (tests)."""
        return f"{self._verdict.text()} {self._detail.text()}"

    def begin(self, expected: int | None, note: str = "") -> None:
        """A new comparison.

        Args:
            expected: tokens that each side will make, if known.
            note: what a person should know about it, said as long as it is shown.
        """
        self._note = note
        detail = tr("The same prompt under the same seed, with and without speculation, on this machine.")
        self._say(tr("Comparing…"), detail)
        for pane in self.panes.values():
            pane.begin(expected)

    def on_prompt(self, side: str, progress: PromptProgress) -> None:
        """A side reads the prompt."""
        if side in self.panes:
            for pane in self.panes.values():  # it is read once for both
                pane.opened = progress.thinking
            done, total = count(progress.done), count(progress.total)
            self.panes[side].set_state(tr("Reading prompt {done}/{total}", done=done, total=total))

    def on_delta(self, side: str, delta: Delta) -> None:
        """A side wrote something."""
        if side in self.panes:
            self.panes[side].add(delta)

    def show_result(self, result: Comparison, note: str = "") -> None:
        """Both are done; ``note`` as in :meth:`begin`."""
        self._note = note
        self._say(verdict(result), explanation(result))
        self.panes["plain"].finish(result.plain_text, result.plain)
        self.panes["speculation"].finish(result.speculation_text, result.speculation)
        if found := excerpts(result):
            for pane, excerpt in zip(self.panes.values(), found, strict=True):
                pane.show_difference(excerpt)

    def show_error(self, error: EngineError) -> None:
        """It did not come to an end."""
        made = notice(error)
        self._say(made.title, made.detail)
        for pane in self.panes.values():
            pane.end(tr("Not finished"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._split.stack(self.width() < lines(self, 35))

    def _say(self, verdict: str, detail: str) -> None:
        self._verdict.setText(verdict)
        self._detail.setText(f"{detail} {self._note}".strip())


class Pane(QFrame):
    """One side: its text as it is written, its figures, and where it parts from the other."""

    difference: Excerpt | None = None

    def __init__(self, title: str, maths: Typesetter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pane")
        self.setMinimumSize(120, 80)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        heading = QLabel(title)
        heading.setObjectName("heading")
        self._figures = QLabel()
        self._figures.setObjectName("subtle")
        self._figures.setAlignment(Qt.AlignmentFlag.AlignRight)
        for label in (heading, self._figures):
            label.setWordWrap(True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(tr("{side}: progress", side=title))
        self._difference = QLabel()
        self._difference.setTextFormat(Qt.TextFormat.RichText)
        self._difference.setWordWrap(True)
        self._difference.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._difference.hide()
        self._blocks = BlockView(maths=maths)
        self._expected: int | None = None
        self._text = ""
        self.opened = False
        """See ``models.thinking``."""
        head = QHBoxLayout()
        head.addWidget(heading)
        head.addWidget(self._figures, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 10, 8, 8)
        layout.addLayout(head)
        layout.addWidget(self._bar)
        layout.addWidget(self._difference)
        layout.addWidget(self._scrolled(title), 1)

    def _scrolled(self, title: str) -> QScrollArea:
        inside = QWidget()
        inside.setObjectName("column")
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 4, 0)
        column.addWidget(self._blocks)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("scroll")
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        scroll.setAccessibleName(tr("{side}: text", side=title))
        return scroll

    @property
    def text(self) -> str:
        """What this side wrote."""
        return self._text

    def begin(self, expected: int | None) -> None:
        """Empty, before its first word; ``expected`` = tokens that it will make, if known."""
        self._text, self._expected, self.opened = "", expected, False
        self.difference = None
        self._difference.hide()
        self._blocks.show_markdown("", complete=True)
        self._bar.setRange(0, expected or 0)
        self._bar.setValue(0)
        self._bar.show()
        self.set_state(tr("Waiting"))

    def set_state(self, text: str) -> None:
        """What it does, in place of figures."""
        self._figures.setText(text)

    def add(self, delta: Delta) -> None:
        """More of its text."""
        self._text += delta.text
        self._blocks.show_markdown(tagged(self._text, self.opened), complete=False)
        if self._expected:
            self._bar.setValue(min(delta.timings.predicted_n, self._expected))
        self._show(delta.timings)

    def finish(self, text: str, timings: Timings) -> None:
        """All of its text, and what it took."""
        self._text = text
        self._blocks.show_markdown(tagged(text, self.opened), complete=True)
        self._show(timings)
        self._bar.hide()

    def show_difference(self, excerpt: Excerpt) -> None:
        """Where this text parts from the other."""
        self.difference = excerpt
        self._difference.setText(excerpt.html())
        self._difference.setAccessibleName(
            tr("First difference: {before}, then {token}", before=excerpt.before, token=excerpt.token or tr("the end"))
        )
        self._difference.show()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.difference is not None:
            self._difference.setText(self.difference.html())

    def end(self, state: str) -> None:
        """It did not come to its end."""
        self._bar.hide()
        self.set_state(state)

    def _show(self, timings: Timings) -> None:
        shown = figures(timings)
        made = timings.predicted_n
        tokens = counted("{tokens} token", "{tokens} tokens", made, tokens=figure(made, ","))
        self.set_state(" · ".join([shown.rate, *([shown.accepted] if timings.draft_n else []), tokens]))


def measured(result: Comparison) -> bool:
    """Whether there was anything to time: a single token comes with the prompt."""
    return min(result.plain.predicted_n, result.speculation.predicted_n) > 1


def verdict(result: Comparison) -> str:
    """``1.84× faster, texts identical``."""
    ratio = result.generation_ratio
    if not measured(result):
        speed = tr("Too short to measure a speed")
    elif ratio >= 1 + _NOISE:
        speed = tr("{ratio}× faster with speculation", ratio=figure(ratio, ".2f"))
    elif 0 < ratio <= 1 - _NOISE:
        speed = tr("{ratio}× slower with speculation", ratio=figure(1 / ratio, ".2f"))
    elif ratio > 0:
        speed = tr("About equally fast ({ratio}×)", ratio=figure(ratio, ".2f"))
    else:
        speed = tr("No speed measured")
    return tr("{speed}, texts identical", speed=speed) if result.identical else tr("{speed}, texts differ", speed=speed)


def explanation(result: Comparison) -> str:
    """The whole request's ratio, and the first difference with both tokens, their margins and why."""
    parts = []
    if measured(result):
        parts.append(tr("Whole request, prompt included: {ratio}×.", ratio=figure(result.request_ratio, ".2f")))
    parts.append(tr("Seed {seed}.", seed=result.seed))
    if (found := result.difference) is not None:
        first = tr(
            "First difference at token {token}: “{plain}” plain, “{other}” with speculation (lead over the runner-up: "
            "{plain_lead} plain, {other_lead} with speculation).",
            token=found.index + 1,
            plain=seen(found.plain_text) or tr(ENDS),
            other=seen(found.other_text) or tr(ENDS),
            plain_lead=f"{found.margin_plain:.3g}",
            other_lead=f"{found.margin_other:.3g}",
        )
        parts += [first, found.explanation]
    if not result.interleaved:
        parts.append(tr("The two ran one after the other, not interleaved: other load on the machine may count."))
    return " ".join(parts)
