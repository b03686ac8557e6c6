"""The conversation, scrolled: follows the end only while the reader is at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QFontInfo, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from desktop.language import tr
from desktop.maths.typesetter import Typesetter
from desktop.settings import SendWith
from desktop.store import Draft, Message
from desktop.widgets.in_view import written_in
from desktop.widgets.jump import Jump
from desktop.widgets.message import RING, MessageWidget
from desktop.widgets.seeking import Seeking

COLUMN_EM = 46
FIRST_SHOWN = 40
LETTERS_SHOWN = 12_000
"""Messages laid out when a chat is opened: at most so many, and none beyond so many letters, which take a tenth of a
second. As many earlier ones are laid out whenever the reader comes near them, so that a huge chat opens at once."""
MOST_SHOWN = 2 * FIRST_SHOWN


class MessageView(QScrollArea):
    """A column of messages."""

    regenerate = Signal(object)
    go_on = Signal(object)
    compare = Signal(object)
    sibling = Signal(object, int)
    rewritten = Signal(object, object)
    round_picked = Signal(object, int)
    rewriting = Signal(int, object)
    """A message that is being written anew, and the Draft of it; a false one = it is no more."""
    offered = Signal(object, object)
    """The Writing of such a message, and what was offered to it."""
    laid_out = Signal()
    """Earlier messages stand above the others now."""

    def __init__(
        self,
        author: Callable[[Message], str],
        place: Callable[[Message], tuple[int, int]],
        maths: Typesetter | None = None,
    ) -> None:
        super().__init__()
        self._author, self._place, self._maths = author, place, maths
        self.setObjectName("page")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Conversation"))
        self._earlier: list[Message] = []
        self._widgets: dict[int, MessageWidget] = {}
        self._following = True
        self._held: Callable[[], int] | None = None
        """While earlier messages are laid out above: where the scroll bar belongs for the reader to see the same."""
        self._seeking = Seeking(self, self._sought, self._lay_out_more)
        self._origins = False
        self._send_with: SendWith = "enter"
        self._more = QPushButton(tr("Show earlier messages"))
        self._more.clicked.connect(self._show_earlier)
        self._more.hide()
        self._column, page = QWidget(), QWidget()
        for widget in (self._column, page):
            widget.setObjectName("column")
        self._list = QVBoxLayout(self._column)
        self._list.setContentsMargins(0, 20, 0, 20)
        self._list.setSpacing(18)
        self._list.addWidget(self._more, 0, Qt.AlignmentFlag.AlignHCenter)
        self._list.addStretch(1)
        row = QHBoxLayout(page)
        row.setContentsMargins(16 - RING, 0, 16 - RING, 0)
        row.addStretch(1)
        row.addWidget(self._column, 1000)
        row.addStretch(1)
        self.setWidget(page)
        self.jump = Jump(self)
        self.jump.clicked.connect(self._jump)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._range_changed)
        bar.valueChanged.connect(self._scrolled)
        self._set_column_width()

    @property
    def widgets(self) -> list[MessageWidget]:
        """The messages laid out, in order."""
        return list(self._widgets.values())

    @property
    def following(self) -> bool:
        """Whether new text scrolls into view."""
        return self._following

    def show_messages(self, messages: list[Message]) -> None:
        """Show another branch or chat, from its end."""
        self._remove(self.widgets)
        self._seeking.stop()
        self._earlier = list(messages)
        for message in self._take_earlier():
            self._add(message, self._list.count() - 1)
        self.to_end()

    def append(self, message: Message) -> None:
        """A new message; a person's own always brings the view to the end."""
        self._add(message, self._list.count() - 1)
        if message.role == "user":
            self.to_end()
        if self._following and len(self._widgets) > MOST_SHOWN:
            self._trim()

    def update_message(self, message: Message) -> None:
        """A message changed."""
        if (widget := self._widgets.get(message.id)) is not None:
            widget.show_message(message)
        else:
            self._earlier = [message if m.id == message.id else m for m in self._earlier]

    def show_found(self, message: int, words: str) -> None:
        """Scroll to a message and mark the words in it, until others are looked for or another chat is shown."""
        self._seeking.seek(message, words.split())

    def show_origins(self, on: bool) -> None:
        """Replies token by token, or as they are to be read."""
        self._origins = on
        for widget in self.widgets:
            widget.show_origins(on)

    def show_round(self, message: int, title: str, rows: Sequence[Sequence[str]]) -> None:
        """Below a reply that is shown token by token."""
        if (widget := self._widgets.get(message)) is not None:
            self._following = False  # what is looked into stays in view
            widget.show_round(title, rows)

    def draft(self, message: int) -> Draft | None:
        """The new version of a message as far as it is written; None = nobody writes one."""
        return widget.draft if (widget := self._widgets.get(message)) is not None else None

    def rewrite(self, message: int, draft: Draft | None = None) -> None:
        """Let a person write a message anew, or go on with that."""
        if (widget := self._widgets.get(message)) is not None:
            widget.rewrite(draft)
            if draft is None:
                self.ensureWidgetVisible(widget)

    def set_send_with(self, key: SendWith) -> None:
        """What sends a message that is written anew."""
        self._send_with = key
        for widget in self.widgets:
            widget.send_with = key

    def set_letters(self, sheet: str) -> None:
        """Their size, as a style sheet; what is being read stays about where it is."""
        bar = self.verticalScrollBar()
        share = bar.value() / max(bar.maximum(), 1)
        following = self._following
        self.setStyleSheet(sheet)
        if following:
            self.to_end()
        else:
            QTimer.singleShot(0, self, lambda: bar.setValue(round(share * bar.maximum())))

    def set_waiting(self, text: str) -> None:
        """What the reply that is made is doing before its first word, where it is shown."""
        for widget in self.widgets[-1:]:
            if widget.message.state == "streaming":
                widget.set_waiting(text)

    def to_end(self) -> None:
        """Follow the end from now on."""
        self._following = True
        self._keep_end()
        QTimer.singleShot(0, self, self._range_changed)  # once more when the new text has its height

    def _jump(self) -> None:
        if self._widgets and (written_in(self) or self.jump.hasFocus()):  # the keyboard goes along
            self.widgets[-1].setFocus(Qt.FocusReason.OtherFocusReason)
        self.to_end()

    def _add(self, message: Message, at: int) -> None:
        widget = MessageWidget(message, self._author, self._place(message), maths=self._maths)
        for name in ("regenerate", "go_on", "compare", "sibling", "rewritten", "round_picked", "rewriting", "offered"):
            getattr(widget, name).connect(getattr(self, name))
        widget.send_with = self._send_with
        widget.show_origins(self._origins)
        widget.step.connect(self._step)
        self._widgets[message.id] = widget
        self._list.insertWidget(at, widget)
        if at == self._list.count() - 2:
            for other in self.widgets:
                other.set_last(other is widget)

    def _trim(self) -> None:
        """A long session keeps no more on screen than an opened chat; only while nobody reads further up."""
        gone = self.widgets[:-FIRST_SHOWN]
        self._earlier += [widget.message for widget in gone]
        self._remove(gone)
        self._more.show()

    def _remove(self, widgets: list[MessageWidget]) -> None:
        self._held = None
        for widget in widgets:
            widget.keep_rewriting()
            self._seeking.gone(widget)
            del self._widgets[widget.message.id]
            self._list.removeWidget(widget)
            widget.hide()
            widget.deleteLater()

    def _show_earlier(self) -> None:
        """What is being read stays where it is."""
        if self._widgets:
            first = self.widgets[0]
            self._hold(first, first.y() - self.verticalScrollBar().value())
        self._following = False
        later, self._widgets = self._widgets, {}
        for number, message in enumerate(self._take_earlier()):
            self._add(message, number + 1)
        self._widgets |= later
        self.laid_out.emit()

    def _hold(self, widget: QWidget, below: int) -> None:
        self._held = lambda: max(0, widget.y() - below)

    def _sought(self, message: int) -> MessageWidget | None:
        self._following = False
        return self._widgets.get(message)

    def _lay_out_more(self) -> bool:
        if more := bool(self._earlier):
            self._show_earlier()
        return more

    def _take_earlier(self) -> list[Message]:
        """The last of the messages that are not laid out yet: no more than can be at once."""
        count = letters = 0
        while count < min(FIRST_SHOWN, len(self._earlier)) and letters < LETTERS_SHOWN:
            count += 1
            letters += len(self._earlier[-count].content)
        at = len(self._earlier) - count
        self._earlier, taken = self._earlier[:at], self._earlier[at:]
        self._more.setVisible(bool(self._earlier))
        return taken

    def _step(self, by: int) -> None:
        widgets = self.widgets
        at = next((n for n, widget in enumerate(widgets) if widget.hasFocus()), -1) + by
        if at == -1 and self._lay_out_more():
            self._hold(widgets[0], self.viewport().height() // 2)  # below the end of what is come to
            self.widgets[-len(widgets) - 1].setFocus(Qt.FocusReason.OtherFocusReason)
        elif 0 <= at < len(widgets):
            widgets[at].setFocus(Qt.FocusReason.OtherFocusReason)
            self.ensureWidgetVisible(widgets[at])

    def _range_changed(self) -> None:
        if self._following and written_in(self):
            self._scrolled(self.verticalScrollBar().value())  # who writes in a message keeps their place
        elif self._following:
            self._keep_end()
        elif self._held is not None:
            self.verticalScrollBar().setValue(self._held())
        self.jump.place()

    def _keep_end(self) -> None:
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def _scrolled(self, value: int) -> None:
        self._following = value >= self.verticalScrollBar().maximum() - 12
        if self._held is not None and value != self._held():
            self._held = None  # the reader has moved on
        if value < self.viewport().height() and self._earlier and not self._following and self._held is None:
            QTimer.singleShot(0, self, self._came_near)
        self.jump.place()

    def _came_near(self) -> None:
        """To the first of what is laid out."""
        if self._earlier and not self._following and self._held is None:
            self._show_earlier()

    def resizeEvent(self, event: QResizeEvent) -> None:
        following = self._following and not written_in(self)
        super().resizeEvent(event)
        if following:
            self.to_end()
        self.jump.place()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FontChange:
            self._set_column_width()
        return super().event(event)

    def _set_column_width(self) -> None:
        if hasattr(self, "_column"):
            self._column.setMaximumWidth(COLUMN_EM * QFontInfo(self.font()).pixelSize() + 2 * RING)
