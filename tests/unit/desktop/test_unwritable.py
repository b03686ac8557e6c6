"""Chats that can be read where nothing can be written: in a folder without permission, on a full disk."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.store import Store, StoreError
from desktop.store.schema import MIGRATIONS

ROOT = Path(__file__).resolve().parents[3]

OPEN = """
import os, sys
from pathlib import Path
from desktop.store import Store, StoreError
if os.getuid() == 0:
    os.setuid(65534)  # root may write anywhere
try:
    store = Store(Path(sys.argv[1]))
    assert store.problem, "it could be written"
    sys.stdout.write(f"{[chat.title for chat in store.chats()]} ")
    raise store.problem
except StoreError as error:
    sys.stdout.write(f"{error.kind}: {error}")
"""


def _open_as_nobody(path: Path) -> str:
    """Open a store in a process that permissions apply to."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", OPEN, str(path)], env=env, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("exists", [False, True], ids=["new", "existing"])
def test_a_folder_that_cannot_be_written_says_so(exists: bool) -> None:
    with tempfile.TemporaryDirectory() as place:  # pytest's own folders are closed to the other user
        Path(place).chmod(0o755)
        folder = Path(place) / "locked"
        folder.mkdir()
        if exists:
            store = Store(folder / "chats.sqlite")
            store.add_chat("here before").result()
            store.close()
        folder.chmod(0o555)
        said = _open_as_nobody(folder / "chats.sqlite")
        folder.chmod(0o755)
    read = "['here before'] " if exists else ""
    assert said.startswith(f"{read}readonly: Chats cannot be saved in")
    assert "TANDEM_HOME" in said


@pytest.mark.parametrize("name", ["locked", "full", "busy"])
def test_what_a_folder_is_called_says_nothing_of_why(name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o555)
        said = _open_as_nobody(Path(place) / name / "chats.sqlite")
        Path(place).chmod(0o755)
    assert said.startswith("readonly: Chats cannot be saved in")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 400 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="uses a small tmpfs")
def test_no_half_copy_stays_where_there_is_no_room_for_a_whole_one(small: Path) -> None:
    store = Store(small / "chats.sqlite")
    chat = store.add_chat("kept").result()
    store.add_message(chat.id, None, "user", "x" * 20_000).result()
    store.close()
    newer = [*MIGRATIONS, "ALTER TABLE chats ADD COLUMN folder TEXT;"]
    with (small / "junk").open("wb") as junk:
        junk.write(bytes(shutil.disk_usage(small).free - 60_000))
    with pytest.raises(StoreError, match="no room"):
        Store(small / "chats.sqlite", migrations=newer)
    assert sorted(p.name for p in small.iterdir()) == ["chats.sqlite", "junk"]
    (small / "junk").unlink()
    Store(small / "chats.sqlite", migrations=newer).close()
    assert sorted(p.name for p in small.iterdir()) == ["chats-format5.bak", "chats.sqlite"]


@pytest.mark.skipif(sys.platform != "linux", reason="uses a small tmpfs")
def test_a_full_disk_fails_the_write_and_keeps_what_was_there(small: Path) -> None:
    store = Store(small / "chats.sqlite")
    chat = store.add_chat("kept").result()
    kept = store.add_message(chat.id, None, "user", "kept").result()
    with pytest.raises(StoreError, match="no room") as caught:
        store.add_message(chat.id, kept.id, "user", os.urandom(400_000).hex()).result()
    assert caught.value.kind == "full"
    store.close()
    (small / "junk").write_bytes(b"")
    with contextlib.suppress(OSError), (small / "junk").open("wb", buffering=0) as junk:
        while junk.write(bytes(4096)):
            pass
    again = Store(small / "chats.sqlite")
    assert [m.content for m in again.branch(chat.id)] == ["kept"], "read, although nothing can be written"
    assert again.problem is not None
    assert again.problem.kind == "full"
    with pytest.raises(StoreError, match="no room"):
        again.add_chat("not yet").result()
    (small / "junk").unlink()
    again.add_chat("now").result()
    assert [c.title for c in again.chats()] == ["now", "kept"]
    again.close()
