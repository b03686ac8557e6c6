"""The panel's plots, drawn by pyqtgraph in the window's colours. Each has its numbers in words below it.

To be imported when the panel is opened: pyqtgraph takes a while to load.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QSlider, QVBoxLayout, QWidget

from backend.equations import expected_tokens
from desktop.figures import percent
from desktop.language import tr
from desktop.models.insight import CURVES, SHOWN_ROUNDS, Bar
from desktop.theme.tokens import tokens_now
from desktop.theme.units import lines

_STEPS = [n / 50 for n in range(51)]


class Plot(QWidget):
    """One plot under its heading, with a sentence below."""

    def __init__(self, heading: str, x: str, y: str) -> None:
        super().__init__()
        title = QLabel(heading)
        title.setObjectName("heading")
        title.setWordWrap(True)
        self.words = QLabel()
        self.words.setObjectName("subtle")
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.plot = pg.PlotWidget(background=None)
        self.plot.setAccessibleName(heading)
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setMenuEnabled(False)
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.hideButtons()
        self._axes = {"bottom": x, "left": y}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (title, self.plot, self.words):
            layout.addWidget(widget)
        self._fit()
        self._paint()

    def set_words(self, text: str) -> None:
        """What the plot says, in words."""
        self.words.setText(text)
        self.plot.setAccessibleDescription(text)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_axes"):
            self._paint()
        elif event.type() == QEvent.Type.FontChange and hasattr(self, "_axes"):
            self._fit()

    def _fit(self) -> None:
        self.plot.setFixedHeight(lines(self, 8.3))
        for side in self._axes:
            self.plot.getAxis(side).setStyle(tickFont=self.font())
            self.plot.getAxis(side).label.setFont(self.font())

    def _paint(self) -> None:
        tokens = tokens_now()
        self.plot.setBackground(tokens.page)
        for side, text in self._axes.items():
            axis = self.plot.getAxis(side)
            axis.setPen(tokens.line)
            axis.setTextPen(tokens.subtle)
            axis.setLabel(text, color=tokens.subtle.name())


class RatePlot(Plot):
    """Tokens per second over the reply."""

    def __init__(self) -> None:
        super().__init__(tr("Speed"), tr("s", note="seconds"), tr("tok/s"))
        self._line = self.plot.plot([], [])

    def show_points(self, points: Sequence[tuple[float, float]], words: str) -> None:
        """(seconds, rate)."""
        self._line.setPen(_pen(tokens_now().accent))
        self._line.setData([x for x, _ in points], [y for _, y in points])
        self.plot.setYRange(0, max((y for _, y in points), default=1.0) * 1.1)
        self.plot.setVisible(bool(points))
        self.set_words(words)


class PositionPlot(Plot):
    """How many of the draft tokens at each place stood."""

    def __init__(self) -> None:
        super().__init__(tr("Accepted by place in the draft"), tr("place"), tr("share"))
        self._bars = pg.BarGraphItem(x=[], height=[], width=0.7)
        self.plot.addItem(self._bars)
        self.plot.setYRange(0, 1)

    def show_shares(self, shares: Sequence[float]) -> None:
        """Of each place, the first first."""
        accent = tokens_now().accent
        self._bars.setOpts(x=list(range(1, len(shares) + 1)), height=list(shares), brush=accent, pen=_pen(accent))
        self.plot.setVisible(bool(shares))
        listed = ", ".join(map(percent, shares))
        nothing = tr("Nothing was drafted in this reply.")
        self.set_words(tr("Place by place: {shares}.", shares=listed) if shares else nothing)


class EquationPlot(Plot):
    """Eq. (1) for some draft lengths, and where this reply stands."""

    def __init__(self) -> None:
        super().__init__(tr("Tokens a pass, by acceptance"), tr("acceptance"), tr("tokens a pass"))
        self._curves = [self.plot.plot([], []) for _ in range(len(CURVES) + 1)]
        self._point = self.plot.plot([], [], symbol="o", symbolSize=9)
        self.plot.setXRange(0, 1)

    def show_reply(self, alpha: float | None, k: int, came: float | None, words: str) -> None:
        """``k`` = the reply's own draft length, 0 = it had none."""
        tokens = tokens_now()
        styles = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.SolidLine)
        for curve, length, style in zip(self._curves, (*CURVES, k), styles, strict=True):
            shown = _STEPS if length else []
            curve.setPen(_pen(tokens.accent if style == Qt.PenStyle.SolidLine else tokens.subtle, style))
            curve.setData(shown, [expected_tokens(a, length) for a in shown])
        here = alpha is not None and came is not None
        self._point.setSymbolBrush(tokens.accent)
        self._point.setSymbolPen(_pen(tokens.page))
        self._point.setData([alpha] if here else [], [came] if here else [])
        curves = tr("Eq. (1) for drafts of {one} (dashed) and {other} (dotted).", one=CURVES[0], other=CURVES[1])
        self.set_words(f"{curves} {words}")


class TimelinePlot(Plot):
    """Some rounds of the reply: drafting, the pass, and the rest; above them, plain decoding's passes."""

    moved = Signal()
    """Others are to be shown."""

    def __init__(self) -> None:
        super().__init__(tr("Rounds"), tr("ms"), "")
        self.last = QSlider(Qt.Orientation.Horizontal)
        self.last.setAccessibleName(tr("Which rounds are shown"))
        self.last.setRange(SHOWN_ROUNDS, SHOWN_ROUNDS)
        self.last.valueChanged.connect(self.moved)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(layout.indexOf(self.words), self.last)
        self._bars = [pg.BarGraphItem(x0=[], width=[], y0=[], height=[]) for _ in range(3)]
        self._plain = pg.BarGraphItem(x0=[], width=[], y0=[], height=[])
        for item in (*self._bars, self._plain):
            self.plot.addItem(item)
        self.plot.getAxis("left").setTicks([[(0.5, tr("rounds")), (1.7, tr("plain"))]])
        self.plot.setYRange(0, 2.2)

    def place(self, of: int) -> slice:
        """Which of so many rounds are to be shown: the last ones, until a person looks at others."""
        at_end = self.last.value() == self.last.maximum()
        with QSignalBlocker(self.last):
            self.last.setMaximum(max(of, SHOWN_ROUNDS))
            self.last.setValue(self.last.maximum() if at_end else self.last.value())
        self.last.setVisible(of > SHOWN_ROUNDS)
        return slice(self.last.value() - SHOWN_ROUNDS, self.last.value())

    def go_to(self, at: int) -> None:
        """Show the round at that place too, in the middle where it was not shown."""
        if not self.last.value() - SHOWN_ROUNDS <= at < self.last.value():
            self.last.setValue(at + 1 + SHOWN_ROUNDS // 2)

    def show_rounds(self, rounds: Sequence[Bar], plain_ms: float | None, words: str) -> None:
        """Rounds, and what a plain pass costs here."""
        tokens = tokens_now()
        parts = (
            ([bar.start for bar in rounds], [bar.draft for bar in rounds], tokens.accent),
            ([bar.start + bar.draft for bar in rounds], [bar.verify for bar in rounds], tokens.faint),
            ([bar.start + bar.draft + bar.verify for bar in rounds], [bar.host for bar in rounds], tokens.bad),
        )
        for item, (x0, width, ink) in zip(self._bars, parts, strict=True):
            item.setOpts(x0=x0, width=width, y0=0, height=1, brush=ink, pen=_pen(tokens.page))
        end = rounds[-1].start + rounds[-1].draft + rounds[-1].verify + rounds[-1].host if rounds else 0.0
        n = int(min(end / plain_ms, 400)) if plain_ms else 0
        starts = [plain_ms * i for i in range(n)] if plain_ms else []
        self.plot.setVisible(bool(rounds))
        self._plain.setOpts(
            x0=starts, width=[plain_ms or 0.0] * n, y0=1.4, height=0.6, brush=tokens.hover, pen=_pen(tokens.subtle)
        )
        self.set_words(words)


def _pen(ink: QColor, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> object:
    return pg.mkPen(ink, width=1.5, style=style)
