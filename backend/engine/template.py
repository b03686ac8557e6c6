"""The model's chat template: messages in, prompt out.

Templates come with the model file and are Jinja programs: they are rendered in :mod:`backend.engine.sandbox`, with a
time limit. What they read beside the usual names (``enable_thinking``, …) can be set for each request.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from jinja2 import Template, TemplateSyntaxError, meta, nodes

from backend.engine.limited import run_limited
from backend.engine.prompt import (
    Turn,
    find_parts,
    holds_controls,
    neutralize,
    own_ids,
    tokenize_bare,
    tokenize_parts,
)
from backend.engine.sandbox import LimitExceededError, Sandbox, TemplateRefusedError
from backend.engine.vocab import Vocab
from backend.errors import EngineError, ErrorCode
from backend.protocol import Message
from backend.text import encode_text

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""Used for a file without a template: the form that most models know."""
MAX_SOURCE = 1_000_000
"""Characters of a template's source; real ones have a few thousand."""
STANDARD_NAMES = frozenset(
    {
        *("messages", "add_generation_prompt", "continue_final_message", "tools", "tool_choice", "documents"),
        *("bos_token", "eos_token", "pad_token", "unk_token", "raise_exception", "strftime_now"),
        *("namespace", "range", "dict", "cycler", "joiner", "loop"),
    }
)
"""What every template may read; the rest are the variables that a person can set."""

T = TypeVar("T")


class ChatTemplate:
    """A model's chat template.

    A broken one does not fail here but when it is used, so that the model can be loaded and the fault be shown.

    Args:
        source: the Jinja source from the model file; None or blank for the ChatML form.
        vocab: the model's vocabulary.
        seconds: time limit of one rendering.
    """

    def __init__(self, source: str | None, vocab: Vocab, seconds: float = 2.0) -> None:
        self.fallback = not (source and source.strip())
        """The file has no template and the ChatML form is used."""
        self._source = CHATML if self.fallback or source is None else source
        self._vocab = vocab
        self._seconds = seconds
        self._sandbox = Sandbox()
        self._lock = threading.Lock()  # the sandbox's allowance is for one rendering at a time

    @cached_property
    def note(self) -> str:
        """What a person should know about how the prompt is made; empty when there is nothing."""
        if self.fallback:
            return "The model file has no chat template: the common ChatML form is used."
        turns = [Turn("system", "s"), Turn("user", "u")]
        try:
            merged = self._render_or_merge(turns, {})[1] is not turns
        except EngineError:  # said when it is used
            return ""
        return "This model takes no system prompt: it is put before the first user message." if merged else ""

    @cached_property
    def error(self) -> EngineError | None:
        """Why the template cannot be used at all (TEMPLATE_FAILED), or None."""
        try:
            self._compiled  # noqa: B018 - compiled on first use
        except EngineError as exc:
            return exc
        return None

    @cached_property
    def variables(self) -> list[str]:
        """Names that the template reads beside the standard ones, sorted; none for a broken template."""
        if self.error:
            return []
        return sorted(self._limited(lambda: _settable(self._sandbox.parse(self._source))) - STANDARD_NAMES)

    def render(self, messages: Sequence[Message], template_kwargs: Mapping[str, Any] | None = None) -> str:
        """The prompt's text, up to where the reply begins.

        Raises:
            EngineError: BAD_REQUEST for no messages, a lone surrogate or a variable that the template does not read;
                TEMPLATE_FAILED when the template is broken, takes too long, builds too much, or refuses the messages.
        """
        rendered, _ = self._render_or_merge(self._turns(messages), self._checked(template_kwargs))
        return rendered

    def prompt_tokens(self, messages: Sequence[Message], template_kwargs: Mapping[str, Any] | None = None) -> list[int]:
        """The prompt's token ids, with one BOS where the model wants it (and none where it does not).

        Control tokens come from the template only; in a message their texts are plain text. A reply of this model
        (``x_ids`` with a matching ``x_tokenizer``) keeps its own ids if the template leaves its text as it is.

        Raises:
            EngineError: as :meth:`render`.
        """
        kwargs = self._checked(template_kwargs)
        rendered, turns = self._render_or_merge(self._turns(messages), kwargs)
        try:
            parts = find_parts(rendered, turns, lambda marked: self._render(marked, kwargs), secrets.token_hex(8))
        except EngineError:  # the template looks into the texts and does not take the markers
            parts = None
        if parts is not None:
            ids = tokenize_parts(self._vocab, parts)
        else:
            safe = [self._neutral(turn) for turn in turns]
            if safe != list(turns):
                rendered = self._render(safe, kwargs)
            ids = self._vocab.tokenize(rendered, parse_special=True)
        return self._with_one_bos(ids)

    def text_tokens(self, reply: Message) -> list[int]:
        """A reply's text as it stands behind the prompt that asked for it, for the reply to go on from there.

        The template has no part in it: what it makes of a finished reply (trimmed, without its thoughts, its turn
        closed) is not where an unfinished one stands. So every template that can ask for a reply can go on with one.

        Raises:
            EngineError: BAD_REQUEST for a lone surrogate, or for a reply with control tokens inside: its text does not
                show them, and without them the model would not be where it was.
        """
        encode_text(reply.content)
        if holds_controls(self._vocab, reply.x_ids, reply.x_tokenizer):
            raise EngineError(
                ErrorCode.BAD_REQUEST,
                "This reply holds marks of the model's own that its text does not show, so it cannot go on from its "
                "text: ask for another reply.",
            )
        ids = own_ids(self._vocab, reply.content, reply.x_ids, reply.x_tokenizer)
        return list(ids) if ids is not None else tokenize_bare(self._vocab, reply.content)

    def _with_one_bos(self, ids: list[int]) -> list[int]:
        bos = self._vocab.bos
        if not self._vocab.add_bos or bos is None:
            return ids
        start = 0
        while start < len(ids) and ids[start] == bos:
            start += 1
        return [bos, *ids[start:]]

    def _turns(self, messages: Sequence[Message]) -> list[Turn]:
        if not messages:
            raise EngineError(ErrorCode.BAD_REQUEST, "There is no message to answer: write one.")
        turns = []
        for m in messages:
            encode_text(m.content)
            encode_text(m.reasoning_content or "")
            role = "system" if m.role == "developer" else m.role
            ids = own_ids(self._vocab, m.content, m.x_ids, m.x_tokenizer) if role == "assistant" else None
            turns.append(Turn(role, m.content, m.reasoning_content, ids))
        return turns

    def _checked(self, kwargs: Mapping[str, Any] | None) -> Mapping[str, Any]:
        unknown = sorted(set(kwargs or {}) - set(self.variables))
        if unknown and not self.error:
            known = "it has " + ", ".join(self.variables) if self.variables else "it has none"
            raise EngineError(
                ErrorCode.BAD_REQUEST,
                f"This model's chat template has no variable {', '.join(unknown)}: {known}.",
                {"unknown": unknown, "variables": self.variables},
            )
        return kwargs or {}

    def _neutral(self, turn: Turn) -> Turn:
        reasoning = turn.reasoning and neutralize(self._vocab, turn.reasoning)
        return Turn(turn.role, neutralize(self._vocab, turn.content), reasoning)

    def _render_or_merge(self, turns: Sequence[Turn], kwargs: Mapping[str, Any]) -> tuple[str, Sequence[Turn]]:
        """Render; where the template refuses a system prompt, put it before the first user message (Gemma's way)."""
        try:
            return self._render(turns, kwargs), turns
        except EngineError as exc:
            merged = _merge_system(turns) if exc.details.get("reason") == "refused" else None
            if merged is None:
                raise
        return self._render(merged, kwargs), merged

    def _render(self, turns: Sequence[Turn], kwargs: Mapping[str, Any]) -> str:
        values = {
            **kwargs,
            "messages": [turn.fields() for turn in turns],
            "add_generation_prompt": True,
            "bos_token": self._token_text(self._vocab.bos),
            "eos_token": self._token_text(self._vocab.eos),
            "tools": None,  # templates compare with none, and an undefined name is not none
            "documents": None,
        }
        compiled = self._compiled
        rendered = self._limited(lambda: compiled.render(values))
        if not rendered:
            raise _failed("it makes an empty prompt", "empty")
        encode_text(rendered)
        return rendered

    def _token_text(self, token: int | None) -> str:
        return "" if token is None else self._vocab.piece(token, special=True).decode("utf-8", "replace")

    @cached_property
    def _compiled(self) -> Template:
        if len(self._source) > MAX_SOURCE:
            raise _failed(f"it is {len(self._source):,} characters long", "limit")
        return self._limited(lambda: self._sandbox.from_string(self._source))

    def _limited(self, work: Callable[[], T]) -> T:
        """Run a step of Jinja's within the limits; every fault of the template becomes TEMPLATE_FAILED."""
        with self._lock:
            self._sandbox.reset()
            try:
                return run_limited(work, self._seconds)
            except TimeoutError:
                raise _failed(f"it did not end within {self._seconds:g} s", "time") from None
            except TemplateRefusedError as exc:
                raise _refused(str(exc)) from None
            except (LimitExceededError, MemoryError, OverflowError) as exc:
                raise _failed(str(exc) or "it builds too much text", "limit") from None
            except RecursionError:
                raise _failed("it calls itself without end or is nested too deep", "limit") from None
            except TemplateSyntaxError as exc:
                raise _failed(f"line {exc.lineno}: {exc.message}", "syntax") from None
            except Exception as exc:  # a template can raise whatever Python can
                cause = (str(exc).splitlines() or [""])[0][:300] or type(exc).__name__
                raise _failed(cause, "error") from exc


def _settable(tree: nodes.Template) -> set[str]:
    """Names that a template reads from outside.

    Jinja also counts names that are set on some paths only. Those are the template's own, unless it asks whether they
    are defined: then it sets a default.
    """
    own = {n.name for n in tree.find_all(nodes.Name) if n.ctx == "store"}
    tests = [t for t in tree.find_all(nodes.Test) if t.name in ("defined", "undefined")]
    asked = {t.node.name for t in tests if isinstance(t.node, nodes.Name)}
    return meta.find_undeclared_variables(tree) - (own - asked)


def _merge_system(turns: Sequence[Turn]) -> list[Turn] | None:
    """The conversation with the system prompt in front of the first user message; None if there is none to move."""
    system = "\n\n".join(t.content for t in turns if t.role == "system")
    rest = [t for t in turns if t.role != "system"]
    first = next((i for i, t in enumerate(rest) if t.role == "user"), None)
    if len(rest) == len(turns) or first is None:
        return None
    rest[first] = Turn("user", f"{system}\n\n{rest[first].content}")
    return rest


def _refused(cause: str) -> EngineError:
    return EngineError(
        ErrorCode.TEMPLATE_FAILED,
        f"The model's chat template refuses this conversation: {cause.rstrip('.') or 'it gives no reason'}."
        " Change or remove a message, or choose another model.",
        {"reason": "refused", "cause": cause},
    )


def _failed(cause: str, reason: str) -> EngineError:
    return EngineError(
        ErrorCode.TEMPLATE_FAILED,
        f"The model's chat template cannot be used: {cause.rstrip('.')}. Choose another copy of the model.",
        {"reason": reason, "cause": cause},
    )
