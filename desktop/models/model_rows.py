"""The rows of the models window: what is here, what other programs have, what can be had; narrowed by words and fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from backend.text import shown_name
from desktop.figures import gigabytes, share
from desktop.language import counted, marked, tr
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
    "catalogue": marked("downloaded"),
    "own": marked("added by you"),
    "folder": marked("in a folder of yours"),
    "models_dir": marked("in Tandem's models folder"),
}
_DOWNLOADS, _HERE, _ELSEWHERE = marked("Downloads"), marked("On this machine"), marked("In other programs")
_UNFIT, _OFFERED = marked("Cannot be used"), marked("To download")
_USED = {"target": marked("in use as target"), "draft": marked("in use as draft")}


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
    groups: dict[str, list[Row]] = {name: [] for name in (_DOWNLOADS, _HERE, _ELSEWHERE, _UNFIT, _OFFERED)}
    for model in models:
        outlook, fetch = outlooks.get(model.id, UNKNOWN), fetches.get(model.id)
        group = _group(model, fetch)
        if fitting and outlook.fits is False and group != _DOWNLOADS:
            continue
        row = Row(label(model), model.id, _detail(model, outlook, fetch, used.get(model.id, "")))
        if matches(words, row.text, row.detail, model.id):
            groups[group].append(row)
    return [row for heading, rows in groups.items() if rows for row in (Row(tr(heading)), *rows)]


def matches(words: str, *texts: str) -> bool:
    """Whether each word stands in one of the texts, whatever the case."""
    within = " ".join(texts).casefold()
    return all(word in within for word in words.casefold().split())


def folder_rows(gone: Iterable[Path]) -> list[Row]:
    """Folders that were added and are not there."""
    rows = [Row(shown_name(str(folder)), FOLDER + str(folder), tr("This folder is not there")) for folder in gone]
    return [Row(tr("Folders of yours")), *rows] if rows else []


def hub_rows(words: str, hits: Iterable[Any] | None, note: str) -> list[Row]:
    """What of the hub is shown below: an offer to look there, what was found, or why nothing was."""
    if not words.strip():
        return []
    rows = [Row(tr("On the model hub"))]
    if hits is None:
        offer = tr("Look for “{words}” on the hub", words=words.strip())
        return [*rows, Row(note or offer, SEARCH, "" if note else tr("Asks huggingface.co"))]
    found = [Row(hit.repo, HUB + hit.repo, _hit_detail(hit)) for hit in hits]
    nothing = Row(tr("Nothing was found"), SEARCH, tr("Other words may help; names of models do best"))
    return [*rows, *(found or [nothing])]


def place(model: Any) -> str:
    """Where a model lies, in words; empty where it is not here."""
    return tr(_PLACES.get(model.where, "")) if model.installed else ""


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
        return tr("Paused at {share}", share=share(done, model.size)) if model.size and done else tr("Paused")
    if fetch.state == "waiting":
        return tr("Waits for the other download")
    if fetch.state == "failed":
        return tr("Stopped: {why}", why=title_of(fetch.error)) if fetch.error is not None else tr("Stopped")
    if not fetch.total:
        return tr("Checking…") if fetch.checking else tr("Downloading…")
    said = marked("Checking {percent:.0f} %") if fetch.checking else marked("Downloading {percent:.0f} %")
    return tr(said, percent=100 * fetch.done / fetch.total)


def _group(model: Any, fetch: Fetch | None) -> str:
    if fetch is not None or model.fetched:
        return _DOWNLOADS
    if model.state == "available":
        return _OFFERED
    if model.state != "installed" or (model.facts is not None and model.facts.kind != "model"):
        return _UNFIT
    return _ELSEWHERE if model.where in PROGRAMS else _HERE


def _detail(model: Any, outlook: Outlook, fetch: Fetch | None, used: str) -> str:
    if stands := state_text(model, fetch):
        return stands
    if model.problem is not None and model.state != "available":
        return str(model.problem.message)
    size = gigabytes(model.size) if model.size else tr("size not known")
    licence = model.entry.licence.name if model.entry is not None and model.entry.licence is not None else ""
    drafts = model.entry is not None and "target" not in model.entry.roles
    role = tr(_USED[used]) if used else tr("draft") if drafts else ""
    return " · ".join(part for part in (size, role, outlook.words, place(model), licence) if part)


def _hit_detail(hit: Any) -> str:
    size = tr("{billions:.1f} billion parameters", billions=hit.parameters / 1e9) if hit.parameters else ""
    n = hit.downloads
    got = counted("{count:,} download", "{count:,} downloads", n, count=n) if n else ""
    gated = tr("licence to be accepted") if hit.gated else ""
    return " · ".join(part for part in (size, hit.licence, got, gated) if part)
