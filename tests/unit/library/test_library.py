"""The library: what is named how, own and found files, split files, and every way in which a file can be absent."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from backend.errors import EngineError, ErrorCode
from backend.library import local
from backend.library.library import Library
from backend.library.paths import config_dir, data_dir, log_dir, models_dir, not_writable
from backend.protocol import MODELS_VARIABLE
from tests.unit.library.files import write_gguf, write_split


def refused(library: Library, model_id: str) -> EngineError:
    with pytest.raises(EngineError) as caught:
        library.resolve(model_id)
    return caught.value


# -- folders ----------------------------------------------------------------------------------------------------------


def test_one_variable_moves_everything_but_the_models(tandem_home: Path) -> None:
    assert data_dir() == tandem_home
    assert config_dir().parent == log_dir().parent == tandem_home
    assert not models_dir().is_relative_to(tandem_home)


@pytest.mark.parametrize("place", ["file", "proc"])
def test_unwritable_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    (tmp_path / "file").write_text("")
    home = tmp_path / "file" / "home" if place == "file" else Path("/proc/tandem")
    monkeypatch.setenv("TANDEM_HOME", str(home))
    with pytest.raises(EngineError) as caught:
        data_dir()
    assert caught.value.code is ErrorCode.NOT_WRITABLE
    assert str(home) in caught.value.message


def test_a_full_disk_is_told_from_a_folder_without_permission(tandem_home: Path) -> None:
    error = not_writable(tandem_home, OSError(errno.ENOSPC, "No space left on device"))
    assert error.code is ErrorCode.DISK_FULL
    assert "is full; free some space" in error.message
    assert "permission" not in error.message


def test_folder_without_permission(tandem_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.access  # an administrator may write anywhere, so permission bits prove nothing there
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tandem_home and real(path, mode))
    with pytest.raises(EngineError) as caught:
        data_dir()
    assert caught.value.code is ErrorCode.NOT_WRITABLE


def test_a_read_only_file_system_is_no_matter_of_permission(tandem_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = not_writable(tandem_home, OSError(errno.EROFS, "Read-only file system"))
    assert "its file system is read-only" in error.message
    assert "permission" not in error.message
    monkeypatch.setenv("TANDEM_HOME", "/sys/kernel" if read_only("/sys") else str(tandem_home))
    if read_only("/sys"):  # as in most containers
        with pytest.raises(EngineError, match="its file system is read-only"):
            data_dir()


def read_only(folder: str) -> bool:
    return Path(folder).is_dir() and hasattr(os, "statvfs") and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


# -- names ------------------------------------------------------------------------------------------------------------


def test_unknown_names_get_near_ones(models_folder: Path) -> None:
    error = refused(Library(), "qwen3-8")
    assert error.code is ErrorCode.MODEL_UNKNOWN
    assert "qwen3-8b" in error.details["near"]
    assert "did you mean" in error.message
    assert refused(Library(), "zzz").details["near"] == []


def test_not_downloaded(models_folder: Path) -> None:
    error = refused(Library(), "qwen3-8b")
    assert error.code is ErrorCode.FILE_MISSING
    assert "tandem models get qwen3-8b" in error.message


def test_catalogue_file_found_among_the_models_and_by_quant(smollm2: Path) -> None:
    library = Library()
    assert library.resolve("smollm2") == library.resolve("smollm2:Q4_1") == library.resolve("smollm2:q4_1") == smollm2
    listed = [m for m in library.models(test_only=True) if m.files[0] == smollm2]
    assert [(m.id, m.state) for m in listed] == [("smollm2", "installed")]
    assert not [m for m in library.models() if m.id == "smollm2"]  # for the tests only: not in normal lists


def test_catalogue_file_of_the_wrong_size(models_folder: Path, smollm2: Path) -> None:
    place = models_folder / smollm2.name
    with smollm2.open("rb") as file:
        place.write_bytes(file.read(1_000_000))
    error = refused(Library(), "smollm2")
    assert error.code is ErrorCode.FILE_TRUNCATED
    assert "1,000,000" in error.message
    assert "98,362,432" in error.message
    assert Library().find("smollm2").state == "broken"


def test_catalogue_file_in_the_hub_cache(models_folder: Path, tandem_home: Path) -> None:
    tandem_home.mkdir()
    (tandem_home / "models.yaml").write_text(
        "models:\n- {id: mine, name: Mine, family: own, repo: me/mine, "
        "variants: [{quant: F32, files: [{name: sub/m.gguf}]}]}\n"
    )
    repo = models_folder.parent / "hub" / "models--me--mine"
    for revision in ("old", "new"):
        (repo / "snapshots" / revision / "sub").mkdir(parents=True)
        write_gguf(repo / "snapshots" / revision / "sub" / "m.gguf")
    write_gguf(repo / "snapshots" / "old" / "other.gguf")
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text("old")
    library = Library()
    assert library.resolve("mine") == repo / "snapshots" / "old" / "sub" / "m.gguf"
    listed = {m.id: m.source for m in library.models() if m.state != "available"}
    assert listed == {"mine": "catalogue", "other": "hub_cache"}


def test_files_handed_over_in_the_environment(
    models_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_gguf(tmp_path / "given 模型.gguf")
    monkeypatch.setenv(MODELS_VARIABLE, json.dumps({"x": str(path), "gone": str(tmp_path / "gone.gguf")}))
    library = Library()
    assert library.resolve("x") == path
    assert library.find("x").facts is not None
    assert refused(library, "gone").code is ErrorCode.FILE_MISSING
    monkeypatch.setenv(MODELS_VARIABLE, "[1]")
    assert refused(library, "x").code is ErrorCode.BAD_REQUEST


# -- own files --------------------------------------------------------------------------------------------------------


def test_own_file_is_kept_until_removed(models_folder: Path, tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "My Model (q8).gguf")
    added = Library().add(path)
    assert (added.id, added.source, added.state) == ("my-model-q8", "own", "installed")
    assert Library().add(path).id == added.id
    other = write_gguf(tmp_path / "sub-My Model (q8).gguf")
    (tmp_path / "sub").mkdir()
    assert Library().add(other.rename(tmp_path / "sub" / "My Model (q8).gguf")).id == "my-model-q8-2"
    assert Library().resolve(added.id) == path
    Library().remove(added.id)
    assert path.is_file()
    assert refused(Library(), added.id).code is ErrorCode.MODEL_UNKNOWN
    with pytest.raises(EngineError):
        Library().remove("qwen3-8b")


def test_own_file_that_has_gone(models_folder: Path, tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf")
    added = Library().add(path)
    path.unlink()
    assert refused(Library(), added.id).code is ErrorCode.FILE_MISSING
    problem = Library().find(added.id).problem
    assert problem is not None
    assert str(path) in problem.message


@pytest.mark.parametrize(
    ("content", "code"),
    [(None, ErrorCode.FILE_MISSING), (b"text", ErrorCode.FILE_NOT_GGUF), (b"GGUF\3\0", ErrorCode.FILE_TRUNCATED)],
)
def test_bad_files_are_not_added(models_folder: Path, tmp_path: Path, content: bytes | None, code: ErrorCode) -> None:
    path = tmp_path / "bad.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EngineError) as caught:
        Library().add(path)
    assert caught.value.code is code
    assert not [m for m in Library().models() if m.source == "own"]


def test_split_model_and_its_missing_part(models_folder: Path, tmp_path: Path) -> None:
    parts = write_split(tmp_path, "big", 3)
    added = Library().add(parts[1])
    assert (added.id, added.files) == ("big", tuple(parts))
    assert Library().resolve("big") == parts[0]
    parts[2].unlink()
    error = refused(Library(), "big")
    assert error.code is ErrorCode.FILE_MISSING
    assert parts[2].name in error.message
    assert parts[0].name not in error.message
    assert Library().find("big").state == "incomplete"


def test_found_split_files_are_one_model(models_folder: Path) -> None:
    parts = write_split(models_folder, "big", 2)
    write_gguf(models_folder / "small.gguf")
    (models_folder / ".hidden").mkdir()
    write_gguf(models_folder / ".hidden" / "not-shown.gguf")
    found = {m.id: m for m in Library().models() if m.source == "models_dir"}
    assert set(found) == {"big", "small"}
    assert found["big"].size == sum(p.stat().st_size for p in parts)


def test_damaged_library_file_does_not_stop_the_app(models_folder: Path, tandem_home: Path) -> None:
    tandem_home.mkdir()
    for name in ("library.json", "facts.json", "hashes.json"):
        (tandem_home / name).write_text('{"files": [1], "entries": 3, "format": 1')
    assert Library().models()


def test_a_damaged_list_of_own_files_is_set_aside_before_it_is_written_anew(
    models_folder: Path, tandem_home: Path
) -> None:
    tandem_home.mkdir()
    damaged = '{"version": 1, "files": {"mine": "/models/mi'
    (tandem_home / "library.json").write_text(damaged)
    Library().add(write_gguf(models_folder / "m.gguf"))
    assert (tandem_home / "library.json.damaged").read_text() == damaged
    Library().add(write_gguf(models_folder / "n.gguf"))
    assert (tandem_home / "library.json.damaged").read_text() == damaged


# -- the index --------------------------------------------------------------------------------------------------------


def test_facts_are_read_once_until_the_file_changes(
    models_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_gguf(models_folder / "m.gguf")
    reads: list[Path] = []
    real = local.read_facts

    def counted(each: Path) -> object:
        reads.append(each)
        return real(each)

    monkeypatch.setattr(local, "read_facts", counted)
    first = Library().find("m").facts
    assert Library().find("m").facts == first
    assert len(reads) == 1
    shutil.copy(write_gguf(tmp_path / "m.gguf", width=128), path)
    changed = Library().find("m").facts
    assert changed is not None
    assert changed.n_embd == 128
    assert len(reads) == 2
