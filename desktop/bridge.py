"""The only way from the window to the engine: one asyncio thread with the client, signals on the way back.

The window calls plain methods and gets a job id; everything that comes back arrives as frozen records through one
signal a kind, at most every 33 ms, on the window's thread.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from backend.bench.series import Series
from backend.documents import Attachment
from backend.errors import EngineError
from backend.protocol import DraftRequest, LoadRequest, Message, ReplyRequest, Speculation
from desktop.fitting import Prompt
from desktop.inbox import Event, Inbox, Kind
from desktop.jobs import Jobs, MakeClient, Start

log = logging.getLogger(__name__)
FRAME_MS = 33


class EngineBridge(QObject):
    """Owns the engine's thread and what runs on it.

    Args:
        make_client: called on the asyncio thread, again for every restart.
    """

    state_changed = Signal(object)
    lost = Signal(object)
    loading = Signal(str, object)
    loaded = Signal(str, object)
    prompt_progress = Signal(str, object)
    delta = Signal(str, str, object)
    rounds = Signal(str, object)
    """Of a reply or a comparison, told beside it: the last ones may come after its end."""
    finished = Signal(str, object)
    compared = Signal(str, object)
    trying = Signal(str, object)
    tried = Signal(str, object)
    judged = Signal(str, object)
    """The end of a trial: (replies, all that was tried)."""
    warmed = Signal(str, object)
    """A benchmark begins with its first reply now."""
    benched = Signal(str, object)
    """Of a benchmark: (run, the report's rows so far)."""
    bench_ended = Signal(str, object)
    """A benchmark has come to its end."""
    counted = Signal(int, object)
    pieces = Signal(str, object)
    """What tokens stand for: (the vocabulary's digest, texts)."""
    weighed = Signal(str, object)
    """Tokens that an attachment adds."""
    fitted = Signal(str, object)
    """Fit, or None: the engine cannot tell."""
    failed = Signal(str, object)
    _wake = Signal()

    def __init__(self, make_client: MakeClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._inbox = Inbox()
        self._jobs = Jobs(make_client, self._tell, self._inbox.forget)
        self.holding = False
        """Whether replies wait for a pair: which model will answer is not known then."""
        self.probabilities = False
        """Whether replies tell the target's probability of each token, which costs a little time."""
        self._closed = False
        """From then on requests come too late and do nothing."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="engine-client", daemon=True)
        self._timer = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._timer.timeout.connect(self._drain)
        self._wake.connect(self._timer.start)

    # -- the window's side ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the thread and the client; the first ``state_changed`` tells that the engine answers."""
        self._thread.start()
        self._call(self._jobs.open())

    def close(self) -> None:
        """Stop what runs, tell how far it came, end the worker and the thread. Blocks, a few seconds at most."""
        self._timer.stop()
        self._closed = True
        if self._thread.is_alive():
            done = asyncio.run_coroutine_threadsafe(self._jobs.end(), self._loop)
            try:
                done.result(timeout=8)
            except (TimeoutError, EngineError):
                log.warning("the engine did not close in time")
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=2)
        if not self._loop.is_running():
            self._loop.close()
        self._drain()

    def restart(self) -> None:
        """A new worker with nothing in it. What was asked for before is over, what is asked for from now on waits."""
        self._job(self._jobs.restart)

    def hold_replies(self) -> None:
        """A pair has been chosen: from now on replies and comparisons wait for it."""
        self.holding = True
        self._soon(self._jobs.gate.close)

    def release_replies(self, error: EngineError | None = None) -> None:
        """The pair is there, or ``error`` says why it will not come."""
        self.holding = False
        self._soon(lambda: self._jobs.gate.open(error))

    def load(self, request: LoadRequest) -> str:
        """Load a pair; ``loading`` then ``loaded`` or ``failed``."""
        return self._job(lambda job: self._jobs.load(request, job))

    def set_draft(self, request: DraftRequest) -> str:
        """Swap the draft model, leaving the target alone."""
        return self._job(lambda job: self._jobs.set_draft(request, job))

    def set_speculation(self, settings: Speculation) -> str:
        """From the next round, also of a running reply."""
        return self._job(lambda _: self._jobs.set_speculation(settings))

    def reply(self, request: ReplyRequest) -> str:
        """Generate, once no pair is on its way; template switches that the target does not know are left out then."""
        asked = request.model_copy(update={"probabilities": self.probabilities})
        return self._job(lambda job: self._jobs.reply(asked, job))

    def compare(self, request: ReplyRequest) -> str:
        """The same reply both ways."""
        return self._job(lambda job: self._jobs.compare(request, job))

    def try_drafts(self, drafts: Sequence[str], chats: Path) -> str:
        """Judge drafts by the replies in the chats: ``trying``, ``tried`` for each, then ``judged`` or ``failed``."""
        return self._job(lambda job: self._jobs.try_drafts(drafts, chats, job))

    def bench(self, series: Series) -> str:
        """Measure the loaded pair: ``warmed``, ``benched`` for each reply, then ``bench_ended`` or ``failed``."""
        return self._job(lambda job: self._jobs.bench(series, job))

    def count(self, ticket: int, messages: list[Message], switches: dict[str, Any]) -> None:
        """Count prompt tokens; the answer carries ``ticket``, and None where it failed: it is only a hint."""
        self._job(lambda _: self._jobs.count(ticket, messages, switches))

    def weigh(self, attachment: Attachment) -> str:
        """Count an attachment's tokens: ``weighed``, or nothing. It is only a hint."""
        return self._job(lambda job: self._jobs.weigh(attachment, job))

    def fit(
        self, prompt: Prompt, attachments: tuple[Attachment, ...], max_tokens: int | None, switches: dict[str, Any]
    ) -> str:
        """Whether a prompt with attachments fits, or what of them does: ``fitted`` or ``failed``."""
        return self._job(lambda job: self._jobs.fit(prompt, attachments, max_tokens, switches, job))

    def ask_pieces(self, ids: Sequence[int]) -> str:
        """What tokens of the loaded target stand for: ``pieces`` or ``failed``."""
        return self._job(lambda job: self._jobs.pieces(ids, job))

    def cancel(self, job: str) -> None:
        """Stop a load, a reply or a comparison; its last signal still comes."""
        self._call(self._jobs.cancel(job))

    @Slot()
    def _drain(self) -> None:
        for event in self._inbox.take():
            match event.kind:
                case "state":
                    self.state_changed.emit(event.value)
                case "lost":
                    self.lost.emit(event.value)
                case "counted":
                    self.counted.emit(*event.value)
                case "delta":
                    self.delta.emit(event.job, event.side, event.value)
                case "prompt":
                    self.prompt_progress.emit(event.job, event.value)
                case _:
                    getattr(self, event.kind).emit(event.job, event.value)

    # -- across the threads ---------------------------------------------------------------------------------------

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _call(self, coroutine: Coroutine[Any, Any, None]) -> None:
        if self._closed:
            coroutine.close()
        else:
            asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _soon(self, call: Callable[[], None]) -> None:
        """Calls and jobs begin in the order in which the window asks for them."""
        if not self._closed:
            self._loop.call_soon_threadsafe(call)

    def _job(self, start: Start) -> str:
        job = uuid.uuid4().hex
        self._soon(lambda: self._jobs.begin(job, start))
        return job

    def _tell(self, kind: Kind, job: str, value: Any, side: str = "") -> None:
        if self._inbox.put(Event(kind, job, value, side)):
            self._wake.emit()
