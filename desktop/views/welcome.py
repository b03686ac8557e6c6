"""The empty page: three prompts of different predictability, or the starter pair when there is no model yet."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from desktop.figures import gigabytes, progress
from desktop.language import marked, tr
from desktop.theme.units import lines


@dataclass(slots=True, frozen=True)
class Example:
    """A prompt to start from, and what it shows about speculation."""

    title: str
    shows: str
    prompt: str


EXAMPLES = (
    Example(
        marked("Edit this code"),
        marked("Most of the answer is in the question already: speculation gains most here"),
        "Add type hints and a docstring to this function and handle an empty list. Answer with the whole function.\n\n"
        "```python\ndef average(values, weights):\n    total = 0\n    weight_sum = 0\n"
        "    for value, weight in zip(values, weights):\n        total += value * weight\n"
        "        weight_sum += weight\n"
        "    return total / weight_sum\n```",
    ),
    Example(
        marked("Explain this"),
        marked("Much is easy to foresee, some is not"),
        "Explain how a hash table handles collisions, for someone who knows arrays. Use a small example.",
    ),
    Example(
        marked("Tell a story"),
        marked("Hard to foresee: here a draft seldom pays, and Tandem notices"),
        "Tell a short story about a lighthouse keeper who finds a letter in a bottle.",
    ),
)
_MARGINS = 40


class Welcome(QWidget):
    """What stands in place of messages."""

    picked = Signal(str)
    download = Signal()
    pause = Signal()
    cancel = Signal()
    more = Signal()
    """Another model than the starter is wanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._title = QLabel(tr("Two models, one answer"))
        self._title.setObjectName("greeting")
        self._title.setWordWrap(True)
        self._line = QLabel()
        self._line.setObjectName("subtle")
        self._line.setTextFormat(Qt.TextFormat.PlainText)  # names come from the catalogue
        self._line.setWordWrap(True)
        column = QWidget()
        self._middle = column
        self._column = QVBoxLayout(column)
        self._column.setSpacing(10)
        self._column.addWidget(self._title)
        self._column.addWidget(self._line)
        self._column.addSpacing(8)
        self.examples = [self._card(example) for example in EXAMPLES]
        self._build_download()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_MARGINS // 2, 12, _MARGINS // 2, 12)
        layout.addStretch(2)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(column, 1000)
        row.addStretch(1)
        layout.addLayout(row)
        layout.addStretch(3)
        self._fit()
        self.show_ready()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_middle"):
            QTimer.singleShot(0, self, self._fit)  # the cards have their letters then

    def _fit(self) -> None:
        """A button takes no height from what is in it."""
        widest = lines(self, 34)
        self._middle.setMaximumWidth(widest)
        for card in self.examples:
            if (inner := card.layout()) is not None:
                inner.invalidate()
                card.setMinimumHeight(inner.totalHeightForWidth(min(self.width() - _MARGINS, widest)))

    def show_ready(self) -> None:
        """There is a model: offer examples."""
        self._title.setText(tr("Two models, one answer"))
        self._line.setText(
            tr(
                "A small draft model proposes, the target checks and decides. The text is the target's own but for "
                "near-ties, sooner. Start with one of these, or write your own."
            )
        )
        self._show(downloading=False, offer=False)

    def offer_starter(self, target: str, draft: str, size: int, licence: str, fetched: int = 0) -> None:
        """There is none: propose the pair, or to go on with what is here of it."""
        self._title.setText(tr("A pair of models to start with"))
        values = {"target": target, "draft": draft, "size": gigabytes(size), "licence": licence}
        if licence:
            line = tr(
                "{target} writes, {draft} drafts. Together {size} to download and about as much memory, licence "
                "{licence}. They run on this machine only.",
                **values,
            )
        else:
            line = tr(
                "{target} writes, {draft} drafts. Together {size} to download and about as much memory. They run on "
                "this machine only.",
                **values,
            )
        self._line.setText(line)
        if fetched:
            left = gigabytes(max(0, size - fetched))
            self.start.setText(tr("Go on with the download ({size} left)", size=left))
        else:
            self.start.setText(tr("Download the pair ({size})", size=gigabytes(size)))
        self._show(downloading=False, offer=True)

    def show_progress(self, name: str, done: int, total: int, speed: float) -> None:
        """A download runs."""
        self._bar.setRange(0, 1000)
        self._bar.setValue(round(1000 * done / total) if total else 0)
        self._progress.setText(progress(name, done, total, speed))
        self._show(downloading=True, offer=False)

    def _build_download(self) -> None:
        self.start = QPushButton(tr("Download the pair"))
        self.start.setProperty("primary", True)
        self.start.clicked.connect(self.download)
        self._bar = QProgressBar()
        self._bar.setAccessibleName(tr("Download progress"))
        self._bar.setTextVisible(False)
        self._progress = QLabel()
        self._progress.setObjectName("subtle")
        self._progress.setTextFormat(Qt.TextFormat.PlainText)
        self.others = QPushButton(tr("Other models…"))
        self.others.clicked.connect(self.more)
        self._hold = QPushButton(tr("Pause"))
        self._hold.setAccessibleName(tr("Pause download"))
        self._hold.clicked.connect(self.pause)
        self._stop = QPushButton(tr("Cancel download"))
        self._stop.clicked.connect(self.cancel)
        for widget in (self._bar, self._progress):
            self._column.addWidget(widget)
        row = QHBoxLayout()
        for button in (self.start, self.others, self._hold, self._stop):
            row.addWidget(button)
        row.addStretch(1)
        self._column.addLayout(row)

    def _card(self, example: Example) -> QPushButton:
        card = QPushButton()
        card.setProperty("card", True)
        inner = QVBoxLayout(card)
        inner.setContentsMargins(14, 10, 14, 10)
        inner.setSpacing(2)
        inner.addStretch(1)
        title, shows = QLabel(tr(example.title)), QLabel(tr(example.shows))
        card.setAccessibleName(f"{title.text()}. {shows.text()}")
        title.setObjectName("heading")
        shows.setObjectName("subtle")
        shows.setWordWrap(True)
        for label in (title, shows):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            inner.addWidget(label)
        inner.addStretch(1)
        card.clicked.connect(lambda: self.picked.emit(example.prompt))
        self._column.addWidget(card)
        return card

    def _show(self, *, downloading: bool, offer: bool) -> None:
        for card in self.examples:
            card.setVisible(not downloading and not offer)
        for button in (self.start, self.others):
            button.setVisible(offer)
        for widget in (self._bar, self._progress, self._hold, self._stop):
            widget.setVisible(downloading)
