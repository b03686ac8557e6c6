"""An engine behind a URL: Tandem's own worker, or any OpenAI-compatible server with what it has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

from typing_extensions import override

from backend.client.http import Http, gone
from backend.client.http import Message as Sse
from backend.client.interface import EngineClient, News
from backend.client.reply import ReplyReader, compare_event, reply_body
from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    Comparison,
    DraftRequest,
    Judged,
    LoadProgress,
    LoadRequest,
    Message,
    ModelInfo,
    ReplyEvent,
    ReplyRequest,
    RoundRecord,
    Side,
    Speculation,
    State,
)
from backend.wire import dump, read

SILENCE = 30.0
"""Seconds; the event stream speaks every 2, so an engine that is silent for so long hangs (stopped, out of memory)."""


class RemoteEngine(EngineClient):
    """An engine behind a URL.

    Args:
        base_url: with or without ``/v1``.
        key: bearer token; empty = none.
        model: name to ask a foreign server for; None = the first that it lists.
        native: whether it has Tandem's ``/x/`` routes; None = ask it.
    """

    def __init__(self, base_url: str, key: str = "", model: str | None = None, native: bool | None = None) -> None:
        self._http = Http(base_url.rstrip("/").removesuffix("/v1"), key)
        self._model = model
        self._native = native
        self._stops: dict[str, asyncio.Event] = {}

    async def native(self) -> bool:
        """Whether the server has Tandem's ``/x/`` routes; asked once."""
        if self._native is None:
            self._native = await self._http.exists("/x/state")
        return self._native

    @override
    async def state(self) -> State:
        if await self.native():
            return _state(await self._http.json("GET", "/x/state"))
        return State(phase="ready", target=await self._foreign_model(), engine=self._http.base_url)

    @override
    async def events(self) -> AsyncIterator[News]:
        await self._need_native("live state")
        async with aclosing(self._http.stream("GET", "/x/events", silence=SILENCE)) as messages:
            async for message in messages:
                if (news := _news(message)) is not None:
                    yield news
        raise gone()

    @override
    async def load(self, request: LoadRequest, job: str) -> AsyncIterator[LoadProgress | State]:
        await self._need_native("loading models")
        async for item in self._progress("/x/models/load", dump(request) | {"x_job": job}):
            yield item

    @override
    async def set_draft(self, request: DraftRequest, job: str) -> AsyncIterator[LoadProgress | State]:
        await self._need_native("exchanging drafts")
        async for item in self._progress("/x/draft", dump(request) | {"x_job": job}):
            yield item

    @override
    async def unload(self) -> State:
        await self._need_native("unloading models")
        return _state(await self._http.json("POST", "/x/models/unload", {}))

    @override
    async def set_speculation(self, speculation: Speculation) -> State:
        await self._need_native("speculation settings")
        return _state(await self._http.json("PUT", "/x/speculation", dump(speculation)))

    @override
    async def reply(self, request: ReplyRequest, job: str) -> AsyncIterator[ReplyEvent]:
        native = await self.native()
        model = None if native else (await self._foreign_model()).id
        reader = ReplyReader()
        stop = self._stops.setdefault(job, asyncio.Event())
        try:
            body = reply_body(request, job, model)
            async with aclosing(self._http.stream("POST", "/v1/chat/completions", body)) as messages:
                # our own worker ends a cancelled reply itself; a foreign stream is simply left
                until = messages if native else _until(messages, stop)
                async for message in until:
                    for event in reader.feed(message.data):
                        yield event
                    if reader.ended:
                        return
            yield reader.end(cancelled=stop.is_set())
        finally:
            self._stops.pop(job, None)

    @override
    async def compare(self, request: ReplyRequest, job: str) -> AsyncIterator[tuple[Side, ReplyEvent] | Comparison]:
        await self._need_native("comparing")
        async with aclosing(self._http.stream("POST", "/x/compare", reply_body(request, job, None))) as messages:
            async for message in messages:
                event = compare_event(message.event, message.json())
                if event is not None:
                    yield event
                if isinstance(event, Comparison):
                    return
        raise gone()

    @override
    async def count(self, messages: Sequence[Message], kwargs: dict[str, Any]) -> tuple[int, int | None]:
        await self._need_native("counting tokens")
        body = {"messages": [m.model_dump(exclude_none=True) for m in messages], "chat_template_kwargs": kwargs}
        answer = await self._http.json("POST", "/x/count", body)
        return int(answer["tokens"]), answer.get("n_ctx")

    @override
    async def pieces(self, ids: Sequence[int]) -> tuple[str, list[str]]:
        await self._need_native("showing tokens")
        answer = await self._http.json("POST", "/x/pieces", {"ids": list(ids)})
        return str(answer.get("tokenizer")), [str(piece) for piece in answer.get("pieces") or ()]

    @override
    async def judge(
        self, messages: Sequence[Message], ids: Sequence[int], job: str, kwargs: dict[str, Any] | None = None
    ) -> Judged:
        await self._need_native("trying drafts on replies")
        listed = [m.model_dump(exclude_none=True) for m in messages]
        body = {"messages": listed, "ids": list(ids), "chat_template_kwargs": kwargs or {}, "x_job": job}
        answer = await self._http.json("POST", "/x/judge", body)
        if (judged := read(Judged, answer)) is None:
            raise EngineError(ErrorCode.PROTOCOL_MISMATCH, "The engine's answer was not understood; update both.")
        return judged

    @override
    async def cancel(self, job: str) -> None:
        if (stop := self._stops.get(job)) is not None:
            stop.set()
        if self._native:
            await self._http.json("DELETE", f"/x/jobs/{job}")

    @override
    async def close(self) -> None:
        await self._http.close()

    async def _progress(self, path: str, body: dict[str, Any]) -> AsyncIterator[LoadProgress | State]:
        async with aclosing(self._http.stream("POST", path, body)) as messages:
            async for message in messages:
                if message.event == "progress" and (progress := read(LoadProgress, message.json())) is not None:
                    yield progress
                elif message.event == "ready":
                    yield _state(message.json())
                    return
        raise gone()

    async def _foreign_model(self) -> ModelInfo:
        if self._model is None:
            listed = (await self._http.json("GET", "/v1/models")).get("data") or []
            names = [entry.get("id") for entry in listed if isinstance(entry, dict)]
            if not names:
                raise EngineError(ErrorCode.NO_MODEL, f"{self._http.base_url} offers no model; load one there first.")
            self._model = str(names[0])
        return _foreign_info(self._model)

    async def _need_native(self, what: str) -> None:
        if not await self.native():
            raise EngineError(
                ErrorCode.BAD_REQUEST,
                f"{self._http.base_url} is not a Tandem engine, so {what} is not available there.",
                {"missing": what},
            )


async def _until(messages: AsyncIterator[Sse], stop: asyncio.Event) -> AsyncIterator[Sse]:
    """Messages until ``stop`` is set, also while none comes."""
    waiting = asyncio.ensure_future(stop.wait())
    try:
        while True:
            following = asyncio.ensure_future(anext(messages, None))
            await asyncio.wait({waiting, following}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
                return
            if (message := following.result()) is None:
                return
            yield message
    finally:
        waiting.cancel()


def _state(raw: Any) -> State:
    state = read(State, raw)
    if state is None:
        raise EngineError(ErrorCode.PROTOCOL_MISMATCH, "The engine's state was not understood; update both programs.")
    return state


def _news(message: Sse) -> News | None:
    raw = message.json()
    if message.event == "state":
        return _state(raw)
    if message.event == "round" and (record := read(RoundRecord, raw.get("round"))) is not None:
        return str(raw.get("job")), record
    return None


def _foreign_info(name: str) -> ModelInfo:
    """All that is known about a model behind a foreign server: its name. Zeros mean unknown."""
    unknown = dict.fromkeys(("n_params", "size", "n_vocab", "n_ctx_train", "n_ctx", "n_layer", "gpu_layers"), 0)
    texts = {"file": "", "architecture": "", "quant": "", "tokenizer": ""}
    return ModelInfo(id=name, name=name, can_truncate=False, **unknown, **texts)  # type: ignore[arg-type]
