"""What the engine is asked for: the next reply of a chat, more of its last one, and once more the one that is stored.

A reply keeps its recipe (system prompt, sampling, limits, template switches), so that a comparison runs the request
that made it, and so that it goes on as it began, whatever the chat's settings have become since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from backend import protocol, wire
from backend.chats import as_asked
from backend.documents import Attachment, asked
from backend.protocol import ReplyRequest, Sampling, Timings
from desktop.models import parts
from desktop.settings import ChatSettings
from desktop.store import Message


def timings_of(message: Message) -> Timings | None:
    """A stored reply's counters."""
    return wire.read(Timings, message.timings) if message.timings else None


def held(messages: Sequence[Message], tokenizer: str | None) -> int | None:
    """Tokens of a context that holds a chat, as its last reply counted them; None where that says nothing of it now.

    Args:
        messages: of the branch on screen.
        tokenizer: of the target that is loaded; another one's count is none of its own.
    """
    if not messages:
        return 0
    last = messages[-1]
    timings = timings_of(last)
    if timings is None or tokenizer is None or last.tokenizer != tokenizer or parts.by_hand(last):
        return None
    return (timings.cache_n + timings.prompt_n + timings.predicted_n) or None


def prompt(
    upto: list[Message], system: str, typed: str = "", attachments: Iterable[Attachment] = ()
) -> list[protocol.Message]:
    """The messages as the engine takes them; replies carry their token ids, so that nothing is read anew."""
    said = [
        protocol.Message(role=m.role, content=asked(m.content, m.attachments), x_ids=m.ids, x_tokenizer=m.tokenizer)
        for m in upto
    ]
    if content := asked(_valid(typed), attachments):
        said.append(protocol.Message(role="user", content=content))
    return as_asked(said, system)


def request(
    upto: list[Message],
    settings: ChatSettings,
    sampling: Sampling,
    typed: str = "",
    attachments: Iterable[Attachment] = (),
) -> ReplyRequest:
    """The request for the reply after ``upto`` and what was ``typed`` and attached.

    ``sampling`` is what the settings come to.
    """
    return ReplyRequest(
        messages=tuple(prompt(upto, settings.system_prompt, typed, attachments)),
        sampling=sampling,
        max_tokens=settings.max_tokens,
        template_kwargs=settings.template_kwargs(),
    )


def going_on(upto: list[Message], settings: ChatSettings, sampling: Sampling) -> ReplyRequest:
    """The request for more of the last of ``upto``: under its own recipe and seed, with the chat's limit of now."""
    *before, reply = upto
    return _again(reply, [*before, parts.whole(reply)], settings, sampling, settings.max_tokens, go_on=True)


def under(request: ReplyRequest, seed: int | None) -> ReplyRequest:
    """The same request under ``seed``."""
    return request.model_copy(update={"sampling": request.sampling.model_copy(update={"seed": seed})})


def recipe(asked: ReplyRequest, system_prompt: str) -> dict[str, Any]:
    """What is stored with the reply, so that it can be asked for again."""
    return {
        "system_prompt": system_prompt,
        "sampling": asked.sampling.model_dump(mode="json"),
        "max_tokens": asked.max_tokens,
        "template_kwargs": asked.template_kwargs,
    }


def request_again(reply: Message, before: list[Message], settings: ChatSettings, sampling: Sampling) -> ReplyRequest:
    """The request that made ``reply``, under its own seed and as long as it was.

    Args:
        reply: a stored reply; of one that went on the last part is asked for again.
        before: the messages that it answers.
        settings: the chat's, for what older replies did not keep.
        sampling: what these come to.
    """
    begun = parts.went_on_from(reply)
    upto = before if begun is None else [*before, begun]
    most = _length(reply) or reply.settings.get("max_tokens")
    return _again(reply, upto, settings, sampling, most, go_on=begun is not None)


def _again(
    reply: Message,
    upto: list[Message],
    settings: ChatSettings,
    sampling: Sampling,
    max_tokens: int | None,
    *,
    go_on: bool,
) -> ReplyRequest:
    kept = reply.settings
    sampling = wire.read(Sampling, kept.get("sampling", {})) or sampling
    if reply.seed is not None:
        sampling = sampling.model_copy(update={"seed": reply.seed})
    return ReplyRequest(
        messages=tuple(prompt(upto, kept.get("system_prompt", settings.system_prompt))),
        sampling=sampling,
        max_tokens=max_tokens,
        template_kwargs=kept.get("template_kwargs", {}),
        continue_final_message=go_on,
    )


def _length(reply: Message) -> int | None:
    """The tokens it took; one more where it ended by itself, for the end to come by itself again."""
    timings = timings_of(reply)
    tokens = timings.predicted_n if timings is not None else len(reply.ids or ())
    if not tokens:
        return None
    return tokens + 1 if reply.finish == "stop" else tokens


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
