"""The rows of the two drop-downs, made from the library: what can be used first, then the rest with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from desktop.figures import gigabytes
from desktop.language import marked, tr
from desktop.models.outlook import UNKNOWN, Outlook
from desktop.models.ranking import Ranking, Speedup
from desktop.settings import AUTOMATIC, LOOKUP, NONE
from desktop.widgets.picker import Row

ADD_FILE = "\x00add"
MANAGE = "\x00models"
TRY_DRAFTS = "\x00try"
PROGRAMS = {
    "lm_studio": "LM Studio",
    "jan": "Jan",
    "gpt4all": "GPT4All",
    "ollama": "Ollama",
    "hub_cache": marked("the hub's cache"),
}
"""Whose folders are only read."""
DOWNLOAD = "\x00get:"
"""Prefix of the value of a model that is not downloaded yet."""


def label(model: Any) -> str:
    """``Qwen3 14B · Q4_K_M``."""
    return f"{model.name} · {model.quant}" if model.quant and model.quant not in model.name else str(model.name)


def in_use(draft: Any) -> tuple[str, tuple[str, ...]]:
    """What "Automatic" has come to: for a tooltip, and for a closed box with the longest first."""
    short = draft.name.removesuffix(" Instruct")
    shortened = tr("Automatic · {draft}", draft=short), tr("Auto · {draft}", draft=short)
    return tr("In use: {draft}", draft=label(draft)), shortened


def target_rows(models: Iterable[Any], forecasts: Mapping[str, str] | None = None) -> list[Row]:
    """Installed models, broken ones with their reason, the catalogue with how fast each would be, and adding a file."""
    ready, broken, offered = [], [], []
    for m in models:
        size = gigabytes(m.size) if m.size else ""
        if m.state == "installed":
            if m.facts is None or m.facts.kind == "model":
                ready.append(Row(label(m), m.id, " · ".join(p for p in (size, tr(PROGRAMS.get(m.where, ""))) if p)))
        elif m.state == "available":
            if m.entry is not None and "target" in m.entry.roles:
                licence = m.entry.licence.name if m.entry.licence is not None else ""
                speed = (forecasts or {}).get(m.id, "")
                detail = " · ".join(p for p in (tr("Download"), size, licence, speed) if p)
                offered.append(Row(label(m), DOWNLOAD + m.id, detail))
        else:
            broken.append(Row(label(m), m.id, m.problem.message if m.problem else tr("Incomplete."), enabled=False))
    rows = [Row(tr("On this machine")), *ready] if ready else []
    rows += [Row(tr("From disk")), Row(tr("Add a model file…"), ADD_FILE, tr("A GGUF file on this machine"))]
    rows += [Row(tr("Cannot be used")), *broken] if broken else []
    rows += [Row(tr("To download")), *offered] if offered else []
    return [
        *rows,
        Row(tr("All models")),
        Row(tr("Models…"), MANAGE, tr("Search, downloads, other programs' models, space on the disk")),
    ]


def pair_memory(choice: Any, pair: Outlook) -> str:
    """What a pair takes in memory, and why that is too much; the size of its files until that is known."""
    if not pair.memory:
        return tr("files of {size} with the target", size=gigabytes(choice.pair_bytes)) if choice.pair_bytes else ""
    memory = gigabytes(pair.memory)
    if pair.reason:
        return tr("≈ {memory} in memory with the target: {reason}", memory=memory, reason=pair.reason)
    return tr("≈ {memory} in memory with the target", memory=memory)


def draft_rows(
    choices: Sequence[Any],
    target: str,
    pairs: Mapping[str, Outlook] = MappingProxyType({}),
    speedup: Speedup = lambda _target, _draft: None,
) -> list[Row]:
    """What fits first, the choices without a draft model, then what does not fit with the reason.

    Args:
        choices: of the library.
        target: its id.
        pairs: what the target comes to with each draft, by the draft's id.
        speedup: what pairs have shown here.
    """
    fits, offered, unfit = [], [], []
    best = Ranking(target, pairs, speedup).recommended(choices)
    for c in choices:
        if c.model.id == target:
            continue
        marks = tr("Recommended") if c.model.id == best else ""
        if c.fits and c.model.installed:
            memory, ratio = pair_memory(c, pairs.get(c.model.id, UNKNOWN)), speedup(target, c.model.id)
            shown = tr("{ratio:.2f}× measured here", ratio=ratio) if ratio else ""
            detail = c.warning or " · ".join(p for p in (marks, memory, shown) if p)
            fits.append(Row(label(c.model), c.model.id, detail))
        elif c.fits:
            size = gigabytes(c.model.size) if c.model.size else ""
            detail = " · ".join(p for p in (marks, tr("Download"), size) if p)
            offered.append(Row(label(c.model), DOWNLOAD + c.model.id, detail))
        else:
            unfit.append(Row(label(c.model), c.model.id, c.reason, enabled=False))
    trial = [Row(tr("Try on my chats…"), TRY_DRAFTS, tr("How much each of these would help with replies like yours"))]
    rows = [Row(tr("Fits this model")), *fits, *(trial if fits else []), *offered] if fits or offered else []
    rows += [
        Row(tr("No draft model") if not fits else tr("Other ways")),
        Row(tr("Automatic"), AUTOMATIC, tr("The best draft that fits, or text seen before: whichever pays")),
        Row(tr("Prompt lookup"), LOOKUP, tr("Drafts from text seen before in this conversation; takes no memory")),
        Row(tr("None", note="no draft"), NONE, tr("Plain decoding")),
    ]
    return rows + ([Row(tr("Does not fit")), *unfit] if unfit else [])
