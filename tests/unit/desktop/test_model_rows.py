"""The rows of the models window and what they say of a model, from real entries and files."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from backend.errors import EngineError, ErrorCode
from backend.library.catalogue import shipped_catalogue
from backend.library.hub_search import Hit
from backend.library.library import LibraryModel
from backend.plan.machine import machine
from backend.plan.needs import of_published
from desktop.models.fetching import Fetch
from desktop.models.model_rows import HUB, SEARCH, hub_rows, model_rows, state_text
from desktop.models.outlook import Outlook, by_size, outlook

GB = 10**9


def published(model_id: str, **fields: Any) -> LibraryModel:
    found = shipped_catalogue().find(model_id)
    assert found is not None
    entry, variant = found
    made = LibraryModel(
        model_id, entry.name, "catalogue", False, (Path("m.gguf"),), (), variant.size, variant.quant, entry, variant
    )
    return dataclasses.replace(made, **fields)


def test_a_pair_is_planned_with_its_memory() -> None:
    target, draft = of_published(published("qwen3-14b")), of_published(published("qwen3-0.6b"))
    alone, pair = outlook(target, None, machine(16 * GB)), outlook(target, draft, machine(16 * GB))
    assert alone.fits
    assert pair.fits
    assert 9 * GB < alone.memory < pair.memory < 16 * GB
    assert (alone.gain, 1 < pair.gain < 3) == (1.0, True)
    for each in (alone, pair):
        assert each.weights + each.caches < each.memory
    assert alone.caches == 8192 * 40 * 8 * 128 * 2 * 2
    assert pair.caches == alone.caches + 8192 * 28 * 8 * 128 * 2 * 2
    assert alone.words == "≈ 5 tok/s here"
    small = outlook(target, draft, machine(8 * GB))
    assert small.fits is False
    assert small.words.startswith("does not fit: larger than the free memory, ≈ 1.")
    assert outlook(None, None, machine(GB)) == Outlook()


def test_where_only_the_size_is_known_it_decides() -> None:
    assert by_size(10 * GB, machine(16 * GB)).fits
    assert by_size(15 * GB, machine(16 * GB)).fits is False
    assert by_size(None, machine(16 * GB)).fits is None


def test_what_fits_is_what_the_filter_leaves() -> None:
    models = [published("qwen3-14b"), published("qwen3-32b"), published("qwen3-0.6b", size=None)]
    seen = {"qwen3-14b": Outlook(True, "", "≈ 5 tok/s"), "qwen3-32b": Outlook(False, "larger than the free memory")}
    rows = {row.value: row.detail for row in model_rows(models, seen, {}) if row.value}
    assert rows["qwen3-14b"] == "9.0 GB · ≈ 5 tok/s here · Apache-2.0", "the speed is not what is cut off"
    assert rows["qwen3-32b"] == "19.8 GB · does not fit: larger than the free memory · Apache-2.0"
    assert rows["qwen3-0.6b"] == "size not known · draft · Apache-2.0"
    left = [row.value for row in model_rows(models, seen, {}, fitting=True) if row.value]
    assert left == ["qwen3-14b", "qwen3-0.6b"]  # what is not known is not left out


def test_how_a_download_stands() -> None:
    here = published("qwen3-14b", fetched=3 * GB)
    assert state_text(here, None) == "Paused at 3.0 GB of 9.0 GB"
    fetch = Fetch("qwen3-14b", "Qwen3 14B", ("qwen3-14b",), "")
    assert state_text(here, fetch) == "Waits for the other download"
    fetch.state, fetch.done, fetch.total = "running", 4 * GB, 8 * GB
    assert state_text(here, fetch) == "Downloading 50\N{NO-BREAK SPACE}%"
    fetch.state, fetch.error = "failed", EngineError(ErrorCode.DISK_FULL, "The disk has no room.")
    assert state_text(here, fetch) == "Stopped: The disk is full"
    rows = model_rows([here], {}, {"qwen3-14b": fetch})
    assert [row.text for row in rows] == ["Downloads", "Qwen3 14B · Q4_K_M"]


def test_the_hub_is_offered_and_shown() -> None:
    assert hub_rows("  ", None, "") == []
    assert [row.value for row in hub_rows("qwen", None, "")] == ["", SEARCH]
    hits = [Hit("a/B-GGUF", 1234, True, 3 * GB, "mit")]
    (_, row) = hub_rows("qwen", hits, "")
    assert row.value == HUB + "a/B-GGUF"
    assert row.detail == "3.0 billion parameters · mit · 1,234 downloads · licence to be accepted"
    assert hub_rows("qwen", [], "")[1].text == "Nothing was found"
