"""Cheaper copies of drafts in the worker: made and tried while the engine has nothing to do, loaded where they pay.

Making and trying is one job on a thread of its own. A request of a person ends it at once (``Host`` cancels it and
queues it anew); it begins again from what is finished, once the engine has been idle for a while.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from backend.errors import EngineError, ErrorCode
from backend.library import copies
from backend.library.copies import COPY_TYPE
from backend.library.gguf import read_model, split_parts
from backend.protocol import LoadOptions
from backend.server.jobs import Job
from backend.server.rig import Progress, Rig
from backend.text import shown_name

if TYPE_CHECKING:
    from backend.engine.cancel import CancelFlag
    from backend.engine.cheaper import Choice
    from backend.engine.load import DraftModel, TargetModel
    from backend.engine.pair import Pair

log = logging.getLogger(__name__)

REST = 2.0
"""Seconds that the engine must have been idle after a request made way for itself."""
_POLL = 0.02
_AS_IT_IS = f"the draft is used as it is: its {COPY_TYPE} copy"


class Cheaper:
    """What is known and done about the copy of the loaded draft.

    Args:
        rig: the engine.
        touch: called when ``note`` changed.
        idle: whether the engine thread has nothing to do.
        on_engine: queues a job for the engine thread.
        cancel: ends such a job, queued or running.
    """

    def __init__(
        self,
        rig: Rig,
        touch: Callable[[], None],
        idle: Callable[[], bool],
        on_engine: Callable[[Callable[[Job], None]], Job],
        cancel: Callable[[Job], None],
    ) -> None:
        self.note = ""
        """One line for the state."""
        self._rig = rig
        self._touch = touch
        self._idle = idle
        self._on_engine = on_engine
        self._cancel = cancel
        self._damaged: Path | None = None
        """A copy that did not load: made anew when the draft is loaded next, not before the person has read of it."""

    def say(self, note: str) -> None:
        """Put one line into the state."""
        self.note = note
        self._touch()

    def load_chosen(
        self, source: Path, draft: str, options: LoadOptions, target: TargetModel, progress: Progress, flag: CancelFlag
    ) -> DraftModel | None:
        """The copy, where it was found to pay earlier; None = load the draft itself."""
        self._damaged = None
        copy = copies.place(source)
        choice = self._rig.choice(target, copy, options)
        if choice is None or (choice.use and not copy.is_file()):
            return None
        self.say(choice.sentence)
        return self._load(copy, draft, options, target, progress, flag) if choice.use else None

    def improve(
        self,
        pair: Pair,
        options: LoadOptions,
        holding: Callable[[], AbstractContextManager[None]],
        rest: float,
        job: Job,
    ) -> None:
        """Make the copy of the pair's draft if it is missing, try it if it was not, and put the better one to work.

        Args:
            pair: with a draft.
            options: as it was loaded with.
            holding: keeps the pair from being exchanged.
            rest: seconds that the engine must be idle first.
            job: of the copying thread.
        """
        draft = pair.draft
        if draft is None or pair.target.context.sequence().max_rows < 2:  # no draft is put to such a target
            return
        try:
            source = self._rig.resolve(draft.info.id)
            copy = copies.place(source)
            if copy == self._damaged or self._settled(pair, draft, copy, options):
                return
            self._await_rest(rest, job)
            if not copy.is_file():
                if not copies.worth_copying(read_model(split_parts(source))):
                    self.say(f"{_AS_IT_IS} would read hardly fewer bytes")
                    return
                self._making(0.0)
                self._rig.make_copy(source, self._making, job.flag)
            self._try(pair, draft, copy, options, holding, job)
        except EngineError as error:
            if error.code is ErrorCode.CANCELLED:
                self.say("")
                raise
            log.warning("no copy of the draft: %s", error)
            self.say(f"the draft is used as it is, without a {COPY_TYPE} copy: {error.message}")
        except BaseException:
            self.say("")  # a fault must not go on "making a copy" for ever
            raise

    # -- inside

    def _load(
        self, copy: Path, draft: str, options: LoadOptions, target: TargetModel, progress: Progress, flag: CancelFlag
    ) -> DraftModel | None:
        """The copy; one that does not load is removed, which is said."""
        try:
            return self._rig.load_draft(copy, draft, options, target, progress, flag)
        except EngineError as error:
            if error.code in (ErrorCode.CANCELLED, ErrorCode.OUT_OF_MEMORY):
                raise
            log.warning("the copy of the draft does not load: %s", error)
            copies.remove(copy)
            self._damaged = copy
            self.say(f"{_AS_IT_IS} was damaged and is removed")
            return None

    def _settled(self, pair: Pair, draft: DraftModel, copy: Path, options: LoadOptions) -> bool:
        """Whether the better one is in use. A copy that pays but is not there is made and tried anew."""
        choice = self._rig.choice(pair.target, copy, options)
        in_use = draft.info.file == shown_name(copy.name)
        if choice is not None and choice.use == in_use:
            self.say(choice.sentence)
            return True
        return in_use

    def _await_rest(self, rest: float, job: Job) -> None:
        since = time.monotonic()
        while (busy := not self._idle()) or time.monotonic() - since < rest:
            if job.flag.is_set():
                raise EngineError(ErrorCode.CANCELLED, "Stopped.")
            if busy:
                since = time.monotonic()
            time.sleep(_POLL)

    def _making(self, fraction: float) -> None:
        self.say(f"making a {COPY_TYPE} copy of the draft: {fraction:.0%}".replace("%", " %"))

    def _try(
        self,
        pair: Pair,
        draft: DraftModel,
        file: Path,
        options: LoadOptions,
        holding: Callable[[], AbstractContextManager[None]],
        job: Job,
    ) -> None:
        self.say(f"trying a {COPY_TYPE} copy of the draft")
        with holding():
            if pair.draft is not draft or job.flag.is_set():
                raise EngineError(ErrorCode.CANCELLED, "Stopped.")
            copy = self._load(file, draft.info.id, options, pair.target, lambda _phase, _fraction: None, job.flag)
            if copy is None:
                return
            try:
                self.say(self._tried(pair, draft, copy, file, options, job).sentence)
            finally:
                if pair.draft is not copy:
                    copy.close()

    def _tried(
        self, pair: Pair, draft: DraftModel, copy: DraftModel, file: Path, options: LoadOptions, job: Job
    ) -> Choice:
        """What came of the trial on the engine thread; on return that thread is done with the copy."""
        outcome: list[Choice | EngineError] = []

        def work(trial: Job) -> None:
            try:
                pair.take_offers()
                if pair.draft is not draft:  # only here it stays what it is
                    return
                outcome.append(self._rig.try_copy(pair, copy, file, options, trial.flag))
            except EngineError as error:
                outcome.append(error)

        trial = self._on_engine(work)
        while not trial.outbox.closed:
            if job.flag.is_set():
                self._cancel(trial)
            time.sleep(_POLL)
        found = outcome[0] if outcome else EngineError(ErrorCode.CANCELLED, "Stopped.")
        if isinstance(found, EngineError):
            raise found
        return found
