"""What the status bar's first words are: from what the engine reports, never from what was asked for."""

from __future__ import annotations

from backend.protocol import ONLY_SINGLE, LoadProgress, PromptProgress, State, Timings
from desktop.language import marked, tr
from desktop.models.wishes import Mode

_PHASES = {
    "target": marked("Loading target {percent:.0f} %"),
    "draft": marked("Loading draft {percent:.0f} %"),
    "probe": marked("Checking the pair {percent:.0f} %"),
    "stream": marked("Reading the layers that stay in memory {percent:.0f} %"),
    "exact": marked("Finding which passes are exact {percent:.0f} %"),
    "measure": marked("Measuring this machine {percent:.0f} %"),
}
_DECODING = ("reading", "generating")


def lead(
    mode: Mode,
    state: State,
    progress: LoadProgress | None,
    *,
    running: bool = False,
    reading: PromptProgress | None = None,
    timings: Timings | None = None,
) -> str:
    """One line.

    ``timings`` = counters of the running reply, None before its first token; at rest, of the one that is on screen.
    """
    text = _lead(mode, state, progress, running, reading, timings)
    return _sentence(text)


def _lead(
    mode: Mode,
    state: State,
    progress: LoadProgress | None,
    running: bool,
    reading: PromptProgress | None,
    timings: Timings | None,
) -> str:
    if mode == "lost":
        return tr("Engine stopped")
    if progress is not None:
        return tr(_PHASES[progress.phase], percent=100 * progress.fraction)
    if mode == "starting":
        return tr("Starting engine…")
    if mode == "loading":
        return tr("Waiting for the reply…") if state.phase in _DECODING else tr("Loading…")
    if reading is not None:
        return tr("Reading prompt {done:,}/{total:,}", done=reading.done, total=reading.total)
    if running and state.target is None:
        return tr("Waiting for a model")
    if not running:
        return _resting(state, timings)
    # before the first token, whatever the state says of drafts is of the reply before
    return _generating(state, timings) if timings is not None else tr("Reading the prompt")


def exact(state: State) -> str:
    """Said beside the figures while drafts are checked in strict mode; empty when there is nothing to say."""
    drafting = state.exact_rows is not None and state.exact_rows > 1 and state.speculation.enabled
    return tr("texts exact") if drafting else ""


def _plain_only(state: State) -> str:
    """Why nothing is drafted in strict mode; empty where something is."""
    if state.exact_rows != 1 or not state.speculation.enabled:
        return ""
    note = state.target.truncate_note if state.target else ""
    return tr("only one-token passes are exact") if note in ("", ONLY_SINGLE) else _sentence(note)


def detail(text: str, state: State) -> str:
    """The engine's whole sentence, figures and all, behind a line that was made of it; else empty."""
    words, figures, _ = state.why.partition(" (")
    return _sentence(state.why) if figures and words.lower() in text.lower() else ""


def _brief(why: str) -> str:
    """Without the figures, which stand in brackets at its end."""
    return why.partition(" (")[0]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _generating(state: State, timings: Timings) -> str:
    if not state.speculation.enabled:
        return tr("Writing plain: speculation is off")
    if why := _plain_only(state):
        return tr("Writing plain: {why}", why=why)
    if state.why:
        return _brief(state.why)
    return tr("Drafting and verifying") if timings.draft_n else tr("Writing", note="a reply is being written")


def _resting(state: State, timings: Timings | None) -> str:
    if state.target is None:
        return tr("No model loaded")
    if not state.speculation.enabled:
        return tr("Ready, speculation is off")
    if why := _plain_only(state):
        return tr("Ready, plain: {why}", why=why)
    if state.draft_note:
        return state.draft_note
    if state.draft is None and state.speculation.source == "draft":
        return tr("Ready, no draft model")
    if state.draft_copy_busy and state.draft_copy:
        return state.draft_copy
    return _ended(state, timings) if timings is not None else state.draft_copy or tr("Ready")


def _ended(state: State, timings: Timings) -> str:
    """What the reply on screen has come to: nothing of it goes on."""
    if timings.draft_n:
        return tr("Ready. The last reply was written with drafts")
    # a comparison ends with its plain side, whose reason must not be read as the setting
    if not state.why or "is off" in state.why or state.why.startswith("drafting"):
        return tr("Ready. The last reply was written plain")
    return tr("Ready. The last reply was written plain ({why})", why=_brief(state.why))
