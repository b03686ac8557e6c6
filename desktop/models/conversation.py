"""What is said in the chat on screen: messages, replies, other versions of both, and replies that go on.

No widgets here. The order is fixed: the message and an empty reply are written together and on disk, then the request
goes out. Everything that is shown was written first, so that a fault of the disk leaves nothing half-done.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from backend import protocol
from backend.documents import Attachment
from backend.errors import EngineError
from backend.protocol import ModelInfo, ReplyRequest, Sampling, State
from desktop.bridge import EngineBridge
from desktop.gate import WAITED
from desktop.models import asking, parts
from desktop.models.attempt import Steps
from desktop.models.replying import Replying
from desktop.models.shown import Shown
from desktop.models.thinking import still_opened
from desktop.models.titles import title_from
from desktop.settings import ChatSettings, SettingsFile
from desktop.store import Chat, Draft, Message, NewChat, Store
from desktop.words import EMPTY, ENDED, NOTHING_TO_CONTINUE, WAIT, notice


class Conversation(Shown):
    """The chat on screen, and what is written in it."""

    went_out = Signal(int, object)
    """The place where a message was written (see `Store.unsent`), and what stood there: it is on disk, as a message."""
    rewrote = Signal(int)
    """A message of which another version was made."""
    running_changed = Signal(bool)
    reading = Signal(object)
    measured = Signal(object)
    chat_changed = Signal(int)
    """A chat is new, or what the list says of it has changed."""

    def __init__(
        self,
        store: Store,
        bridge: EngineBridge,
        settings: SettingsFile,
        sampling: Callable[[ChatSettings], Sampling],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(store, settings, parent)
        self._bridge = bridge
        self._sampling = sampling
        """What a chat's settings come to, for the model that answers now."""
        self._replying = replying = Replying(bridge, self.unsaved, self)
        replying.changed.connect(self._replace)
        replying.rounds_changed.connect(lambda message, rounds: self._change(message, rounds=rounds))
        replying.running_changed.connect(self.running_changed)
        replying.reading.connect(self.reading)
        replying.measured.connect(self.measured)
        replying.failed.connect(self._on_failed)
        replying.nothing_added.connect(lambda: self.noticed.emit(ENDED))
        replying.ended.connect(self.chat_changed)

    @property
    def live(self) -> Message | None:
        """The reply that is being made, as it is so far."""
        return self._replying.message

    @property
    def running(self) -> bool:
        """Whether a reply is being made."""
        return self.live is not None

    @property
    def stopped(self) -> bool:
        """Whether a person has stopped the reply that is being made, or the last one."""
        return self._replying.stopped

    @property
    def job(self) -> str:
        """The running reply's, as the engine knows it."""
        return self._replying.job

    @property
    def target(self) -> ModelInfo | None:
        """The model that answers now."""
        return self._replying.state.target

    def send(
        self,
        text: str,
        again: Callable[[], object] | None = None,
        attachments: Sequence[Attachment] = (),
        box: Draft | None = None,
    ) -> bool:
        """Write the message, then ask for a reply.

        Args:
            text: the message.
            again: sends once more what could not be written.
            attachments: what goes along with it.
            box: what stands in the message box, if it is not the same.

        Returns:
            False when it was refused. Until it ``went_out`` the text should stay where it is.
        """
        if self.running or self._held():
            return False
        if not text.strip() and not attachments:
            self.noticed.emit(EMPTY)
            return False
        return self._attempts.run(partial(self._send, text, attachments, box or Draft(text, tuple(attachments))), again)

    def rewrite(self, message: Message, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Another version of a message that was sent, beside the old one, and the reply to it."""
        if self._busy(partial(self.rewrite, message, text, attachments)):
            return
        if not text.strip() and not attachments:
            self.noticed.emit(EMPTY)
        else:
            self._attempts.run(partial(self._rewrite, message, text, attachments))

    def regenerate(self, message: Message | None = None) -> None:
        """Another answer to the same message, beside the old one: with a fresh seed unless one is pinned."""
        if self.running or not self.messages or self._held():
            return
        ids = [m.id for m in self.messages]
        at = ids.index(message.id) if message is not None and message.id in ids else len(ids) - 1
        if self.messages[at].role == "assistant":
            at -= 1
        if at >= 0:
            self.answer(self.messages[at].chat, ids[at])

    def go_on(self, reply: Message | None = None) -> None:
        """More of the last reply, where it was cut off or changed by a person: in the same message."""
        if reply is None and not self.messages:
            return
        reply = reply or self.messages[-1]
        if self.live is not None and self.live.id == reply.id:  # asked for twice
            return
        if not self._busy(partial(self.go_on, reply)):
            self._attempts.run(partial(self._go_on, reply.chat, reply.id))

    def edit_reply(self, reply: Message, text: str) -> None:
        """A person's version of a reply, beside the old one; the chat goes on from it."""
        if self._busy(partial(self.edit_reply, reply, text)):
            return
        if not text.strip():
            self.noticed.emit(EMPTY)
        else:
            self._attempts.run(partial(self._edit_reply, reply, text))

    def answer(self, chat: int, asked: int) -> None:
        """Another answer to the message ``asked``, also when other messages are on screen by now."""
        if not self._busy(partial(self.answer, chat, asked)):
            self._attempts.run(partial(self._answer, chat, asked))

    def stop(self, chat: int | None = None) -> None:
        """Stop the running reply (if ``chat`` is given: only one of that chat); what was written stays."""
        if self.live is not None and chat in (None, self.live.chat):
            self._replying.stop()

    def finish(self) -> None:
        """The engine is gone for good (the program ends): keep what there is."""
        self._replying.finish()
        self.unsaved.settle()

    def prompt(self, typed: str = "", attachments: Sequence[Attachment] = ()) -> list[protocol.Message]:
        """What the engine would read if this were sent now."""
        return asking.prompt(self.messages, self.chat_settings.system_prompt, typed, attachments)

    def request_again(self, reply: Message) -> ReplyRequest:
        """The request that made ``reply``, for a comparison."""
        before = self.messages[: [m.id for m in self.messages].index(reply.id)]
        return asking.request_again(reply, before, self.chat_settings, self._sampling(self.chat_settings))

    def set_comparison(self, reply: Message, comparison: dict[str, Any]) -> None:
        """Keep a comparison's figures with its reply."""
        self._change(reply.id, comparison=comparison)
        self.unsaved.update(reply.id, comparison=comparison)

    def _busy(self, again: Callable[[], object]) -> bool:
        """Whether a reply is being made, or the disk has something to do first; that is said."""
        if self.running:
            self.noticed.emit(replace(WAIT, retry=again))
        return self.running or self._held()

    def _held(self) -> bool:
        if self._attempts.waiting:
            self._attempts.say()
        return self._attempts.waiting

    # Whoever waits for a write may find something else on screen after it: then only what follows in the chat is done.

    def _send(self, text: str, attachments: Sequence[Attachment], box: Draft) -> Steps:
        chat: Chat | NewChat | None = self.chat
        if chat is None:
            title = title_from(text if text.strip() else attachments[0].shown)
            chat = NewChat(title, self.chat_settings.model_dump(mode="json"))
        parent, shown = self.messages[-1].id if self.messages else None, self.messages
        request = self._request(shown, text, attachments)
        made_with = self._made_with(request)
        made, asked, reply = yield self._store.add_turn(chat, parent, text, attachments, **made_with)
        if there := self.messages is shown:
            self.chat = made
            for message in (asked, reply):
                self.messages.append(message)
                self.appended.emit(message)
        self._begin(made.id, reply, request, there=there)
        self.chat_changed.emit(made.id)
        self.went_out.emit(0 if isinstance(chat, NewChat) else chat.id, box)

    def _rewrite(self, message: Message, text: str, attachments: Sequence[Attachment]) -> Steps:
        upto = yield from self._upto(message.chat, message.id)
        if upto is None or self.chat is None:
            return
        request, shown = self._request(upto[:-1], text, attachments), self.messages
        made_with = self._made_with(request)
        made, asked, reply = yield self._store.add_turn(self.chat, message.parent, text, attachments, **made_with)
        if there := self.messages is shown:
            self.chat, self.messages = made, [*upto[:-1], asked, reply]
            self.opened.emit(self.messages[:-1])
        self.rewrote.emit(message.id)
        if there:
            self.appended.emit(reply)
        self._begin(made.id, reply, request, there=there)
        self.chat_changed.emit(made.id)

    def _answer(self, chat: int, asked: int) -> Steps:
        upto = yield from self._upto(chat, asked)
        if upto is None:
            return
        request, shown = self._request(upto), self.messages
        made_with = self._made_with(request)
        reply = yield self._store.add_message(chat, asked, "assistant", "", "streaming", **made_with)
        if there := self.messages is shown:
            self.messages = [*upto, reply]
            self.opened.emit(upto)
            self.appended.emit(reply)
        self._begin(chat, reply, request, there=there)

    def _begin(self, chat: int, reply: Message, request: ReplyRequest, *, there: bool) -> None:
        """Ask for a reply; ``there`` = it is on screen already, else it is if its chat is."""
        self._replying.begin(reply, request)
        if not there:
            self._read_again(chat)

    def _go_on(self, chat: int, reply: int) -> Steps:
        upto = yield from self._upto(chat, reply)
        if upto is None:
            return
        last = upto[-1]
        if len(upto) < len(self.messages) or not parts.can_go_on(last):
            self.noticed.emit(NOTHING_TO_CONTINUE)
            return
        request = asking.going_on(upto, self.chat_settings, self._sampling(self.chat_settings))
        made_with = self._made_with(request, last.settings.get("system_prompt"))
        self._replying.go_on(last, request, **made_with | {"target": made_with["target"] or last.target})

    def _edit_reply(self, reply: Message, text: str) -> Steps:
        upto = yield from self._upto(reply.chat, reply.id)
        if upto is None:
            return
        known: dict[str, Any] = {"target": reply.target, "settings": reply.settings}
        known["parts"] = (parts.edited(text, reply.target, opened=still_opened(reply, text)),)
        shown = self.messages
        edited = yield self._store.add_message(reply.chat, reply.parent, "assistant", text, **known)
        if self.messages is shown:
            self.messages = [*upto[:-1], edited]
            self.opened.emit(self.messages)
        else:
            self._read_again(reply.chat)
        self.rewrote.emit(reply.id)
        self.chat_changed.emit(reply.chat)

    def _request(self, upto: list[Message], typed: str = "", attachments: Sequence[Attachment] = ()) -> ReplyRequest:
        return asking.request(upto, self.chat_settings, self._sampling(self.chat_settings), typed, attachments)

    def _made_with(self, request: ReplyRequest, system_prompt: str | None = None) -> dict[str, Any]:
        """What a reply's row says of how it is made, before its first word: no model while another is on its way."""
        state = State() if self._bridge.holding else self._replying.state
        system = self.chat_settings.system_prompt if system_prompt is None else system_prompt
        return {
            "target": state.target.id if state.target else None,
            "draft": state.draft.id if state.draft else None,
            "seed": secrets.randbits(53) if request.sampling.seed is None else request.sampling.seed,
            "settings": asking.recipe(request, system),
        }

    def _on_failed(self, message: Message, error: EngineError, going_on: bool) -> None:
        again = partial(self.answer, message.chat, message.parent) if message.parent is not None else None
        if going_on:
            again = partial(self.go_on, message)
        if error.details.get(WAITED):  # its pair did not come: what can be tried again is said there
            again = None
        self.noticed.emit(notice(error, partial=bool(message.content), retry=again))
