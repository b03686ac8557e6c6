"""The rows of the models window: what is here, what other programs have, what can be had; narrowed by words and fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from backend.text import shown_name
from desktop.figures import gigabytes, share
from desktop.models.choices import PROGRAMS, label
from desktop.models.fetching import Fetch
from desktop.models.outlook import UNKNOWN, Outlook
from desktop.widgets.picker import Row
from desktop.words import title_of

HUB = "\x00hub:"
"""Prefix of the value of a repository on the hub."""
SEARCH = "\x00search"
FOLDER = "\x00folder:"
"""Prefix of the value of a folder that is not there."""
_PLACES = PROGRAMS | {
    "catalogue": "downloaded",
    "own": "added by you",
    "folder": "in a folder of yours",
    "models_dir": "in Tandem's models folder",
}


def model_rows(
    models: Iterable[Any],
    outlooks: Mapping[str, Outlook],
    fetches: Mapping[str, Fetch],
    words: str = "",
    *,
    fitting: bool = False,
    used: Mapping[str, str] = MappingProxyType({}),
) -> list[Row]:
    """Rows under headings; each value is a model's id.

    Args:
        models: the library's.
        outlooks: by id.
        fetches: downloads by id.
        words: all of them must be found in a model's name, quantisation, licence or place.
        fitting: leave out what does not fit this machine.
        used: what is loaded, by id: as what.
    """
    groups: dict[str, list[Row]] = {
        "Downloads": [],
        "On this machine": [],
        "In other programs": [],
        "Cannot be used": [],
        "To download": [],
    }
    for model in models:
        outlook, fetch = outlooks.get(model.id, UNKNOWN), fetches.get(model.id)
        group = _group(model, fetch)
        if fitting and outlook.fits is False and group != "Downloads":
            continue
        row = Row(label(model), model.id, _detail(model, outlook, fetch, used.get(model.id, "")))
        if matches(words, row.text, row.detail, model.id):
            groups[group].append(row)
    return [row for heading, rows in groups.items() if rows for row in (Row(heading), *rows)]


def matches(words: str, *texts: str) -> bool:
    """Whether each word stands in one of the texts, whatever the case."""
    within = " ".join(texts).casefold()
    return all(word in within for word in words.casefold().split())


def folder_rows(gone: Iterable[Path]) -> list[Row]:
    """Folders that were added and are not there."""
    rows = [Row(shown_name(str(folder)), FOLDER + str(folder), "This folder is not there") for folder in gone]
    return [Row("Folders of yours"), *rows] if rows else []


def hub_rows(words: str, hits: Iterable[Any] | None, note: str) -> list[Row]:
    """What of the hub is shown below: an offer to look there, what was found, or why nothing was."""
    if not words.strip():
        return []
    rows = [Row("On the model hub")]
    if hits is None:
        return [
            *rows,
            Row(note or f"Look for “{words.strip()}” on the hub", SEARCH, "" if note else "Asks huggingface.co"),
        ]
    found = [Row(hit.repo, HUB + hit.repo, _hit_detail(hit)) for hit in hits]
    return [*rows, *(found or [Row("Nothing was found", SEARCH, "Other words may help; names of models do best")])]


def place(model: Any) -> str:
    """Where a model lies, in words; empty where it is not here."""
    return _PLACES.get(model.where, "") if model.installed else ""


def path_text(path: Path) -> str:
    """A path for people: their own folder as ``~``."""
    home = Path.home()
    shown = Path("~") / path.relative_to(home) if path.is_relative_to(home) else path
    return shown_name(str(shown))


def state_text(model: Any, fetch: Fetch | None) -> str:
    """How a download stands: ``Downloading 43 %``, ``Paused at 1.2 GB of 4.7 GB``; empty where there is none."""
    if fetch is None or fetch.state == "paused":
        done = fetch.done if fetch is not None and fetch.done else model.fetched
        if fetch is None and not done:
            return ""
        return f"Paused at {share(done, model.size)}" if model.size and done else "Paused"
    if fetch.state == "waiting":
        return "Waits for the other download"
    if fetch.state == "failed":
        return f"Stopped: {title_of(fetch.error)}" if fetch.error is not None else "Stopped"
    doing = "Checking" if fetch.checking else "Downloading"
    return f"{doing} {100 * fetch.done / fetch.total:.0f} %" if fetch.total else f"{doing}…"


def _group(model: Any, fetch: Fetch | None) -> str:
    if fetch is not None or model.fetched:
        return "Downloads"
    if model.state == "available":
        return "To download"
    if model.state != "installed" or (model.facts is not None and model.facts.kind != "model"):
        return "Cannot be used"
    return "In other programs" if model.where in PROGRAMS else "On this machine"


def _detail(model: Any, outlook: Outlook, fetch: Fetch | None, used: str) -> str:
    if stands := state_text(model, fetch):
        return stands
    if model.problem is not None and model.state != "available":
        return str(model.problem.message)
    size = gigabytes(model.size) if model.size else "size not known"
    licence = model.entry.licence.name if model.entry is not None and model.entry.licence is not None else ""
    role = (
        f"in use as {used}"
        if used
        else "draft"
        if model.entry is not None and "target" not in model.entry.roles
        else ""
    )
    return " · ".join(part for part in (size, role, place(model), licence, outlook.words) if part)


def _hit_detail(hit: Any) -> str:
    size = f"{hit.parameters / 1e9:.1f} billion parameters" if hit.parameters else ""
    got = f"{hit.downloads:,} downloads" if hit.downloads else ""
    return " · ".join(part for part in (size, hit.licence, got, "licence to be accepted" if hit.gated else "") if part)
