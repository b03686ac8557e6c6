"""A worker of the terminal's own: started, loaded, asked and stopped from plain synchronous code.

Ctrl-C asks the running job to stop, and the command goes on with what there is; a second one within a second leaves.
"""

from __future__ import annotations

import asyncio
import inspect
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from backend.bench.runner import new_job
from backend.cli import complain
from backend.client import own_engine
from backend.errors import EngineError, ErrorCode
from backend.protocol import ONLY_SINGLE, DraftRequest, LoadProgress, LoadRequest, State

T = TypeVar("T")

Stop = Callable[[], Coroutine[Any, Any, None]]

_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""What asks a command to end, beside Ctrl-C."""
_TWICE = 1.0
"""Seconds between two presses that mean: leave."""
_PATIENCE = 4.0
"""Seconds that the engine may take to hear of a stop, or to end, before the person is told what it waits for."""
_LOOK_EVERY = 0.1
_PHASES = {"target": "loading the target", "draft": "loading the draft", "probe": "testing"}
_PHASES |= {
    "stream": "reading the layers that stay in memory",
    "exact": "finding which passes are exact",
    "measure": "measuring",
}


class Session:
    """One worker for the length of a ``with`` block.

    Args:
        files: models given as paths, by id.
        keeps: whether the command has results to keep when it is asked to end, by SIGTERM or by a terminal that
            closes: that is then one Ctrl-C.
    """

    def __init__(self, files: Mapping[str, Path] | None = None, *, keeps: bool = False) -> None:
        self.files = dict(files or {})
        self._signals = [signal.SIGINT, *(_ENDS if keeps else [])]
        self.client = own_engine(self.files)
        self._runner = asyncio.Runner()
        self._pressed = 0.0

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        telling = threading.Timer(_PATIENCE, _tell, ["The engine does not end by itself; it is ended in some seconds."])
        telling.daemon = True
        telling.start()
        try:
            self._runner.run(self.client.close())
        finally:
            telling.cancel()
            self._runner.close()

    def load(self, request: LoadRequest, *, insist: bool = True) -> State:
        """Load a pair, with progress on a terminal; a draft that cannot be used is an error here, if we ``insist``.

        Raises:
            EngineError: what the worker says; ``DRAFT_FAILED`` when only the draft did not load.
        """
        state = self._follow(lambda job: self.client.load(request, job))
        if request.draft is not None and state.draft is None:
            why = state.draft_note or f"The draft {request.draft} did not load."
            if insist:
                raise EngineError(ErrorCode.DRAFT_FAILED, why)
            complain(f"{why} Until then drafts are what the conversation repeats.")
        if request.options.strict and state.exact_rows is not None:
            complain(_strict_note(state.exact_rows, state.target.truncate_note if state.target else ""))
        elif state.target is not None and state.target.truncate_note:
            complain(f"Note: {state.target.truncate_note}.")
        if state.target is not None and 0 < state.target.n_ctx_train < state.target.n_ctx:
            complain(
                f"{state.target.name} was trained on {state.target.n_ctx_train:,} tokens; beyond that its text may be "
                "of no use."
            )
        return self._settled(state) if request.options.cheaper_draft else state

    def restart(self) -> None:
        """A fresh worker, with nothing loaded, in place of one that died."""
        self._runner.run(self.client.restart())

    def set_draft(self, draft: str | None) -> State:
        """Swap the draft."""
        return self._follow(lambda job: self.client.set_draft(DraftRequest(draft=draft), job))

    def run(self, work: Coroutine[Any, Any, T], stop: Stop | None = None) -> T:
        """Do ``work``; Ctrl-C does ``stop``, after which the work is to end by itself.

        Raises:
            EngineError: CANCELLED by Ctrl-C where there is no ``stop``.
            KeyboardInterrupt: Ctrl-C was pressed twice within a second.
        """
        try:
            return self._runner.run(self._interruptible(work, stop))
        except _LeaveError:
            raise KeyboardInterrupt from None
        except asyncio.CancelledError:  # pressed in the moment before the work began, or as it ended
            raise EngineError(ErrorCode.CANCELLED, "Stopped.") from None
        finally:
            if inspect.getcoroutinestate(work) == inspect.CORO_CREATED:
                work.close()  # it never began

    def _follow(self, items: Callable[[str], AsyncIterator[LoadProgress | State]]) -> State:
        job = new_job()

        async def work() -> State:
            with _Progress() as progress:
                async for item in items(job):
                    if isinstance(item, State):
                        return item
                    progress.show(item)
            raise EngineError(ErrorCode.PROTOCOL_MISMATCH, "The engine ended a load without saying how it went.")

        return self.run(work(), lambda: self.client.cancel(job))

    def _settled(self, state: State) -> State:
        """Once it is settled whether a cheaper copy of the draft is used; Ctrl-C goes on without waiting."""
        stopped = asyncio.Event()

        async def stop() -> None:
            stopped.set()

        async def work() -> State:
            now = state
            with _Progress() as progress:
                while now.draft_copy_busy and not stopped.is_set():
                    progress.say(now.draft_copy)
                    await asyncio.sleep(_LOOK_EVERY)
                    now = await self.client.state()
            return now

        state = self.run(work(), stop)
        if state.draft_copy:
            complain(f"{state.draft_copy[0].upper()}{state.draft_copy[1:].rstrip('.')}.")
        return state

    async def _interruptible(self, work: Coroutine[Any, Any, T], stop: Stop | None) -> T:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(work)
        stops: set[asyncio.Task[None]] = set()
        stopped = leaving = False

        def press() -> None:
            nonlocal stopped, leaving
            now = time.monotonic()
            stopped, leaving = True, now - self._pressed < _TWICE
            self._pressed = now
            if leaving or stop is None:
                task.cancel()
            else:
                stops.add(asyncio.ensure_future(_told(stop)))

        # signal.signal, as add_signal_handler does not exist on Windows
        before = {
            number: signal.signal(number, lambda _number, _frame: loop.call_soon_threadsafe(press))
            for number in self._signals
            if signal.getsignal(number) is not signal.SIG_IGN  # nohup
        }
        try:
            return await task
        except asyncio.CancelledError:
            if leaving:
                raise _LeaveError from None
            if stopped:
                raise EngineError(ErrorCode.CANCELLED, "Stopped.") from None
            raise
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            if leaving:  # whoever leaves does not wait for an engine that may never answer
                for one in stops:
                    one.cancel()
            await asyncio.gather(*stops, return_exceptions=True)


def _strict_note(exact_rows: int, truncate_note: str) -> str:
    if exact_rows == 1 and truncate_note != ONLY_SINGLE:
        return f"Strict: nothing is drafted: {truncate_note}."
    if exact_rows == 1:
        return f"Strict: {ONLY_SINGLE}, so nothing is drafted."
    return f"Strict: passes of up to {exact_rows} tokens are exact here."


async def _told(stop: Stop) -> None:
    """Do ``stop``; an engine that does not even answer (frozen, or stuck in a driver) must not leave silence."""
    try:
        async with asyncio.timeout(_PATIENCE):
            await stop()
    except TimeoutError:
        _tell("The engine does not answer; press Ctrl-C twice to leave.")


def _tell(sentence: str) -> None:
    print(f"\ntandem: {sentence}", file=sys.stderr, flush=True)


class _LeaveError(Exception):
    """Ctrl-C twice: carried out of the event loop, which treats KeyboardInterrupt in its own way."""


class _Progress:
    """One line that rewrites itself, on a terminal only."""

    def __init__(self) -> None:
        self._shown, self._phase, self._most = 0, "", 0.0
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> _Progress:
        return self

    def show(self, progress: LoadProgress) -> None:
        """The newest state of a load."""
        self._most = max(self._most, progress.fraction) if progress.phase == self._phase else progress.fraction
        self._phase = progress.phase
        self.say(f"{_PHASES[progress.phase]} {self._most:4.0%}")

    def say(self, text: str) -> None:
        """Replace the line."""
        if self._terminal:
            print("\r" + text.ljust(self._shown), end="", file=sys.stderr, flush=True)
            self._shown = max(self._shown, len(text))

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r" + " " * self._shown + "\r", end="", file=sys.stderr, flush=True)
