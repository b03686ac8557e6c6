"""The empty page: three prompts of different predictability, or a pair for this machine when there is no model yet."""

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


@dataclass(slots=True, frozen=True)
class Offer:
    """A pair that can be downloaded. Sizes in bytes; 0 and empty = not known; ``speed`` in words."""

    target: str
    draft: str
    size: int
    fetched: int = 0
    memory: int = 0
    speed: str = ""
    licence: str = ""


class Welcome(QWidget):
    """What stands in place of messages."""

    picked = Signal(str)
    download = Signal()
    download_small = Signal()
    """The smaller of two pairs is wanted."""
    pause = Signal()
    cancel = Signal()
    more = Signal()
    """Another model than those offered is wanted."""

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

    def offer_pair(self, offer: Offer, small: Offer | None = None) -> None:
        """There is none: propose a pair, or to go on with what is here of it; and a smaller one to begin with."""
        fitted = tr("A pair of models for this machine"), tr("A pair of models to start with")
        self._title.setText(fitted[0] if offer.memory else fitted[1])
        says = [tr("{target} writes, {draft} drafts.", target=offer.target, draft=offer.draft)]
        says.append(tr("Together {size} to download.", size=gigabytes(offer.size)))
        if offer.memory:
            says.append(_takes(offer))
        if offer.licence:
            says.append(tr("Licence: {licence}.", licence=offer.licence))
        says.append(tr("They run on this machine only."))
        self._line.setText(" ".join(says))
        if offer.fetched:
            left = gigabytes(max(0, offer.size - offer.fetched))
            self.start.setText(tr("Go on with the download ({size} left)", size=left))
        else:
            self.start.setText(tr("Download the pair ({size})", size=gigabytes(offer.size)))
        if small is not None:
            self.small.setText(tr("Or begin small ({size})", size=gigabytes(small.size)))
            smaller = tr("Smaller, and sooner here: {target} with {draft}.", target=small.target, draft=small.draft)
            self._small_line.setText(f"{smaller} {_takes(small)}" if small.memory else smaller)
        self._show(downloading=False, offer=True, small=small is not None)

    def say_too_large(self, least: Offer, free: int) -> None:
        """There is none, and no pair fits: ``least`` is the one that would take least, ``free`` the bytes there are."""
        self._title.setText(tr("Too little memory is free for a pair of models"))
        self._line.setText(
            tr(
                "The smallest in the catalogue, {target} with {draft}, takes about {memory}, and {free} are free. "
                "Close other programs and start Tandem again, or look for a smaller model.",
                target=least.target,
                draft=least.draft,
                memory=gigabytes(least.memory),
                free=gigabytes(free),
            )
        )
        self._show(downloading=False, offer=True)
        self.start.hide()

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
        self.small = QPushButton(tr("Or begin small"))
        self.small.clicked.connect(self.download_small)
        self._small_line = QLabel()
        self._small_line.setObjectName("subtle")
        self._small_line.setTextFormat(Qt.TextFormat.PlainText)
        self._small_line.setWordWrap(True)
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
        self._column.addWidget(self._small_line)
        self._column.addWidget(self.small, 0, Qt.AlignmentFlag.AlignLeft)

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

    def _show(self, *, downloading: bool, offer: bool, small: bool = False) -> None:
        for card in self.examples:
            card.setVisible(not downloading and not offer)
        for button in (self.start, self.others):
            button.setVisible(offer)
        self._small_line.setVisible(small)
        self.small.setVisible(small)
        for widget in (self._bar, self._progress, self._hold, self._stop):
            widget.setVisible(downloading)


def _takes(offer: Offer) -> str:
    """What a pair would take and give here."""
    memory = gigabytes(offer.memory)
    return tr("They take about {memory} of memory and write {speed} here, estimated.", memory=memory, speed=offer.speed)
