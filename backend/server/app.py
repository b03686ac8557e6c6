"""The worker's HTTP routes. Nothing here decodes or waits for the engine: it hands out jobs and writes their events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    PROTOCOL,
    DraftRequest,
    LoadRequest,
    Speculation,
)
from backend.server import openai, sse
from backend.server.answers import ERROR_HANDLERS, Answer
from backend.server.host import Host
from backend.server.jobs import Job
from backend.server.shapes import Completion
from backend.server.streams import chunks, compare_messages, named, newest_progress
from backend.wire import dump

T = TypeVar("T")

_STATE_EVERY = 0.1
"""Seconds between two states on ``/x/events``: a person reads no more than ten a second."""
_HEARTBEAT = 2.0
_FIRST_EVENT = 10.0
"""After so long without an event a stream begins anyway, so that the client sees that it is served."""


def private_app(host: Host) -> Starlette:
    """Everything, for the window and the terminal (put behind ``auth.Guard``)."""
    r = Routes(host)
    return _app(
        *_public_routes(r),
        Route("/x/models/load", r.load, methods=["POST"]),
        Route("/x/models/unload", r.unload, methods=["POST"]),
        Route("/x/draft", r.draft, methods=["POST"]),
        Route("/x/speculation", r.speculation, methods=["PUT"]),
        Route("/x/state", r.state, methods=["GET"]),
        Route("/x/events", r.events, methods=["GET"]),
        Route("/x/count", r.count, methods=["POST"]),
        Route("/x/pieces", r.pieces, methods=["POST"]),
        Route("/x/compare", r.compare, methods=["POST"]),
        Route("/x/judge", r.judge, methods=["POST"]),
        Route("/x/jobs/{job}", r.cancel, methods=["DELETE"]),
    )


def public_app(host: Host) -> Starlette:
    """Only what other programs may use (put behind ``auth.Guard`` with a key of its own)."""
    return _app(*_public_routes(Routes(host)))


class Routes:
    """The handlers."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def health(self, _request: Request) -> Response:
        """Alive; answers before the engine's library is loaded."""
        return Answer({"status": "ok", "protocol": PROTOCOL, "version": self._host.state().version})

    async def models(self, _request: Request) -> Response:
        """The loaded target, in OpenAI's list."""
        name = self._host.model_id
        entry = {"id": name, "object": "model", "created": int(time.time()), "owned_by": "tandem"}
        return Answer({"object": "list", "data": [entry] if name is not None else []})

    async def chat(self, request: Request) -> Response:
        """``/v1/chat/completions``."""
        body = await _body(request)
        job_id = openai.take_job_id(body)
        stream, usage = openai.wants_stream(body)
        wanted = openai.reply_request(body)
        await self._host.started()
        job = self._host.reply(wanted, job_id)
        completion = Completion(job.id, self._host.model_id or "")
        batches = job.outbox.batches(_FIRST_EVENT)
        if stream:
            first = await self._watched(request, job, anext(batches, []))
            completion.model = self._host.model_id or ""
            return self._stream(job, chunks(completion, first, batches, usage))
        events = await self._watched(request, job, _collect(batches))
        completion.model = self._host.model_id or ""
        return Answer(completion.whole(events))

    async def load(self, request: Request) -> Response:
        """``/x/models/load``."""
        body = await _body(request)
        job_id = openai.take_job_id(body)
        wanted = openai.validate(LoadRequest, body)
        await self._host.started()
        return self._progress_stream(self._host.load(wanted, job_id))

    async def draft(self, request: Request) -> Response:
        """``/x/draft``."""
        body = await _body(request)
        job_id = openai.take_job_id(body)
        wanted = openai.validate(DraftRequest, body)
        await self._host.started()
        return self._progress_stream(self._host.set_draft(wanted, job_id))

    async def unload(self, request: Request) -> Response:
        """``/x/models/unload``."""
        await _body(request)
        await self._host.started()
        job = self._host.unload()
        await self._watched(request, job, _collect(job.outbox.batches()))
        return Answer(dump(self._host.state()))

    async def speculation(self, request: Request) -> Response:
        """``/x/speculation``."""
        self._host.set_speculation(openai.validate(Speculation, await _body(request)))
        return Answer(dump(self._host.state()))

    async def state(self, _request: Request) -> Response:
        """``/x/state``."""
        return Answer(dump(self._host.state()))

    async def events(self, _request: Request) -> Response:
        """``/x/events``."""
        return sse.JobStream(self._news(), lambda: None)

    async def count(self, request: Request) -> Response:
        """``/x/count``."""
        body = await _body(request)
        messages, kwargs = openai.messages(body), openai.template_kwargs(body)
        await self._host.started()
        job = self._host.count(messages, kwargs)
        ((tokens, n_ctx),) = await self._watched(request, job, _collect(job.outbox.batches()))
        return Answer({"tokens": tokens, "n_ctx": n_ctx})

    async def pieces(self, request: Request) -> Response:
        """``/x/pieces``."""
        ids = openai.reply_ids(await _body(request))
        await self._host.started()
        job = self._host.pieces(ids)
        ((tokenizer, pieces),) = await self._watched(request, job, _collect(job.outbox.batches()))
        return Answer({"tokenizer": tokenizer, "pieces": pieces})

    async def judge(self, request: Request) -> Response:
        """``/x/judge``."""
        body = await _body(request)
        job_id = openai.take_job_id(body)
        messages, kwargs, ids = openai.messages(body), openai.template_kwargs(body), openai.reply_ids(body)
        await self._host.started()
        job = self._host.judge(messages, ids, kwargs, job_id)
        (judged,) = await self._watched(request, job, _collect(job.outbox.batches()))
        return Answer(dump(judged))

    async def compare(self, request: Request) -> Response:
        """``/x/compare``."""
        body = await _body(request)
        job_id = openai.take_job_id(body)
        wanted = openai.reply_request(body)
        await self._host.started()
        job = self._host.compare(wanted, job_id)
        return self._stream(job, named(job, compare_messages))

    async def cancel(self, request: Request) -> Response:
        """``DELETE /x/jobs/{id}``; also right when the job has ended, or has not arrived yet."""
        self._host.cancel(request.path_params["job"])
        return Response(status_code=204)

    # -- inside

    def _stream(self, job: Job, content: AsyncIterator[str]) -> Response:
        return sse.JobStream(content, lambda: self._host.release(job))

    def _progress_stream(self, job: Job) -> Response:
        async def content() -> AsyncIterator[str]:
            failed = False
            async for text in named(job, newest_progress):
                failed = text.startswith("event: error")
                yield text
            if not failed:
                yield sse.event("ready", dump(self._host.state()))

        return self._stream(job, content())

    async def _news(self) -> AsyncIterator[str]:
        with self._host.events.subscription() as outbox:
            yield sse.event("state", dump(self._host.state()))
            async for batch in outbox.batches(_HEARTBEAT):
                for heard in batch:
                    if heard is not None:
                        yield sse.event("round", {"job": heard[0], "round": dump(heard[1])})
                if not batch or None in batch:
                    yield sse.event("state", dump(self._host.state()))
                await asyncio.sleep(_STATE_EVERY)

    async def _watched(self, request: Request, job: Job, work: Awaitable[T]) -> T:
        """The result of ``work``; if the client goes away first, its job is cancelled."""
        task = asyncio.ensure_future(work)
        gone = asyncio.ensure_future(_disconnected(request))
        try:
            await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise EngineError(ErrorCode.CANCELLED, "The client closed the connection.")
            return task.result()
        except BaseException:
            self._host.release(job)
            raise
        finally:
            for future in (task, gone):
                future.cancel()
                with suppress(asyncio.CancelledError, EngineError):
                    await future


async def _body(request: Request) -> dict[str, Any]:
    try:
        return openai.parse_json(await request.body())
    except ClientDisconnect:
        raise EngineError(ErrorCode.CANCELLED, "The client closed the connection.") from None


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _collect(batches: AsyncIterator[list[T]]) -> list[T]:
    return [event async for batch in batches for event in batch]


def _public_routes(r: Routes) -> list[Route]:
    return [
        Route("/health", r.health, methods=["GET"]),
        Route("/v1/models", r.models, methods=["GET"]),
        Route("/v1/chat/completions", r.chat, methods=["POST"]),
    ]


def _app(*routes: Route) -> Starlette:
    return Starlette(routes=list(routes), exception_handlers=ERROR_HANDLERS)
