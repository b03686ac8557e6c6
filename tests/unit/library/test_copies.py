"""Where copies of drafts lie, whose they are, and that nothing half-written, stale or of a killed worker stays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from backend.errors import EngineError, ErrorCode
from backend.library import copies
from backend.library.gguf import read_facts
from backend.library.paths import copies_dir
from tests.tiny import tiny_llama


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tiny_llama(tmp_path / "Draft model.gguf")


def copied(source: Path) -> Path:
    return copies.make(source, lambda file: shutil.copy(source, file))


def left() -> list[str]:
    folder = copies_dir()
    return sorted(file.name for file in folder.iterdir()) if folder.exists() else []


def test_a_copy_is_found_again_until_its_source_changes(source: Path) -> None:
    assert copies.find(source) is None
    copy = copied(source)
    assert copies.find(source) == copy
    assert copy.name.startswith("draft-model-q4_0-")
    (listed,) = copies.listed()
    assert (listed.file, listed.source, listed.stale, listed.id) == (copy, source, False, copy.stem)
    os.utime(source, ns=(0, 0))
    assert copies.find(source) is None
    assert copies.listed()[0].stale
    again = copied(source)
    assert again != copy
    assert [c.file for c in copies.listed()] == [again], "the stale one went"
    source.unlink()
    copies.sweep()
    assert left() == []


def test_a_copy_of_an_unknown_source_is_stale(source: Path) -> None:
    copy = copied(source)
    copy.with_suffix(".json").write_text("[")
    assert copies.listed()[0].stale


def test_what_fails_leaves_nothing(source: Path) -> None:
    def stopped(file: Path) -> None:
        file.write_bytes(b"half")
        raise EngineError(ErrorCode.CANCELLED, "Stopped.")

    with pytest.raises(EngineError, match="Stopped"):
        copies.make(source, stopped)
    with pytest.raises(EngineError):  # not even a model
        copies.make(source, lambda file: file.write_bytes(b"GGUF" + bytes(100)))
    assert left() == []


def test_a_source_that_changes_meanwhile_is_not_kept(source: Path) -> None:
    def write(file: Path) -> None:
        shutil.copy(source, file)
        os.utime(source, ns=(0, 0))

    with pytest.raises(EngineError, match="changed while it was copied"):
        copies.make(source, write)
    assert left() == []


def test_a_full_disk_is_said_before_anything_is_written(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(EngineError, match="MB are free") as caught:
        copies.make(source, lambda _: pytest.fail("written"))
    assert caught.value.code is ErrorCode.DISK_FULL
    assert left() == []


def test_what_a_killed_worker_left_is_removed(source: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder = copied(source).parent
    (folder / f".{ended.pid}-x.gguf.part").touch()
    (folder / f".{os.getpid()}-x.gguf.part").touch()
    (folder / ".99999999999999-x.gguf").touch()  # no process has such a number
    for name in ("gone", "just now"):
        (folder / f"{name}.json").write_text("{}")
    os.utime(folder / "gone.json", (0, 0))
    assert copies.sweep() == 2
    unfinished = {name for name in left() if name.startswith(".")}
    assert unfinished == {".99999999999999-x.gguf", f".{os.getpid()}-x.gguf.part"}
    assert "gone.json" not in left()
    assert "just now.json" in left(), "its copy may be about to follow"
    assert len(copies.listed()) == 1, "only what is finished is listed"


def test_a_place_that_is_taken_is_said(source: Path) -> None:
    copies.place(source).mkdir(parents=True)
    with pytest.raises(EngineError, match="could not be put into") as caught:
        copied(source)
    assert caught.value.code is ErrorCode.NOT_WRITABLE
    assert not [name for name in left() if name.startswith(".")]


def test_a_copy_is_worth_it_where_clearly_fewer_bytes_are_read(smollm2: Path, tmp_path: Path) -> None:
    assert copies.worth_copying(read_facts(smollm2)), "Q4_1, but its embedding, which is its output too, is Q8_0"
    assert copies.worth_copying(read_facts(tiny_llama(tmp_path / "full.gguf")))
    narrow = read_facts(tiny_llama(tmp_path / "narrow.gguf", n_embd=40))
    assert not copies.worth_copying(narrow), "its rows are no whole blocks, so hardly anything would be smaller"
