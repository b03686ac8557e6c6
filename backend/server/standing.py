"""What the worker is doing, in a word and a line: set by the engine's threads, read by any."""

from __future__ import annotations

from backend.protocol import LoadProgress, Phase
from backend.server.events import Events
from backend.server.jobs import Job
from backend.server.rig import Progress


class Standing:
    """The phase and the line beside it.

    Args:
        events: told of every change.
    """

    def __init__(self, events: Events) -> None:
        self.phase: Phase = "idle"
        self.draft_note = ""
        """Why no draft is in use although one was asked for."""
        self._detail = self._notice = ""
        self._events = events

    @property
    def line(self) -> str:
        """What there is to say now, or the notice."""
        return self._detail or self._notice

    def enter(self, phase: Phase, detail: str = "") -> None:
        """Go over to another phase."""
        self.phase = phase
        self.say(detail)

    def say(self, detail: str) -> None:
        """Put one line into the state."""
        self._detail = detail
        self._events.touch()

    def notice(self, text: str) -> None:
        """A line for the state that stays, and shows whenever there is nothing newer to say."""
        self._notice = text
        self._events.touch()

    def progress(self, job: Job) -> Progress:
        """Puts how far a load has come into its job's events and into the line."""
        last = ("", -1)

        def report(phase: str, fraction: float) -> None:
            nonlocal last
            done = min(max(fraction, 0.0), 1.0)
            if (phase, int(100 * done)) == last:
                return
            last = (phase, int(100 * done))
            job.emit(LoadProgress(phase=phase, fraction=done))  # type: ignore[arg-type]  # pydantic checks it
            self.say(f"{phase} {done:.0%}")

        return report
