"""OpenAI-shaped bodies into requests: what is accepted, what is refused, and with which sentence.

Unknown fields are ignored, as every OpenAI-compatible server does. Known fields that would change the answer and that
Tandem does not honour are refused by name: an answer that silently ignores what was asked for is worse than none.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from backend.errors import EngineError, ErrorCode
from backend.protocol import Message, ReplyRequest, Sampling, Speculation
from backend.text import encode_text

M = TypeVar("M", bound=BaseModel)

API_DEFAULTS = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0}
"""What OpenAI's API means when a field is left out: the target's plain distribution."""
MAX_JOB_ID = 128
_TEXT_PARTS = frozenset({"text", "input_text"})
_PART_NAMES = {"image_url": "images", "input_image": "images", "input_audio": "audio", "file": "files"}


def bad(message: str, **details: Any) -> NoReturn:
    """Refuse a request with ``bad_request``."""
    raise EngineError(ErrorCode.BAD_REQUEST, message, details)


def unsupported(what: str, field: str) -> NoReturn:
    """Refuse something that is valid elsewhere but that Tandem does not do."""
    raise EngineError(
        ErrorCode.UNSUPPORTED_CONTENT,
        f"Tandem does not handle {what} yet; remove that part and send text only.",
        {"field": field},
    )


def parse_json(raw: bytes) -> dict[str, Any]:
    """The body as an object.

    Raises:
        EngineError: ``bad_request`` for bytes that are not UTF-8, text that is not JSON, NaN, or not an object.
    """
    try:
        body = json.loads(raw.decode("utf-8"), parse_constant=lambda name: bad(f"{name} is not a JSON number."))
    except UnicodeDecodeError as error:
        bad(f"The request is not valid UTF-8 (byte {error.start}); send UTF-8 text.", byte=error.start)
    except json.JSONDecodeError as error:
        bad(f"The request is not valid JSON ({error.msg} at character {error.pos}).", character=error.pos)
    except (RecursionError, ValueError):
        bad("The request's JSON is nested too deeply or holds a number with too many digits.")
    if not isinstance(body, dict):
        bad("The request must be a JSON object.")
    return body


def take_job_id(body: dict[str, Any]) -> str | None:
    """Remove and return ``x_job``, the client's own id for this piece of work."""
    job = body.pop("x_job", None)
    if job is None:
        return None
    if not isinstance(job, str) or not 0 < len(job) <= MAX_JOB_ID or not job.isascii() or not job.isprintable():
        bad(f"x_job must be a printable ASCII string of at most {MAX_JOB_ID} characters.")
    if "/" in job:
        bad("x_job must not contain a slash.")
    return job


def validate(model: type[M], raw: Any, where: str = "") -> M:
    """``raw`` as a ``model``, or a ``bad_request`` naming the first field that is wrong. Texts are never quoted."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in (where, *first["loc"]) if part != "") or "The request"
        given = first.get("input")
        shown = f", but is {given}" if isinstance(given, (int, float)) and not isinstance(given, bool) else ""
        reason = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        verb = "must be " if first["msg"].startswith("Input should be ") else "is wrong: "
        bad(f"{path} {verb}{reason}{shown}.", field=path)


def reply_request(body: dict[str, Any]) -> ReplyRequest:
    """A chat-completions body as the engine's request.

    Raises:
        EngineError: ``bad_request`` or ``unsupported_content``, with a sentence that names the field.
    """
    _refuse_unsupported(body)
    raw: dict[str, Any] = {
        "messages": messages(body),
        "sampling": _sampling(body),
        "max_tokens": _first_given(body, "max_completion_tokens", "max_tokens"),
        "stop": _stop(body),
        "template_kwargs": template_kwargs(body),
        "reuse_cache": _flag(body, "x_cache", True),
        "probabilities": _flag(body, "x_probabilities", False),
        "ignore_eos": _flag(body, "x_ignore_eos", False),
        "learner": body.get("x_learner") or "",
        "continue_final_message": _continues(body),
    }
    if body.get("x_speculation") is not None:
        raw["speculation"] = validate(Speculation, body["x_speculation"], "x_speculation")
    return validate(ReplyRequest, raw)


def messages(body: dict[str, Any]) -> tuple[Message, ...]:
    """The conversation, checked: text only, encodable, and with something to answer."""
    raw = body.get("messages")
    if not isinstance(raw, list):
        bad("messages must be a list of chat messages.", field="messages")
    if not raw:
        bad("messages is empty; send at least one message.", field="messages")
    result = tuple(_message(item, i) for i, item in enumerate(raw))
    last = result[-1]
    if last.role == "user" and not last.content.strip():
        bad("The message is empty; write something to answer.", field=f"messages.{len(result) - 1}.content")
    return result


def reply_ids(body: dict[str, Any]) -> tuple[int, ...]:
    """``ids``: a reply as token ids."""
    raw = body.get("ids")
    if not isinstance(raw, list) or not raw or not all(type(i) is int and 0 <= i < 2**31 for i in raw):
        bad("ids must be a list of token ids, at least one.", field="ids")
    return tuple(raw)


def template_kwargs(body: dict[str, Any]) -> dict[str, Any]:
    """``chat_template_kwargs``, or an empty object."""
    value = body.get("chat_template_kwargs") or {}
    if not isinstance(value, dict):
        bad("chat_template_kwargs must be an object.", field="chat_template_kwargs")
    _check_texts(value, "chat_template_kwargs")
    return value


def wants_stream(body: dict[str, Any]) -> tuple[bool, bool]:
    """(stream the answer, send the usage in a last chunk)."""
    options = body.get("stream_options") or {}
    usage = isinstance(options, dict) and options.get("include_usage") is True
    return _flag(body, "stream", False), usage


def _message(item: Any, index: int) -> Message:
    where = f"messages.{index}"
    if not isinstance(item, dict):
        bad(f"{where} must be an object with role and content.", field=where)
    if item.get("tool_calls") or item.get("function_call"):
        unsupported("tool calls", f"{where}.tool_calls")
    content = _content(item.get("content"), item.get("role"), where)
    _check_texts(content, f"{where}.content")
    _check_texts(item.get("reasoning_content"), f"{where}.reasoning_content")
    return validate(Message, item | {"content": content}, where)


def _content(content: Any, role: Any, where: str) -> str:
    if isinstance(content, str):
        return content
    if content is None and role == "assistant":
        return ""
    if not isinstance(content, list):
        bad(f"{where}.content must be text.", field=f"{where}.content")
    parts = []
    for i, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in _TEXT_PARTS:
            unsupported(_PART_NAMES.get(str(kind), "this kind of content"), f"{where}.content.{i}")
        if not isinstance(part.get("text"), str):
            bad(f"{where}.content.{i}.text must be text.", field=f"{where}.content.{i}.text")
        parts.append(part["text"])
    return "\n".join(parts)


def _sampling(body: dict[str, Any]) -> Sampling:
    raw: dict[str, Any] = dict(API_DEFAULTS)
    for name in Sampling.model_fields:
        if body.get(name) is not None:
            raw[name] = body[name]
    if raw["top_k"] == -1:  # vLLM's way to switch it off
        raw["top_k"] = 0
    if raw.get("seed") == -1:  # llama-server's way to ask for a fresh one
        raw.pop("seed")
    return validate(Sampling, raw)


def _continues(body: dict[str, Any]) -> bool:
    continues = _flag(body, "continue_final_message", False)
    if continues and _flag(body, "add_generation_prompt", False):
        bad("continue_final_message and add_generation_prompt exclude each other.", field="add_generation_prompt")
    return continues


def _stop(body: dict[str, Any]) -> tuple[str, ...]:
    stop = body.get("stop")
    if stop is None:
        return ()
    stops = [stop] if isinstance(stop, str) else stop
    if not isinstance(stops, list) or not all(isinstance(s, str) for s in stops):
        bad("stop must be a string or a list of strings.", field="stop")
    _check_texts(stops, "stop")
    return tuple(stops)


def _first_given(body: dict[str, Any], *names: str) -> Any:
    return next((body[name] for name in names if body.get(name) is not None), None)


def _flag(body: dict[str, Any], name: str, default: bool) -> bool:
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        bad(f"{name} must be true or false.", field=name)
    return value


def _refuse_unsupported(body: dict[str, Any]) -> None:
    if body.get("tools") or body.get("functions"):
        unsupported("tools", "tools")
    form = body.get("response_format")
    if form is not None and not (isinstance(form, dict) and form.get("type") == "text"):
        unsupported("response formats", "response_format")
    if body.get("n") not in (None, 1):
        unsupported("several answers to one request (n)", "n")
    if body.get("logprobs"):
        unsupported("logprobs", "logprobs")
    for name in ("frequency_penalty", "presence_penalty", "logit_bias"):
        if body.get(name):
            unsupported(name, name)


def _check_texts(value: Any, where: str) -> None:
    """Lone surrogates pass JSON but are no text: no tokenizer can encode them."""
    if isinstance(value, str):
        encode_text(value, where)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_texts(key, where)
            _check_texts(item, f"{where}.{key}")
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            _check_texts(item, f"{where}.{i}")
