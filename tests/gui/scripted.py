"""An engine whose every step a test decides: for states that a real worker cannot produce on demand.

Everything else (replies, drafts, comparisons, crashes of the process) is tested with the real worker.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from backend.client import EngineClient
from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    Comparison,
    CostTable,
    Delta,
    Difference,
    DraftRequest,
    Finished,
    Judged,
    LoadProgress,
    LoadRequest,
    Message,
    ModelInfo,
    PromptProgress,
    ReplyEvent,
    ReplyRequest,
    Speculation,
    State,
    Timings,
    TokenRecord,
)

LONG = "First words.\n\n```python\nx = 1\n```\n\n" + "More words follow here. " * 60


def model(name: str, **fields: Any) -> ModelInfo:
    """A loaded model as the worker describes it."""
    values: dict[str, Any] = {
        "id": name,
        "name": name,
        "file": f"{name}.gguf",
        "architecture": "qwen2",
        "quant": "Q4_K_M",
        "n_params": 1_543_714_304,
        "size": 1_117_320_768,
        "n_vocab": 151_936,
        "n_ctx_train": 32_768,
        "n_ctx": 8192,
        "n_layer": 28,
        "gpu_layers": 0,
        "tokenizer": "hash",
        "can_truncate": True,
    }
    return ModelInfo(**(values | fields))


def timings(n: int, *, drafted: bool = True) -> Timings:
    """Counters of a reply after ``n`` tokens, at 41.2 tokens per second and 1.84 times plain."""
    made = Timings(prompt_n=52, prompt_ms=410.0, predicted_n=n, predicted_ms=max(n - 1, 0) * 24.27)
    made.plain_ms = 44.66
    made.baseline_ms = max(n - 1, 0) * 44.66 if drafted and n > 4 else made.predicted_ms
    if drafted and n > 4:
        made.draft_n, made.draft_n_accepted = n, round(n * 0.82)
        made.passes = max(1, round(n / 3.9))
        made.draft_ms, made.verify_ms = made.predicted_ms * 0.12, made.predicted_ms * 0.85
    return made


class ScriptedEngine(EngineClient):
    """Answers from ``script``; ``crash_after`` breaks the connection after that many pieces."""

    def __init__(self, script: str = "Hello there.", *, pause: float = 0.0) -> None:
        self.script = script
        self.pause = pause
        self.crash_after: int | None = None
        self.fail_reply: EngineError | None = None
        self.fail_load: EngineError | None = None
        self.broken: set[str] = set()
        """Targets whose file cannot be read: what is loaded stays."""
        self.variables: dict[str, list[str]] = {}
        """What the targets' templates read."""
        self.thinking = False
        """Whether prompts end in an opening tag."""
        self.difference: Difference | None = None
        self.requests: list[ReplyRequest] = []
        self.compared: list[ReplyRequest] = []
        self.loads: list[LoadRequest] = []
        self.swaps: list[str | None] = []
        cost = CostTable(target={1: 50.0, 2: 60.0, 4: 80.0, 8: 120.0}, draft_step=5.0)
        self.now = State(memory_total=25_300_000_000, memory=1_500_000_000, cost=cost)
        self.closed = 0
        self.cancelled: set[str] = set()
        self.held = False
        """While True nothing goes on."""
        self.hold_after: int | None = None
        """After so many replies it is held."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news: asyncio.Queue[State | EngineError] = asyncio.Queue()
        self._dead = False

    def publish(self, **fields: Any) -> State:
        """Change the state and tell subscribers."""
        self.now = self.now.model_copy(update=fields)
        self._tell(self.now)
        return self.now

    def die(self, message: str = "The engine ended: it accessed memory that is not its own.") -> None:
        """As when the worker's process is gone."""
        self._dead = True
        self._tell(EngineError(ErrorCode.WORKER_GONE, message))

    def _tell(self, news: State | EngineError) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._news.put_nowait, news)

    async def _not_held(self) -> None:
        while self.held:  # noqa: ASYNC110 - set on another thread
            await asyncio.sleep(0.005)

    async def state(self) -> State:
        return self.now

    async def events(self) -> AsyncIterator[Any]:
        self._loop = asyncio.get_running_loop()
        self._dead = False
        yield self.now
        while True:
            news = await self._news.get()
            if isinstance(news, EngineError):
                raise news
            yield news

    async def load(self, request: LoadRequest, job: str) -> AsyncIterator[LoadProgress | State]:
        self.loads.append(request)
        for step in range(4):
            yield LoadProgress(phase="target", fraction=step / 4)
            await asyncio.sleep(self.pause)
            await self._not_held()
            if job in self.cancelled:
                raise EngineError(ErrorCode.CANCELLED, "Stopped.")
        if self.fail_load is not None:
            raise self.fail_load
        if request.target in self.broken:
            raise EngineError(ErrorCode.FILE_DAMAGED, f"{request.target} is damaged; get it again.")
        draft = model(request.draft, n_layer=24) if request.draft else None
        target = model(request.target, template_variables=self.variables.get(request.target, []))
        yield self.publish(phase="ready", target=target, draft=draft)

    async def set_draft(self, request: DraftRequest, job: str) -> AsyncIterator[LoadProgress | State]:
        self.swaps.append(request.draft)
        yield LoadProgress(phase="draft", fraction=0.5)
        await self._not_held()
        if job in self.cancelled:
            raise EngineError(ErrorCode.CANCELLED, "Stopped.")
        yield self.publish(draft=model(request.draft) if request.draft else None)

    async def unload(self) -> State:
        return self.publish(phase="idle", target=None, draft=None)

    async def set_speculation(self, speculation: Speculation) -> State:
        return self.publish(speculation=speculation)

    async def reply(self, request: ReplyRequest, job: str) -> AsyncIterator[ReplyEvent]:
        self.requests.append(request)
        if self.hold_after is not None and len(self.requests) > self.hold_after:
            self.held, self.hold_after = True, None
        if self._dead:
            raise EngineError(ErrorCode.WORKER_GONE, "The engine is not running; restart it.")
        if self.fail_reply is not None:
            raise self.fail_reply
        yield PromptProgress(52, 52, 0, self.thinking)
        begun = request.messages[-1].content if request.continue_final_message else ""
        script = self.script.removeprefix(begun)
        pieces = [script[i : i + 4] for i in range(0, len(script), 4)]
        reason: Any = "stop"
        for n, piece in enumerate(pieces):
            await self._not_held()
            if job in self.cancelled:
                reason = "cancelled"
                break
            if self.crash_after is not None and n >= self.crash_after:
                self.die()
                raise EngineError(ErrorCode.WORKER_GONE, "The engine ended: it accessed memory that is not its own.")
            token = TokenRecord(n, len(piece.encode()), "accepted", "draft", n // 4, 52 + n)
            yield Delta(piece, (token,), timings(n + 1))
            await asyncio.sleep(self.pause)
        made = timings(len(pieces))
        prefix = tuple(range(-(-len(begun) // 4)))
        ids = tuple(range(len(pieces)))
        yield Finished(reason, made, seed=7, start=52 + len(prefix), ids=ids, tokenizer="hash", prefix=prefix)

    async def compare(self, request: ReplyRequest, job: str) -> AsyncIterator[Any]:
        self.compared.append(request)
        yield "plain", PromptProgress(52, 52, 0, self.thinking)
        pieces = [self.script[i : i + 4] for i in range(0, len(self.script), 4)]
        for n, piece in enumerate(pieces):
            await self._not_held()
            if job in self.cancelled:
                raise EngineError(ErrorCode.CANCELLED, "Stopped.")
            for side in ("plain", "speculation"):
                yield side, Delta(piece, (), timings(n + 1, drafted=side == "speculation"))
            await asyncio.sleep(self.pause)
        n = len(pieces)
        yield Comparison(
            plain=timings(n, drafted=False),
            speculation=timings(n),
            generation_ratio=1.84,
            request_ratio=1.71,
            identical=self.difference is None,
            difference=self.difference,
            plain_text=self.script + (self.difference.plain_text if self.difference else ""),
            speculation_text=self.script + (self.difference.other_text if self.difference else ""),
            seed=request.sampling.seed or 0,
            interleaved=True,
        )

    async def count(self, messages: Sequence[Message], kwargs: dict[str, Any]) -> tuple[int, int | None]:
        return sum(len(m.content.split()) for m in messages), 8192

    async def pieces(self, ids: Sequence[int]) -> tuple[str, list[str]]:
        return "hash", [f"<{token}>" for token in ids]

    async def judge(
        self, messages: Sequence[Message], ids: Sequence[int], job: str, kwargs: dict[str, Any] | None = None
    ) -> Judged:
        await self._not_held()
        return Judged(draft="scripted", hits="1" * len(ids), ms=1.0)

    async def cancel(self, job: str) -> None:
        self.cancelled.add(job)

    async def close(self) -> None:
        self.closed += 1
