"""One message on screen: a person's as typed, a reply as Markdown blocks with its buttons and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from desktop.figures import footer
from desktop.language import marked, tr
from desktop.maths.typesetter import Typesetter
from desktop.models.asking import timings_of
from desktop.models.origins import pieces
from desktop.models.parts import by_hand, can_go_on, story
from desktop.models.thinking import whole_text
from desktop.settings import SendWith
from desktop.store import Draft, Message
from desktop.widgets.attached import Attached
from desktop.widgets.blocks import BlockView
from desktop.widgets.marks import mark
from desktop.widgets.message_tools import MessageTools
from desktop.widgets.origins import OriginsView
from desktop.widgets.rewrite import Rewrite
from desktop.widgets.thoughts import answer
from desktop.widgets.tips import plain
from desktop.widgets.writing import as_typed

RING = 7
"""Room beside the text for the line that shows the focus."""
_ENDS = {"length": marked("stopped at the token limit"), "cancelled": marked("stopped")}
_OF_PARTS = marked("What was written before stays as it was; the figures are of what was written last.")


class MessageWidget(QFrame):
    """Shows a store record; ``show_message`` again whenever the record changed.

    Args:
        message: the record.
        author: who a message is by.
        place: see ``MessageTools``.
    """

    regenerate = Signal(object)
    go_on = Signal(object)
    compare = Signal(object)
    sibling = Signal(object, int)
    rewritten = Signal(object, object)
    """A message, and the Draft of another version."""
    rewriting = Signal(int, object)
    offered = Signal(object, object)
    """See ``MessageView``."""
    round_picked = Signal(object, int)
    """A reply, and one of its rounds."""
    step = Signal(int)
    """Arrow keys move between messages."""

    def __init__(
        self,
        message: Message,
        author: Callable[[Message], str],
        place: tuple[int, int],
        parent: QWidget | None = None,
        *,
        maths: Typesetter | None = None,
    ) -> None:
        super().__init__(parent)
        self.message = message
        self.setObjectName("message")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._author_of, self._author = author, author(message)
        self.blocks = BlockView(maths=maths)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(RING, 2, RING, 2)
        self._layout.setSpacing(6)
        self.send_with: SendWith = "enter"
        """What sends a message that is written anew."""
        self._rewrite: Rewrite | None = None
        self.cards = [Attached(attachment) for attachment in message.attachments]
        self._origins: OriginsView | None = None
        self._by_token = self._last = False
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
        before, self.message = self.message, message
        if message.role == "user":
            self.blocks.show_plain(message.content)
            self._show_text()
        else:
            streaming = message.state == "streaming"
            if message.target != before.target:  # known only when its model was there, and another may go on
                self._author = self._author_of(message)
                self._by.setText(self._author)
            self.blocks.show_markdown(whole_text(message), complete=not streaming)
            self._waiting.setVisible(streaming and not message.content)
            self._tools.setEnabled(not streaming)
            self._bar.setVisible(not streaming and self._rewrite is None)
            if streaming:
                self._footer.clear()
            else:
                self._show_end(message)
            self._show_text()
        self._name()

    def _show_end(self, message: Message) -> None:
        """What there is to say of a reply that is not being written, and to do with it."""
        extra = [tr(_ENDS[message.finish])] if message.finish in _ENDS else []
        if message.state == "failed":
            why = str((message.error or {}).get("message", tr("the engine stopped")))[:2000]  # any program's
            extra = [tr("failed: {why}", why=why)]
        elif message.state == "stopped" and not message.finish:
            extra = [tr("Tandem ended while this was written")]
        how = story(message, lambda target: self._author_of(replace(message, target=target)))
        self._footer.setText(footer(timings_of(message), message.comparison, extra, how))
        self._footer.setToolTip(plain("\n".join(filter(None, (tr(_OF_PARTS) if how else "", message.note)))))
        self._compare.setVisible(not by_hand(message))
        self._continue.setVisible(self._last and can_go_on(message))

    def _name(self) -> None:
        """What assistive technology reads: who, and how it begins."""
        opening = self.message.content[:500] if self.message.role == "user" else self.blocks.opening
        names = ", ".join(attachment.shown for attachment in self.message.attachments)
        said = {"author": self._author, "words": " ".join(opening.split())[:120]}
        name = tr("{author}: {words} (with {names})", names=names, **said) if names else tr("{author}: {words}", **said)
        if name != self.accessibleName():
            self.setAccessibleName(name)

    def show_origins(self, on: bool) -> None:
        """The reply token by token, once it is written, or as it is to be read."""
        self._by_token = on
        if self.message.role == "assistant":
            self._show_text()

    def mark(self, words: Sequence[str]) -> tuple[QWidget, QRect] | None:
        """Mark words in what is shown of the text; the first place."""
        if self._origins is not None and not self._origins.isHidden():
            rect = mark(self._origins.text, words)
            return (self._origins.text, rect) if rect is not None else None
        places = [self.blocks.mark(words), *(card.mark(words) for card in self.cards)]
        return next((place for place in places if place is not None), None)

    def set_last(self, on: bool) -> None:
        """Whether it is the last one: below that stands what the marks mean, and that alone can go on."""
        self._last = on
        if self._origins is not None:
            self._origins.legend.setVisible(on)
        if self.message.role == "assistant":
            self._continue.setVisible(on and can_go_on(self.message))

    def show_round(self, title: str, rows: Sequence[Sequence[str]]) -> None:
        """One of the reply's rounds."""
        if self._origins is not None:
            self._origins.show_round(title, rows)

    def _show_text(self) -> None:
        """As it is to be read, token by token, or not at all while a person writes it anew."""
        wanted = self._by_token and self.message.state != "streaming" and self._rewrite is None
        made = pieces(self.message.content, self.message.tokens) if wanted else []
        if made and self._origins is None:
            self._origins = OriginsView()
            self._origins.picked.connect(lambda number: self.round_picked.emit(self.message, number))
            self._origins.legend.setVisible(self._last)
            self._inner.insertWidget(0, self._origins)
        if self._origins is not None:
            self._origins.setVisible(bool(made))
            if made:
                self._origins.text.show_pieces(made, self.message.rounds)
        own = self._rewrite is None
        self.blocks.setVisible(not made and own and bool(self.message.content.strip() or not self.cards))
        for card in self.cards:
            card.setVisible(own)

    def set_waiting(self, text: str) -> None:
        """What happens before the first word of a reply."""
        self._waiting.setText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.step.emit(-1 if event.key() == Qt.Key.Key_Up else 1)
            return
        super().keyPressEvent(event)

    def rewrite(self, draft: Draft | None = None) -> None:
        """Let a person write the message anew, in its place; ``draft`` = how far they had come."""
        if self._rewrite is None:
            reply = self.message.role == "assistant"
            whole = Draft(self.message.content, self.message.attachments)
            self._rewrite = rewrite = Rewrite(draft or whole, self.send_with, reply=reply)
            rewrite.sent.connect(self._rewritten)
            rewrite.left.connect(self.leave)
            rewrite.paused.connect(lambda new: self.rewriting.emit(self.message.id, new))
            rewrite.writing.offered.connect(lambda what: self.offered.emit(rewrite.writing, what))
            self._inner.addWidget(rewrite)
            self._show_text()
            self._bar.hide()
        if draft is None:
            self._rewrite.begin()

    def _rewritten(self, draft: Draft) -> None:
        if self.message.role == "assistant" and draft.text == as_typed(self.message.content):
            self.leave()  # there is nothing to ask anew, as there is with a message
        else:
            self.rewritten.emit(self.message, draft)

    def leave(self) -> None:
        """The message as it was."""
        if self._rewrite is not None:
            self._inner.removeWidget(self._rewrite)
            self._rewrite.hide()
            self._rewrite.writing.chips.replace(())  # what is still being read is not wanted
            self._rewrite.deleteLater()
            self._rewrite = None
            self.rewriting.emit(self.message.id, Draft())
            self._show_text()
            self._bar.setVisible(self.message.state != "streaming")
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def draft(self) -> Draft | None:
        """Its new version as far as it is written; None = nobody writes one."""
        return self._rewrite.writing.draft if self._rewrite is not None else None

    def keep_rewriting(self) -> None:
        """Tell how far it has come, now."""
        if (draft := self.draft) is not None:
            self.rewriting.emit(self.message.id, draft)

    def _build_user(self, place: tuple[int, int]) -> None:
        bubble = QFrame()
        bubble.setObjectName("bubble")
        self._inner = QVBoxLayout(bubble)
        self._inner.setContentsMargins(14, 9, 14, 5)
        for widget in (*self.cards, self.blocks):
            self._inner.addWidget(widget)
        row = QHBoxLayout()
        row.addSpacing(48)
        row.addWidget(bubble, 1)
        self._tools = MessageTools(place, tr("Earlier version"), tr("Later version"))
        self._tools.sibling.connect(lambda step: self.sibling.emit(self.message, step))
        self._tools.add("pencil", tr("Edit message"), self.rewrite)
        self._tools.add_copy(self.copy)
        self._bar: QWidget = self._tools
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
        self._waiting = QLabel(tr("Waiting for the first word…"))
        self._waiting.setObjectName("subtle")
        self._layout.addWidget(self._waiting)
        self._inner = QVBoxLayout()
        self._inner.addWidget(self.blocks)
        self._layout.addLayout(self._inner)
        self._footer = QLabel()
        self._footer.setObjectName("footer")
        self._footer.setWordWrap(True)
        self._footer.setTextFormat(Qt.TextFormat.PlainText)
        self._bar = QWidget()
        row = QHBoxLayout(self._bar)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self._footer, 1)
        self._tools = tools = MessageTools(place, tr("Earlier answer"), tr("Later answer"))
        tools.sibling.connect(lambda step: self.sibling.emit(self.message, step))
        tools.add("pencil", tr("Edit reply"), self.rewrite)
        tools.add_copy(self.copy)
        self._continue = tools.add("onward", tr("Continue"), lambda: self.go_on.emit(self.message), "continue")
        tools.add("again", tr("Regenerate"), lambda: self.regenerate.emit(self.message), "regenerate")
        compare = tr("Compare with and without speculation")
        self._compare = tools.add("columns", compare, lambda: self.compare.emit(self.message))
        row.addWidget(tools)
        self._layout.addWidget(self._bar)

    def copy(self) -> None:
        """The message's own text, Markdown and all, without the thinking before it."""
        text = whole_text(self.message)
        QGuiApplication.clipboard().setText(answer(text) if self.message.role == "assistant" else text)
        self._tools.show_copied()
