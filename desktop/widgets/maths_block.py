"""A formula on lines of its own: centred, as wide as it is, and copied as it was written."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QEnterEvent,
    QFontDatabase,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from desktop.language import tr
from desktop.maths.find import alone
from desktop.maths.typeset import Drawing
from desktop.maths.typesetter import Typesetter
from desktop.theme.icons import IconButton
from desktop.theme.tokens import tokens_now
from desktop.widgets.formula import em_of, paint, size_of
from desktop.widgets.prose import Prose
from desktop.widgets.tips import plain


class MathsBlock(QWidget):
    """A displayed formula, or its source until it is drawn and where it cannot be."""

    def __init__(self, parent: QWidget | None = None, maths: Typesetter | None = None) -> None:
        super().__init__(parent)
        self._maths = maths
        self._source = ""
        self._latex: str | None = None
        self._text: Prose | None = None
        self._waits = False
        self._scroll = _Sideways()
        self._copy = _Quiet("copy", tr("Copy formula"))
        self._copy.clicked.connect(self.copy)
        self._restore = QTimer(self, singleShot=True, interval=1500)
        self._restore.timeout.connect(lambda: self._copy.set_icon("copy"))
        self._both = QVBoxLayout()
        self._both.addWidget(self._scroll)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addSpacing(self._copy.sizeHint().width())  # the formula stands in the middle of the text
        row.addLayout(self._both, 1)
        row.addWidget(self._copy)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        if maths is not None:
            maths.ready.connect(self._draw)

    @property
    def text(self) -> str:
        """The source where that is shown, else nothing."""
        return "" if self._text is None or self._text.isHidden() else self._text.toPlainText()

    @property
    def drawn(self) -> bool:
        """Whether the formula is seen, and not its source."""
        return self._scroll.formula.drawing is not None

    def set_source(self, source: str) -> None:
        """Show what was written, signs and all."""
        if source != self._source:
            self._source, self._latex = source, alone(source)
            self._scroll.formula.drawing, self._waits = None, False
            self._show()

    def copy(self) -> None:
        """The source to the clipboard, with a tick for confirmation."""
        QGuiApplication.clipboard().setText(self._source)
        self._copy.set_icon("check")
        self._restore.start()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._copy.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._copy.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def _draw(self) -> None:
        """Some formulas are known now: this one too, unless it was before."""
        if self._waits:
            self._show()

    def _show(self) -> None:
        if not self.drawn and self._maths is not None and self._latex is not None:
            self._scroll.formula.drawing = self._maths.drawing(self._latex, display=True)
            self._waits = self._maths.waits(self._latex, display=True)
            self._scroll.setAccessibleName(tr("Formula: {latex}", latex=self._latex[:200]))
            self._scroll.setToolTip(plain(self._source))
        if not self.drawn:
            self._write()
        elif self._text is not None:
            self._text.hide()
        self._scroll.setVisible(self.drawn)
        self._scroll.fit()

    def _write(self) -> None:
        """The source, as text."""
        if self._text is None:
            self._text = Prose()
            self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
            self._both.addWidget(self._text)
        self._text.set_plain(self._source)
        self._text.show()


class _Quiet(IconButton):
    """Seen while the pointer or the keyboard is there; formulas are read more often than copied."""

    def paintEvent(self, event: QPaintEvent) -> None:
        owner = self.parentWidget()
        if self.hasFocus() or (owner is not None and owner.underMouse()):
            super().paintEvent(event)


class _Sideways(QScrollArea):
    """Shows all of a formula that fits, and scrolls others sideways."""

    def __init__(self) -> None:
        super().__init__()
        self.formula = _Formula()
        self.setObjectName("page")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setWidget(self.formula)
        for widget in (self.formula, self.viewport()):
            widget.setAutoFillBackground(False)
        self.horizontalScrollBar().rangeChanged.connect(lambda *_: self.fit())

    def fit(self) -> None:
        """As tall as the formula; reached by keys only where there is something to scroll."""
        self.formula.resize(self.formula.sizeHint())
        bar = self.horizontalScrollBar()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if bar.maximum() > 0 else Qt.FocusPolicy.NoFocus)
        self.setFixedHeight(self.formula.height() + (bar.sizeHint().height() if bar.maximum() > 0 else 0))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "formula"):
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()  # up and down belong to the conversation


class _Formula(QWidget):
    drawing: Drawing | None = None

    def sizeHint(self) -> QSize:
        if self.drawing is None:
            return QSize(0, 0)
        size = size_of(self.drawing, em_of(self.font()))
        return QSize(round(size.width()) + 4, round(size.height()) + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.drawing is not None:
            em, painter = em_of(self.font()), QPainter(self)
            paint(painter, QPointF(2, 4 + self.drawing.ascent * em), self.drawing, em, tokens_now().ink)
