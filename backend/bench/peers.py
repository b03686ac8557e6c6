"""Other servers in the same interleaved run: llama-server, or whatever speaks OpenAI's chat API.

llama-server's own figures are used (``timings``; its ``predicted_ms`` starts, like ours, when the prompt's logits are
ready); of a server that measures nothing, the client's clock is. Its prompt cache is switched off for each request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from urllib.parse import urlsplit

from backend.bench.runner import WARM_UP_TOKENS, Run, collect, reply_request
from backend.bench.workloads import Prompt
from backend.client.http import Http
from backend.client.reply import ReplyReader, reply_body
from backend.errors import EngineError, ErrorCode
from backend.protocol import ReplyEvent, ReplyRequest, Sampling

_PATIENCE = 30.0
"""Seconds that a server may take to name its models."""
_SILENCE = 600.0
"""Seconds without a word, after which a peer counts as hung: a long prompt on a slow machine takes minutes."""


class Peer:
    """A server that answers the same prompts.

    Args:
        name: of the mode in the results.
        url: with or without ``/v1``.
        max_tokens: of each reply.
        ignore_eos: llama-server's way to make every reply equally long.
    """

    def __init__(self, name: str, url: str, max_tokens: int, ignore_eos: bool = False) -> None:
        self.name = name
        self._http = Http(url.rstrip("/").removesuffix("/v1"), "")
        self._max_tokens = max_tokens
        self._ignore_eos = ignore_eos
        self._model: str | None = None

    async def answer(self, prompt: Prompt, sampling: Sampling, repeat: int = 0) -> Run:
        """See :class:`backend.bench.runner.Contestant`."""
        request = reply_request(prompt, sampling, self._max_tokens, self._ignore_eos, None)
        run = await collect(self._reply(request), self.name, prompt, sampling)
        run.own = False
        if run.timings.request_ms == 0:  # its own figures, without the way over the socket, like ours
            run.timings.request_ms = run.timings.prompt_ms + run.timings.predicted_ms
        return run

    async def warm_up(self, prompt: Prompt, sampling: Sampling) -> None:
        """A short reply that is not counted."""
        request = reply_request(prompt, sampling, WARM_UP_TOKENS, True, None)
        await collect(self._reply(request), self.name, prompt, sampling)

    async def close(self) -> None:
        """Let go of its connections."""
        await self._http.close()

    async def _reply(self, request: ReplyRequest) -> AsyncIterator[ReplyEvent]:
        body = reply_body(request, "", await self._served()) | {"cache_prompt": False}
        if self._ignore_eos:
            body["ignore_eos"] = True
        reader = ReplyReader()
        async with aclosing(self._http.stream("POST", "/v1/chat/completions", body, silence=_SILENCE)) as messages:
            async for message in messages:
                for event in reader.feed(message.data):
                    yield event
                if reader.ended:
                    return
        yield reader.end()

    async def _served(self) -> str:
        if self._model is None:
            listed = (await self._http.json("GET", "/v1/models", patience=_PATIENCE)).get("data")
            first = listed[0] if isinstance(listed, list) and listed else None
            self._model = str((first.get("id") if isinstance(first, dict) else "") or "default")
        return self._model


def parse_peer(text: str, max_tokens: int, ignore_eos: bool) -> Peer:
    """``NAME=URL``.

    Raises:
        EngineError: BAD_REQUEST for another form, or where the URL holds a password.
    """
    name, _, url = text.partition("=")
    try:
        parts = urlsplit(url)
        _ = parts.port  # looked at here only
    except ValueError:
        parts = urlsplit("")
    if "@" in parts.netloc:
        raise EngineError(
            ErrorCode.BAD_REQUEST, "A peer's address must hold no user name or password: it is printed and saved."
        )
    if not name or parts.scheme not in ("http", "https") or not parts.hostname:
        raise EngineError(
            ErrorCode.BAD_REQUEST, f"A peer is written NAME=URL, such as server=http://127.0.0.1:8080, not {text!r}."
        )
    return Peer(name, url, max_tokens, ignore_eos)
