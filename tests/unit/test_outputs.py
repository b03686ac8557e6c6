"""Output files: written whole, into pipes as they are, and refused before the work where they could not be."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from backend.errors import EngineError
from backend.outputs import checked, write_whole

posix_only = pytest.mark.skipif(os.name != "posix", reason="POSIX pipes and rights")


@posix_only
@pytest.mark.parametrize("named", [True, False])
def test_a_pipe_gets_what_is_written_and_no_end_before(tmp_path: Path, named: bool) -> None:
    if named:
        os.mkfifo(pipe := tmp_path / "pipe")
        ends = []
    else:
        ends = list(os.pipe())
        pipe = Path(f"/dev/fd/{ends[1]}")
    heard: list[bytes] = []
    reading = threading.Thread(target=lambda: heard.append(pipe.read_bytes() if named else os.read(ends[0], 100)))
    reading.start()
    with checked([pipe], []):
        write_whole(pipe, b"all of it")
    reading.join(10)
    for end in ends:
        os.close(end)
    assert heard == [b"all of it"]


def test_what_could_not_be_written_in_the_end_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / ".taken.json.part").mkdir()
    for path in (tmp_path / "taken.json", tmp_path / f"{'n' * 250}.json", tmp_path / "none" / "x.json", tmp_path):
        with pytest.raises(EngineError, match="cannot be written"), checked([path], []):
            pytest.fail("minutes of work")
    assert [each.name for each in tmp_path.iterdir()] == [".taken.json.part"]


@posix_only
def test_who_may_not_read_the_old_file_may_not_read_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with checked([path], []):
        write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
