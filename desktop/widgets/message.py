"""One message on screen: a person's as typed, a reply as Markdown blocks with its buttons and figures."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from desktop.figures import footer
from desktop.models.asking import timings_of
from desktop.models.origins import pieces
from desktop.store import Message
from desktop.theme.icons import IconButton
from desktop.widgets.blocks import BlockView
from desktop.widgets.markdown_split import answer
from desktop.widgets.marks import mark
from desktop.widgets.origins import OriginsView
from desktop.widgets.rewrite import Rewrite
from desktop.widgets.tips import plain

RING = 7
"""Room beside the text for the line that shows the focus."""
_ENDS = {"length": "stopped at the token limit", "cancelled": "stopped"}


class MessageWidget(QFrame):
    """Shows a store record; ``show_message`` again whenever the record changed."""

    regenerate = Signal(object)
    compare = Signal(object)
    sibling = Signal(object, int)
    rewritten = Signal(object, str)
    rewriting = Signal(int, str)
    """See ``MessageView``."""
    """A person's message and another text for it."""
    round_picked = Signal(object, int)
    """A reply, and one of its rounds."""
    step = Signal(int)
    """Arrow keys move between messages."""

    def __init__(self, message: Message, author: str, place: tuple[int, int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.message = message
        self.setObjectName("message")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._author = author
        self.blocks = BlockView()
        self._footer = QLabel()
        self._footer.setObjectName("footer")
        self._footer.setWordWrap(True)
        self._footer.setTextFormat(Qt.TextFormat.PlainText)
        self._waiting = QLabel("Waiting for the first word…")
        self._waiting.setObjectName("subtle")
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(RING, 2, RING, 2)
        self._layout.setSpacing(6)
        self._rewrite: Rewrite | None = None
        self._origins: OriginsView | None = None
        self._by_token = self._legend = False
        if message.role == "user":
            self._build_user(place)
        else:
            self._build_reply(place)
        self.show_message(message)

    @property
    def footer_text(self) -> str:
        """The figures below the reply."""
        return self._footer.text()

    def show_message(self, message: Message) -> None:
        """Bring the widget up to date with the record."""
        self.message = message
        streaming = message.state == "streaming"
        if message.role == "user":
            self.blocks.show_plain(message.content)
        else:
            self.blocks.show_markdown(message.content, complete=not streaming)
            self._waiting.setVisible(streaming and not message.content)
            extra = [_ENDS[message.finish]] if message.finish in _ENDS else []
            if message.state == "failed":
                extra = [f"failed: {(message.error or {}).get('message', 'the engine stopped')}"]
            elif message.state == "stopped" and not message.finish:
                extra = ["Tandem ended while this was written"]
            text = "" if streaming else footer(timings_of(message), message.comparison, extra)
            self._footer.setText(text)
            self._footer.setToolTip(plain(message.note))
            self._tools.setEnabled(not streaming)
            self._bar.setVisible(not streaming)
            self._show_tokens()
        self._name()

    def _name(self) -> None:
        """What assistive technology reads: who, and how it begins."""
        opening = self.message.content[:500] if self.message.role == "user" else self.blocks.opening
        name = f"{self._author}: {' '.join(opening.split())[:120]}"
        if name != self.accessibleName():
            self.setAccessibleName(name)

    def show_origins(self, on: bool) -> None:
        """The reply token by token, once it is written, or as it is to be read."""
        self._by_token = on
        if self.message.role == "assistant":
            self._show_tokens()

    def mark(self, words: Sequence[str]) -> tuple[QWidget, QRect] | None:
        """Mark words in what is shown of the text; the first place."""
        if self._origins is not None and not self._origins.isHidden():
            rect = mark(self._origins.text, words)
            return (self._origins.text, rect) if rect is not None else None
        return self.blocks.mark(words)

    def show_legend(self, on: bool) -> None:
        """Whether what the marks mean stands below this reply."""
        self._legend = on
        if self._origins is not None:
            self._origins.legend.setVisible(on)

    def show_round(self, title: str, rows: Sequence[Sequence[str]]) -> None:
        """One of the reply's rounds."""
        if self._origins is not None:
            self._origins.show_round(title, rows)

    def _show_tokens(self) -> None:
        wanted = self._by_token and self.message.state != "streaming"
        made = pieces(self.message.content, self.message.tokens) if wanted else []
        if made and self._origins is None:
            self._origins = OriginsView()
            self._origins.picked.connect(lambda number: self.round_picked.emit(self.message, number))
            self._origins.legend.setVisible(self._legend)
            self._layout.insertWidget(self._layout.indexOf(self.blocks), self._origins)
        if self._origins is not None:
            self._origins.setVisible(bool(made))
            if made:
                self._origins.text.show_pieces(made)
        self.blocks.setVisible(not made)

    def set_author(self, author: str) -> None:
        """Who it is by."""
        self._author = author
        self._by.setText(author)
        self._name()

    def set_waiting(self, text: str) -> None:
        """What happens before the first word."""
        self._waiting.setText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.step.emit(-1 if event.key() == Qt.Key.Key_Up else 1)
            return
        super().keyPressEvent(event)

    def rewrite(self, text: str = "") -> None:
        """Let a person write their message anew, in its place; ``text`` = how far they had come."""
        if self._rewrite is None:
            self._rewrite = rewrite = Rewrite(text or self.message.content)
            rewrite.sent.connect(lambda new: self.rewritten.emit(self.message, new))
            rewrite.left.connect(self.leave)
            rewrite.paused.connect(lambda new: self.rewriting.emit(self.message.id, new))
            self._inner.addWidget(rewrite)
            self.blocks.hide()
            self._tools.hide()
        if not text:
            self._rewrite.begin()

    def leave(self) -> None:
        """The message as it was."""
        if self._rewrite is not None:
            self._inner.removeWidget(self._rewrite)
            self._rewrite.hide()
            self._rewrite.deleteLater()
            self._rewrite = None
            self.rewriting.emit(self.message.id, "")
            self.blocks.show()
            self._tools.show()
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def keep_rewriting(self) -> None:
        """Tell how far it has come, now."""
        if self._rewrite is not None:
            self.rewriting.emit(self.message.id, self._rewrite.edit.toPlainText())

    def _build_user(self, place: tuple[int, int]) -> None:
        bubble = QFrame()
        bubble.setObjectName("bubble")
        self._inner = QVBoxLayout(bubble)
        self._inner.setContentsMargins(14, 9, 14, 5)
        self._inner.addWidget(self.blocks)
        row = QHBoxLayout()
        row.addSpacing(48)
        row.addWidget(bubble, 1)
        self._tools = QWidget()
        tools = QHBoxLayout(self._tools)
        tools.setContentsMargins(0, 0, 0, 0)
        tools.setSpacing(0)
        tools.addStretch(1)
        if place[1] > 1:
            self._build_siblings(tools, place, "version")
        edit = IconButton("pencil", "Edit message")
        edit.clicked.connect(lambda: self.rewrite())
        self._copy = IconButton("copy", "Copy message")
        self._copy.clicked.connect(self.copy)
        for button in (edit, self._copy):
            tools.addWidget(button)
        whole = QVBoxLayout()
        whole.setSpacing(2)
        whole.addLayout(row)
        whole.addWidget(self._tools)
        self._layout.addLayout(whole)

    def _build_reply(self, place: tuple[int, int]) -> None:
        self._by = QLabel(self._author)
        self._by.setTextFormat(Qt.TextFormat.PlainText)  # names come from model files
        self._by.setObjectName("author")
        head = QHBoxLayout()
        head.addWidget(self._by)
        head.addStretch(1)
        self._layout.addLayout(head)
        self._layout.addWidget(self._waiting)
        self._layout.addWidget(self.blocks)
        self._bar = QWidget()
        row = QHBoxLayout(self._bar)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self._footer, 1)
        self._tools = QWidget()
        row.addWidget(self._tools)
        self._build_tools(place)
        self._layout.addWidget(self._bar)

    def _build_tools(self, place: tuple[int, int]) -> None:
        tools = QHBoxLayout(self._tools)
        tools.setContentsMargins(0, 0, 0, 0)
        tools.setSpacing(0)
        if place[1] > 1:
            self._build_siblings(tools, place, "answer")
        copy = IconButton("copy", "Copy message")
        copy.clicked.connect(self.copy)
        again = IconButton("again", "Regenerate", shortcut="Ctrl+R")
        again.clicked.connect(lambda: self.regenerate.emit(self.message))
        compare = IconButton("columns", "Compare with and without speculation")
        compare.clicked.connect(lambda: self.compare.emit(self.message))
        self._copy = copy
        for button in (copy, again, compare):
            tools.addWidget(button)

    def _build_siblings(self, tools: QHBoxLayout, place: tuple[int, int], what: str) -> None:
        back, forth = IconButton("left", f"Earlier {what}"), IconButton("right", f"Later {what}")
        back.setEnabled(place[0] > 1)
        forth.setEnabled(place[0] < place[1])
        back.clicked.connect(lambda: self.sibling.emit(self.message, -1))
        forth.clicked.connect(lambda: self.sibling.emit(self.message, 1))
        label = QLabel(f"{place[0]}/{place[1]}")
        label.setObjectName("subtle")
        for widget in (back, label, forth):
            tools.addWidget(widget)

    def copy(self) -> None:
        """The message's own text, Markdown and all, without the thinking before it."""
        reply = self.message.role == "assistant"
        QGuiApplication.clipboard().setText(answer(self.message.content) if reply else self.message.content)
        self._copy.set_icon("check")
        QTimer.singleShot(1500, self._copy, lambda: self._copy.set_icon("copy"))
