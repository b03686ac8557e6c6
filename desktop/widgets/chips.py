"""What goes along with a message that is being written: a chip for each file, with its size and its tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSizePolicy, QStyle, QWidget

from backend.documents import Attachment, estimated_tokens
from backend.text import shown_size
from desktop.figures import count
from desktop.language import counted, figure, tr
from desktop.theme.icons import IconButton
from desktop.widgets.tips import plain

_MOST_ROWS = 3
_GAP = 6
_NAME_EM = 16
"""A longer name is cut in its middle: both its beginning and its ending tell."""


class Chip(QFrame):
    """One file: being read, or read. Delete removes it, arrows go to its neighbours."""

    removed = Signal()
    step = Signal(int)

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("chip")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.name = name
        self.attachment: Attachment | None = None
        self.ticket: int | None = None
        self.cancel: Callable[[], object] = lambda: None
        """Of the reading, while it goes on, and what gives it up."""
        self.weighed = ""
        """The vocabulary in which its tokens were counted."""
        title = QLabel()
        title.setTextFormat(Qt.TextFormat.PlainText)
        width = _NAME_EM * self.fontMetrics().averageCharWidth() * 2
        title.setText(self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, width))
        self._facts = QLabel()
        self._facts.setObjectName("subtle")
        self._facts.setTextFormat(Qt.TextFormat.PlainText)
        remove = IconButton("close", tr("Remove"), shortcut="Delete", size=0.67)
        remove.setAccessibleName(tr("Remove {name}", name=name))
        remove.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the chip itself has it, and the key
        remove.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 1, 2, 1)
        row.setSpacing(6)
        row.addWidget(title)
        row.addWidget(self._facts)
        row.addWidget(remove)
        self.show_progress(tr("reading…"))

    @property
    def facts(self) -> str:
        """What it says beside the name."""
        return self._facts.text()

    def show_progress(self, text: str) -> None:
        """How far its reading has come."""
        self._say(text, text)

    def show_attachment(self, attachment: Attachment) -> None:
        """It was read."""
        self.attachment, self.ticket, self.weighed = attachment, None, ""
        self.show_tokens(estimated_tokens(attachment.text))

    def show_tokens(self, tokens: int, vocabulary: str = "") -> None:
        """So many tokens; without a vocabulary that is an estimate."""
        assert self.attachment is not None
        self.weighed = vocabulary
        about = "" if vocabulary else "≈ "
        size, short = shown_size(self.attachment.size), f"{about}{count(tokens)}"
        if self.attachment.part:
            facts = tr("{size} · first part · {tokens} tok", size=size, tokens=short)
        else:
            facts = tr("{size} · {tokens} tok", size=size, tokens=short)
        more = ". ".join(filter(None, [self.attachment.part, self.attachment.note]))
        whole = f"{about}{figure(tokens, ',')}"
        said = counted("{size}, {tokens} token.", "{size}, {tokens} tokens.", tokens, size=size, tokens=whole)
        self._say(facts, f"{said} {more}".strip())

    def _say(self, facts: str, more: str) -> None:
        self._facts.setText(facts)
        said = tr("{title}: {text}", title=self.name, text=more)
        self.setToolTip(plain(said))
        self.setAccessibleName(said)
        self.setAccessibleDescription(tr("Delete removes it"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            steps = {key: -by for key, by in steps.items()}
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit()
        elif (by := steps.get(Qt.Key(event.key()))) is not None:
            self.step.emit(by)
        else:
            super().keyPressEvent(event)


class Chips(QScrollArea):
    """Rows of chips, as many as fit beside each other; hidden while there are none."""

    changed = Signal()
    """Something was added or removed."""
    interrupted = Signal(object)
    """Names of files that were still being read when another message came."""
    emptied = Signal()
    """The last one was removed by hand: the keyboard needs another place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chips")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Attachments"))
        self._page = QWidget()
        self._page.setObjectName("chips")
        self.setWidget(self._page)
        self._page.installEventFilter(self)
        self._before = QWidget(self._page)  # never seen: chips come after it for the keyboard, not after everything
        self._before.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._before.setAccessibleName(tr("Attachments"))
        self._before.hide()
        self.chips: list[Chip] = []
        self._place()

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """What was read, in order."""
        return tuple(chip.attachment for chip in self.chips if chip.attachment is not None)

    @property
    def reading(self) -> list[str]:
        """Names of those that are being read."""
        return [chip.name for chip in self.chips if chip.ticket is not None]

    def replace(self, attachments: Iterable[Attachment]) -> None:
        """Another message's."""
        attachments = tuple(attachments)
        if attachments == self.attachments and not self.reading:
            return
        unread = self.reading
        for chip in list(self.chips):
            self._drop(chip)
        for attachment in attachments:
            self._new(attachment.shown).show_attachment(attachment)
        self._placed()
        if unread:
            self.interrupted.emit(unread)

    def begin(self, name: str, ticket: int, cancel: Callable[[], object]) -> None:
        """A file is being read; ``cancel`` is called when it is not wanted any more."""
        chip = self._new(name)
        chip.ticket, chip.cancel = ticket, cancel
        self._placed()

    def progress(self, ticket: int, text: str) -> None:
        """How far it has come."""
        if (chip := self._being_read(ticket)) is not None:
            chip.show_progress(text)
            self._place()

    def end(self, ticket: int, attachment: Attachment | None) -> None:
        """It was read, or (None) could not be."""
        if (chip := self._being_read(ticket)) is None:
            return
        chip.ticket = None
        if attachment is None or attachment in self.attachments:
            self._drop(chip)
        else:
            chip.show_attachment(attachment)
        self._placed()

    def add(self, attachment: Attachment) -> None:
        """One that needs no reading."""
        self._new(attachment.shown).show_attachment(attachment)
        self._placed()

    def _being_read(self, ticket: int) -> Chip | None:
        return next((chip for chip in self.chips if chip.ticket == ticket), None)

    def _new(self, name: str) -> Chip:
        chip = Chip(name, self._page)
        chip.removed.connect(lambda: self._remove(chip))
        chip.step.connect(lambda by: self._step(chip, by))
        QWidget.setTabOrder(self.chips[-1] if self.chips else self._before, chip)
        self.chips.append(chip)
        return chip

    def _drop(self, chip: Chip) -> None:
        self.chips.remove(chip)
        if chip.ticket is not None:
            chip.cancel()
        chip.hide()
        chip.deleteLater()

    def _remove(self, chip: Chip) -> None:
        at, focused = self.chips.index(chip), chip.hasFocus()
        self._drop(chip)
        if focused and self.chips:
            self.chips[min(at, len(self.chips) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)
        self._placed()
        if not self.chips:
            self.emptied.emit()

    def _step(self, chip: Chip, by: int) -> None:
        at = self.chips.index(chip) + by
        if 0 <= at < len(self.chips):
            self.chips[at].setFocus(Qt.FocusReason.OtherFocusReason)
            self.ensureWidgetVisible(self.chips[at])

    def _placed(self) -> None:
        self._place()
        self.changed.emit()

    def _place(self) -> None:
        """From the leading edge, row by row; beyond a few rows they scroll."""
        self.setVisible(bool(self.chips))
        width = max(self.viewport().width(), 1)
        x = y = height = 0
        for chip in self.chips:
            size = chip.sizeHint()
            size.setWidth(min(size.width(), width))
            if x and x + size.width() > width:
                x, y = 0, y + height + _GAP
            whole, here = QRect(0, 0, width, 1), QRect(x, y, size.width(), size.height())
            chip.setGeometry(QStyle.visualRect(self.layoutDirection(), whole, here))
            chip.show()
            x, height = x + size.width() + _GAP, size.height()
        self._page.resize(width, y + height)
        most = _MOST_ROWS * (height + _GAP) - _GAP
        self.setFixedHeight(max(min(y + height, most), 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # a chip's text or font changed
            self._place()
        return super().eventFilter(watched, event)
