"""What is written goes out, unless it does not fit: then that is said first, with what would fit as a choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject

from backend.documents import Attachment
from backend.errors import EngineError
from desktop.bridge import EngineBridge
from desktop.fitting import Fit, Prompt
from desktop.language import counted, tr
from desktop.models import asking
from desktop.models.conversation import Conversation
from desktop.models.engine import Engine
from desktop.store import Chat, Draft, Message
from desktop.views.chat_page import ChatPage
from desktop.words import Notice


@dataclass(frozen=True, slots=True)
class _Asked:
    """What waits for its tokens to be counted."""

    job: str
    attachments: tuple[Attachment, ...]
    still: Callable[[], bool]
    """Whether it is still what a person wants to send."""
    go: Callable[[tuple[Attachment, ...]], object]


class Sending(QObject):
    """Binds the message box, and messages that are written anew, to the conversation.

    Attachments are long, so a message with some is counted before it is sent. Without a model nothing can be counted:
    the message goes out and waits for one.
    """

    def __init__(self, page: ChatPage, bridge: EngineBridge, engine: Engine, conversation: Conversation) -> None:
        super().__init__(page)
        self._page, self._bridge, self._engine = page, bridge, engine
        self._conversation = conversation
        self._asked: _Asked | None = None
        self._told: tuple[_Asked, Notice] | None = None
        """What did not fit, and what was said of it."""
        page.composer.submitted.connect(lambda _: self.send())
        page.composer.writing.edited.connect(self._look_again)
        page.messages.rewriting.connect(lambda *_: self._look_again())
        conversation.opened.connect(lambda _: self._look_again())
        page.messages.rewritten.connect(self.rewrite)
        bridge.fitted.connect(self._fitted)
        bridge.failed.connect(self._failed)

    def send(self) -> None:
        """What is in the box."""
        self._page.notice.hide()
        conversation, composer = self._conversation, self._page.composer
        draft, chat = composer.draft, self._chat()
        self._ask(
            conversation.messages,
            draft,
            still=lambda: composer.draft == draft and self._chat() == chat,
            go=partial(self._send, draft),
        )

    def rewrite(self, message: Message, draft: Draft) -> None:
        """Another version of a message, or of a reply."""
        conversation = self._conversation
        if message.role == "assistant":
            conversation.edit_reply(message, draft.text)
            return
        ids = [m.id for m in conversation.messages]
        before = conversation.messages[: ids.index(message.id) if message.id in ids else 0]
        self._ask(
            before,
            draft,
            still=lambda: self._page.messages.draft(message.id) == draft,
            go=partial(conversation.rewrite, message, draft.text),
        )

    def _ask(
        self,
        before: list[Message],
        draft: Draft,
        still: Callable[[], bool],
        go: Callable[[tuple[Attachment, ...]], object],
    ) -> None:
        unknown = self._engine.state.target is None or self._bridge.holding
        if not draft.attachments or unknown or self._conversation.running:
            go(draft.attachments)
            return
        settings = self._conversation.chat_settings
        # made on another thread: of the messages as they are now
        prompt: Prompt = partial(asking.prompt, list(before), settings.system_prompt, draft.text)
        job = self._bridge.fit(prompt, draft.attachments, settings.max_tokens, settings.template_kwargs())
        self._asked = _Asked(job, draft.attachments, still, go)
        self._page.composer.say(tr("Counting tokens…"))

    def _fitted(self, job: str, fit: Fit | None) -> None:
        if (asked := self._taken(job)) is None or not asked.still():
            return
        if fit is None or fit.whole:
            asked.go(asked.attachments)
            return
        said = _notice(fit, asked, self._page.composer.setFocus)
        self._told = asked, said
        self._page.notice.show_notice(said)

    def _look_again(self) -> None:
        """It may fit now that it is changed, or is not to be sent any more."""
        if self._told is not None and not self._told[0].still():
            self._page.notice.withdraw(self._told[1])
            self._told = None

    def _failed(self, job: str, _error: EngineError) -> None:
        """It is sent, and the engine says what is wrong."""
        if (asked := self._taken(job)) is not None and asked.still():
            asked.go(asked.attachments)

    def _taken(self, job: str) -> _Asked | None:
        asked = self._asked
        if asked is None or asked.job != job:
            return None
        self._asked = None
        self._page.composer.say("")
        return asked

    def _send(self, draft: Draft, attachments: tuple[Attachment, ...]) -> None:
        again = partial(self._send_in, self._conversation.chat)
        self._conversation.send(draft.text, again, attachments, draft)

    def _chat(self) -> int | None:
        return self._conversation.chat.id if self._conversation.chat is not None else None

    def _send_in(self, chat: Chat | None) -> None:
        """Send what is written now, but nowhere else than where it was meant for."""
        if chat is not None:
            self._conversation.open(chat.id)
        elif self._conversation.chat is not None:
            self._conversation.new()
        if self._chat() == (chat.id if chat else None):
            self._page.composer.submit()


def _notice(fit: Fit, asked: _Asked, leave: Callable[[], object]) -> Notice:
    title, holds = tr("This does not fit into the context"), _holds(fit)
    if not fit.kept:
        alone = counted(
            "Without attachments the prompt has {tokens:,} token, and there is no room for more.",
            "Without attachments the prompt has {tokens:,} tokens, and there is no room for more.",
            fit.bare,
            tokens=fit.bare,
        )
        return Notice(title, f"{holds} {alone}", ("settings", "cancel"), mild=True, does={"cancel": leave})
    fits = tr("What fits: {parts}.", parts=_parts(fit.kept, asked.attachments))
    return Notice(
        title,
        f"{holds} {fits}",
        ("first_part", "settings", "cancel"),
        mild=True,
        does={"first_part": lambda: asked.go(fit.kept) if asked.still() else None, "cancel": leave},
    )


def _holds(fit: Fit) -> str:
    prompt = counted(
        "The message makes a prompt of {tokens:,} token.",
        "The message makes a prompt of {tokens:,} tokens.",
        fit.tokens,
        tokens=fit.tokens,
    )
    room = counted(
        "The context holds {size:,}, of which {reply:,} is left for the reply.",
        "The context holds {size:,}, of which {reply:,} are left for the reply.",
        fit.reply,
        size=fit.size,
        reply=fit.reply,
    )
    return f"{prompt} {room}"


def _parts(kept: tuple[Attachment, ...], attachments: tuple[Attachment, ...]) -> str:
    said = [
        tr("all of {name}", name=now.shown) if now == before else tr("of {name} {part}", name=now.shown, part=now.part)
        for now, before in zip(kept, attachments, strict=False)
    ]
    said += [tr("nothing of {name}", name=attachment.shown) for attachment in attachments[len(kept) :]]
    return ", ".join(said)
