"""What every front end can ask of an engine, wherever the engine is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from typing import Any

from backend.protocol import (
    Comparison,
    DraftRequest,
    Judged,
    LoadProgress,
    LoadRequest,
    Message,
    ReplyEvent,
    ReplyRequest,
    RoundRecord,
    Side,
    Speculation,
    State,
)

News = State | tuple[str, RoundRecord]
"""What a subscriber hears: a state, or a round of the reply with that job id."""


class EngineClient(ABC):
    """What a front end can ask of an engine. Every method raises :class:`EngineError`.

    ``job`` is an id of the caller's choice, unique among running jobs, for :meth:`cancel`. Closing an iterator early
    cancels its job too.
    """

    @abstractmethod
    async def state(self) -> State:
        """Everything about the engine."""

    @abstractmethod
    def events(self) -> AsyncIterator[News]:
        """States (at most ten a second) and rounds, until the engine goes away (``worker_gone``)."""

    @abstractmethod
    def load(self, request: LoadRequest, job: str) -> AsyncIterator[LoadProgress | State]:
        """Load a target and perhaps a draft; the last item is the state."""

    @abstractmethod
    def set_draft(self, request: DraftRequest, job: str) -> AsyncIterator[LoadProgress | State]:
        """Swap the draft; the target stays. The last item is the state."""

    @abstractmethod
    async def unload(self) -> State:
        """Free the models."""

    @abstractmethod
    async def set_speculation(self, speculation: Speculation) -> State:
        """From the next round on, also of a running reply."""

    @abstractmethod
    def reply(self, request: ReplyRequest, job: str) -> AsyncIterator[ReplyEvent]:
        """One reply; the last event is ``Finished``."""

    @abstractmethod
    def compare(self, request: ReplyRequest, job: str) -> AsyncIterator[tuple[Side, ReplyEvent] | Comparison]:
        """The same reply with and without speculation; the last item is the comparison."""

    @abstractmethod
    async def count(self, messages: Sequence[Message], kwargs: dict[str, Any]) -> tuple[int, int | None]:
        """(prompt tokens, context size where known)."""

    @abstractmethod
    async def pieces(self, ids: Sequence[int]) -> tuple[str, list[str]]:
        """(digest of the loaded target's vocabulary, what each token stands for there)."""

    @abstractmethod
    async def judge(
        self, messages: Sequence[Message], ids: Sequence[int], job: str, kwargs: dict[str, Any] | None = None
    ) -> Judged:
        """Which tokens of a reply the loaded draft would have guessed."""

    @abstractmethod
    async def cancel(self, job: str) -> None:
        """Stop a job; harmless when it has ended."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of connections and processes."""
