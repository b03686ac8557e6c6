"""What the status bar's first words are: from what the engine reports, never from what was asked for."""

from __future__ import annotations

from backend.protocol import ONLY_SINGLE, LoadProgress, PromptProgress, State, Timings
from desktop.models.engine import Mode

_PHASES = {
    "target": "Loading target",
    "draft": "Loading draft",
    "probe": "Checking the pair",
    "stream": "Reading the layers that stay in memory",
    "exact": "Finding which passes are exact",
    "measure": "Measuring this machine",
}
_ONLY_SINGLE = "only one-token passes are exact"
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
    """One line. ``timings`` = counters of the running reply, None before its first token."""
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
        return "Engine stopped"
    if progress is not None:
        return f"{_PHASES[progress.phase]} {progress.fraction:.0%}".replace("%", " %")
    if mode == "starting":
        return "Starting engine…"
    if mode == "loading":
        return "Waiting for the reply…" if state.phase in _DECODING else "Loading…"
    if reading is not None:
        return f"Reading prompt {reading.done:,}/{reading.total:,}"
    if running and state.target is None:
        return "Waiting for a model"
    if not running:
        return _resting(state)
    # before the first token, whatever the state says of drafts is of the reply before
    return _generating(state, timings) if timings is not None else "Reading the prompt"


def exact(state: State) -> str:
    """Said beside the figures while drafts are checked in strict mode; empty when there is nothing to say."""
    drafting = state.exact_rows is not None and state.exact_rows > 1 and state.speculation.enabled
    return "texts exact" if drafting else ""


def _plain_only(state: State) -> str:
    """Why nothing is drafted in strict mode; empty where something is."""
    if state.exact_rows != 1 or not state.speculation.enabled:
        return ""
    note = state.target.truncate_note if state.target else ""
    return _ONLY_SINGLE if note in ("", ONLY_SINGLE) else _sentence(note)


def detail(text: str, state: State) -> str:
    """The engine's whole sentence, figures and all, behind a line that was made of it; else empty."""
    return _sentence(state.why) if state.why and text == _brief(state.why) else ""


def _brief(why: str) -> str:
    """Without the figures, which stand in brackets at its end."""
    return _sentence(why.partition(" (")[0])


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _generating(state: State, timings: Timings) -> str:
    if not state.speculation.enabled:
        return "Writing plain: speculation is off"
    if why := _plain_only(state):
        return f"Writing plain: {why}"
    if state.why:
        return _brief(state.why)
    return "Drafting and verifying" if timings.draft_n else "Writing"


def _resting(state: State) -> str:
    if state.target is None:
        return "No model loaded"
    if not state.speculation.enabled:
        return "Ready, speculation is off"
    if why := _plain_only(state):
        return f"Ready, plain: {why}"
    if state.draft_note:
        return state.draft_note
    if state.draft is None and state.speculation.source == "draft":
        return "Ready, no draft model"
    if state.draft_copy_busy and state.draft_copy:
        return state.draft_copy
    # a comparison ends with its plain side, whose reason must not be read as the setting
    return _brief(state.why) if state.why and "is off" not in state.why else state.draft_copy or "Ready"
