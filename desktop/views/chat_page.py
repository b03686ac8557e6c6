"""The page of one chat: messages or the empty page, the notice bar, and the composer."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QFontInfo
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from backend.protocol import PromptProgress
from desktop.language import counted, figure
from desktop.maths.typesetter import Typesetter
from desktop.models.conversation import Conversation
from desktop.store import Message
from desktop.theme.style import zoomed
from desktop.views.welcome import Welcome
from desktop.widgets.composer import Composer
from desktop.widgets.message_edit import offer_in
from desktop.widgets.message_view import COLUMN_EM, MessageView
from desktop.widgets.notice_bar import NoticeBar


class ChatPage(QWidget):
    """Binds a conversation to its widgets."""

    dropped = Signal(object)
    """list[Path]."""

    def __init__(
        self,
        conversation: Conversation,
        author: Callable[[Message], str],
        maths: Typesetter,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._conversation = conversation
        self.messages = MessageView(author, conversation.place, maths)
        self.welcome = Welcome()
        self.notice = NoticeBar()
        self.composer = Composer()
        self._empty = _scrolled(self.welcome)
        self._stack, self._column, self._below = QStackedWidget(), QWidget(), QHBoxLayout()
        self._lay_out()
        self.setAcceptDrops(True)
        self._zoom = 100
        self.set_zoom(100)
        for area in (self._empty, self.messages):
            area.verticalScrollBar().rangeChanged.connect(self._align)
        self._stack.currentChanged.connect(self._align)
        self._connect()

    def _lay_out(self) -> None:
        self._stack.setMinimumHeight(1)  # it scrolls; the message box must not be squeezed
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.messages)
        below = QVBoxLayout(self._column)
        below.setContentsMargins(16, 0, 16, 12)
        below.setSpacing(8)
        below.addWidget(self.notice)
        below.addWidget(self.composer)
        self._below.addStretch(1)
        self._below.addWidget(self._column, 1000)
        self._below.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._stack, 1)
        layout.addLayout(self._below)

    def set_zoom(self, percent: int) -> None:
        """Messages and the message box, in percent of the text around them."""
        self._zoom = percent
        sheet = zoomed(QApplication.font().pointSizeF() * percent / 100) if percent != 100 else ""
        if sheet != self.composer.styleSheet():
            self.messages.set_letters(sheet)
            self.composer.setStyleSheet(sheet)
        letters = QFontInfo(QApplication.font()).pixelSize() * percent / 100
        self._column.setMaximumWidth(round(COLUMN_EM * letters) + 32)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_zoom"):
            self.set_zoom(self._zoom)

    def _connect(self) -> None:
        conversation = self._conversation
        conversation.opened.connect(self._opened)
        conversation.appended.connect(self._appended)
        conversation.found.connect(self.messages.show_found)
        conversation.changed.connect(self.messages.update_message)
        conversation.running_changed.connect(self.composer.set_running)
        conversation.reading.connect(self._reading)
        conversation.noticed.connect(self.notice.show_notice)
        conversation.withdrawn.connect(self.notice.withdraw)
        self.messages.regenerate.connect(conversation.regenerate)
        self.messages.sibling.connect(conversation.show_sibling)
        self.messages.go_on.connect(conversation.go_on)
        self.composer.stopped.connect(conversation.stop)
        self.welcome.picked.connect(self._pick)

    def _opened(self, messages: list[Message]) -> None:
        self._stack.setCurrentWidget(self.messages if messages else self._empty)
        self.messages.show_messages(messages)
        self.composer.setFocus()

    def _appended(self, message: Message) -> None:
        self._stack.setCurrentWidget(self.messages)
        self.messages.append(message)

    def _reading(self, progress: PromptProgress) -> None:
        said = counted(
            "Reading the prompt, {done} of {total} token",
            "Reading the prompt, {done} of {total} tokens",
            progress.total,
            done=figure(progress.done, ","),
            total=figure(progress.total, ","),
        )
        self.messages.set_waiting(said)

    def _align(self) -> None:
        """Keep the composer below the column, which the scroll bar of what is shown moves aside."""
        shown = self.messages if self._stack.currentWidget() is self.messages else self._empty
        bar = shown.verticalScrollBar()
        self._below.setContentsMargins(0, 0, bar.sizeHint().width() if bar.maximum() > 0 else 0, 0)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files can be dropped anywhere on the page, not only into the box."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()
            self.composer.show_drop(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.composer.show_drop(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self.composer.show_drop(False)
        offer = offer_in(event.mimeData())
        if isinstance(offer, list):
            event.acceptProposedAction()
            self.dropped.emit(offer)

    def _pick(self, prompt: str) -> None:
        self.composer.set_text(prompt)
        self.composer.setFocus()


def _scrolled(widget: QWidget) -> QScrollArea:
    """All of it can be reached, however small the window."""
    area = QScrollArea()
    area.setObjectName("page")
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(widget)
    return area
