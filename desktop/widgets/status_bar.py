"""The line at the bottom: what the engine is doing, and its figures, at most ten times a second and without jumping."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from desktop.figures import DEFINITIONS, MISSING
from desktop.language import marked, tr
from desktop.theme.icons import IconButton
from desktop.widgets.elided import Elided

UPDATE_MS = 100
_SPOKEN_MS = 2000
"""Between two changes of what assistive technology is told of the figures."""
_WIDEST = {
    "rate": "888.8 tok/s",
    "speedup": "≈ 88.88× plain",
    "accepted": "100 % accepted",
    "per_pass": "88.8 tokens/pass",
    "split": "draft 88 % verify 88 %",
    "context": "ctx 88.8k/888.8k",
    "memory": "88.8/888.8 GB",
}
_FIRST_TO_GO = ("split", "per_pass", "memory", "context", "accepted", "speedup", "rate")
_LABELS = {
    "rate": marked("Generation speed"),
    "speedup": marked("Speed-up"),
    "accepted": marked("Accepted"),
    "per_pass": marked("Tokens per pass"),
    "split": marked("Time split"),
    "context": marked("Context"),
    "memory": marked("Memory"),
}


class StatusBar(QFrame):
    """``set_lead`` and ``set_figures`` may be called at any rate: the latest is drawn, ten times a second at most.

    While all is as it was, nothing is drawn.

    Args:
        panel_key: the key that shows the panel too.
    """

    cancelled = Signal()
    wanted = Signal()
    """The speculation panel, or not to see it any more."""

    def __init__(self, panel_key: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("status")
        font = QFont()
        font.setFeature(QFont.Tag("tnum"), 1)
        self._lead = Elided(tr("Engine state"))
        self._lead.setProperty("lead", True)
        self._cancel = IconButton("close", tr("Cancel loading"))
        self._cancel.clicked.connect(self.cancelled)
        self._cancel.hide()
        self.more = IconButton("bolt", tr("Show or hide the speculation panel"), shortcut=panel_key)
        self.more.clicked.connect(self.wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 2, 12, 2)
        row.setSpacing(18)
        row.addWidget(self.more)
        row.addWidget(self._lead, 1)
        row.addWidget(self._cancel)
        self._parts: list[QWidget] = []
        self._items: dict[str, QLabel] = {}
        for name in _WIDEST:
            label = QLabel()
            label.setFont(font)
            label.setToolTip(tr(DEFINITIONS[name]))
            label.setAccessibleName(tr(_LABELS[name]))
            label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            row.addWidget(label)
            self._items[name] = label
        self._next: dict[str, str] = {}
        self._lead_text = self._detail = ""
        self._timer = QTimer(self, singleShot=True, interval=UPDATE_MS)
        self._timer.timeout.connect(self._draw)
        self._teller = QTimer(self, singleShot=True, interval=_SPOKEN_MS)
        self._teller.timeout.connect(self._tell)
        self._measure()

    @property
    def lead(self) -> str:
        """What it says the engine is doing."""
        return self._lead_text

    def text(self, name: str) -> str:
        """One figure as last set."""
        return self._next.get(name, MISSING)

    def add(self, part: QWidget) -> None:
        """A further part, between state and figures, that shows itself when it has something to say."""
        row = self.layout()
        assert isinstance(row, QHBoxLayout)
        row.insertWidget(3 + len(self._parts), part)
        self._parts.append(part)
        part.installEventFilter(self)

    def set_lead(self, text: str, *, cancellable: bool = False, detail: str = "") -> None:
        """The state, in words; ``detail`` is more of it, for the tooltip."""
        self._cancel.setVisible(cancellable)
        if (text, detail) != (self._lead_text, self._detail):
            self._lead_text, self._detail = text, detail
            self._schedule()

    def set_figures(self, **texts: str) -> None:
        """Any of the figures."""
        if not texts.items() <= self._next.items():
            self._next |= texts
            self._schedule()

    def _schedule(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _draw(self) -> None:
        self._lead.set_full_text(self._lead_text, self._detail)
        for name, text in self._next.items():
            self._items[name].setText("" if text == MISSING else text)
            self._reserve(name)
        self._choose_visible()
        if not self._teller.isActive():
            self._tell()

    def _tell(self) -> None:
        """The figures by name: seldom, since a screen reader says each change of what it stands on."""
        for name, label in self._items.items():
            figure = tr(_LABELS[name])
            said = tr("{figure}: {value}", figure=figure, value=label.text()) if label.text() else figure
            if said != label.accessibleName():
                label.setAccessibleName(said)
                self._teller.start()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """On any of its words and figures."""
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.wanted.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._choose_visible()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange) and hasattr(self, "_timer"):
            QTimer.singleShot(0, self, self._measure)  # the labels have their letters then

    def _measure(self) -> None:
        """Room for the longest that each figure may say, in letters of the size that they have now."""
        for name, label in self._items.items():
            label.ensurePolished()
            label.setMinimumWidth(label.fontMetrics().horizontalAdvance(_WIDEST[name]))
            self._reserve(name)
        self.setFixedHeight(max(self.fontMetrics().height() + 14, self._cancel.sizeHint().height() + 5))
        self._choose_visible()

    def _reserve(self, name: str) -> None:
        """More room where the words of another language need it: it stays, so that nothing jumps."""
        label = self._items[name]
        label.setMinimumWidth(max(label.minimumWidth(), label.fontMetrics().horizontalAdvance(label.text())))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._schedule()
        return super().eventFilter(watched, event)

    def _choose_visible(self) -> None:
        """In a narrow window the least important figures go first; the state keeps a third of the width."""
        room = self.width() * 0.66 - sum(part.sizeHint().width() for part in self._parts if not part.isHidden())
        shown = [name for name in _WIDEST if self.text(name) != MISSING]
        widths = {name: self._items[name].minimumWidth() + 18 for name in shown}
        for name in _FIRST_TO_GO:
            if sum(widths.values()) <= room:
                break
            widths.pop(name, None)
        for name, label in self._items.items():
            label.setVisible(name in widths)
