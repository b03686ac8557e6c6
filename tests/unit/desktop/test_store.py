"""The store on real SQLite files: what is written stays, whatever happens to the process or the disk."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.store import Draft, NewChat, Store, StoreError
from desktop.store.records import ROUNDS_KEPT
from desktop.store.schema import MIGRATIONS

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "chats.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path)
    yield store
    store.close()


def test_a_reply_comes_back_with_all_that_reproduces_it(store: Store, path: Path) -> None:
    chat = store.add_chat("Hello", {"temperature": 0.2}).result()
    asked = store.add_message(chat.id, None, "user", "Héllo 👋").result()
    reply = store.add_message(chat.id, asked.id, "assistant", "", "streaming", target="t", draft="d").result()
    store.update_message(
        reply.id,
        content="Hi",
        state="complete",
        ids=(1, 2, 151_935),
        tokenizer="abc",
        seed=2**63 - 1,
        start=12,
        timings={"predicted_n": 3},
        rounds=[{"round": 0}],
        finish="stop",
    ).result()
    store.close()

    again = Store(path)
    try:
        assert again.chats()[0].settings == {"temperature": 0.2}
        first, second = again.branch(chat.id)
        assert first.content == "Héllo 👋"
        assert (second.content, second.ids, second.seed, second.start) == ("Hi", (1, 2, 151_935), 2**63 - 1, 12)
        assert (second.parent, second.target, second.draft, second.state) == (asked.id, "t", "d", "complete")
        assert second.timings == {"predicted_n": 3}
        assert second.rounds == ({"round": 0},)
    finally:
        again.close()


def test_rounds_are_bounded(store: Store) -> None:
    chat = store.add_chat("x").result()
    rounds = [{"round": n} for n in range(ROUNDS_KEPT + 10)]
    message = store.add_message(chat.id, None, "assistant", "", rounds=rounds).result()
    kept = store.branch(chat.id)[0].rounds
    assert message.id == store.branch(chat.id)[0].id
    assert len(kept) == ROUNDS_KEPT
    assert kept[-1] == {"round": ROUNDS_KEPT + 9}


def test_branches_share_their_past(store: Store) -> None:
    chat = store.add_chat("tree").result()
    asked = store.add_message(chat.id, None, "user", "q").result()
    one = store.add_message(chat.id, asked.id, "assistant", "one").result()
    more = store.add_message(chat.id, one.id, "user", "and?").result()
    two = store.add_message(chat.id, asked.id, "assistant", "two").result()
    assert [m.content for m in store.branch(chat.id)] == ["q", "two"]
    assert store.siblings(two) == [one.id, two.id]
    store.set_tip(chat.id, store.leaf_below(one.id)).result()
    assert [m.content for m in store.branch(chat.id)] == ["q", "one", "and?"]
    assert store.leaf_below(one.id) == more.id


def test_delete_undo_and_what_the_next_start_removes(store: Store, path: Path) -> None:
    keep, gone = store.add_chat("keep").result(), store.add_chat("gone").result()
    store.add_message(gone.id, None, "user", "a secret sentence").result()
    store.delete_chat(keep.id).result()
    store.delete_chat(gone.id).result()
    assert store.chats() == []
    store.undelete_chat(keep.id).result()
    assert [c.title for c in store.chats()] == ["keep"]
    store.close()
    Store(path).close()
    assert b"a secret sentence" not in path.read_bytes()


def test_pinned_chats_come_first(store: Store) -> None:
    one, two, three = (store.add_chat(title).result() for title in ("one", "two", "three"))
    store.pin_chat(one.id, True).result()
    assert [(c.id, c.pinned) for c in store.chats()] == [(one.id, True), (three.id, False), (two.id, False)]
    store.pin_chat(one.id, False).result()
    assert [c.id for c in store.chats()] == [three.id, two.id, one.id]


def test_what_was_not_sent_is_kept_for_each_chat(store: Store, path: Path) -> None:
    chat = store.add_chat("one").result()
    message = store.add_message(chat.id, None, "user", "hi").result()
    store.keep_unsent(chat.id, "for one").result()
    store.keep_unsent(-message.id, "hi again").result()
    store.keep_unsent(0, "for a new one \ud800").result()
    assert store.unsent(chat.id) == {chat.id: Draft("for one"), -message.id: Draft("hi again")}
    assert (store.unsent(0), store.unsent(99)) == ({0: Draft("for a new one ?")}, {})
    store.keep_unsent(0, "").result()
    store.delete_chat(chat.id).result()
    assert store.unsent(chat.id)[chat.id] == Draft("for one"), "undo brings it back"
    store.close()
    again = Store(path)
    assert (again.unsent(chat.id), again.unsent(0)) == ({}, {})
    again.close()


def test_lone_surrogates_are_stored_not_fatal(store: Store) -> None:
    chat = store.add_chat("bad \udcff title").result()
    store.add_message(chat.id, None, "user", "half \ud83d emoji").result()
    assert store.chats()[0].title == "bad ? title"
    assert store.branch(chat.id)[0].content == "half ? emoji"


def test_a_message_and_its_reply_are_written_together_or_not_at_all(store: Store) -> None:
    reply = "NEW.role = 'assistant'"
    refuse = f"CREATE TEMP TRIGGER t BEFORE INSERT ON messages WHEN {reply} BEGIN SELECT RAISE(ABORT, 'no'); END"
    store._writer.submit(lambda db: db.execute(refuse)).result()
    with pytest.raises(StoreError):
        store.add_turn(NewChat("x"), None, "hello").result()
    assert store.chats() == []
    store._writer.submit(lambda db: db.execute("DROP TRIGGER t")).result()
    chat, asked, reply = store.add_turn(NewChat("x", {"a": 1}), None, "half \ud83d emoji", target="big").result()
    assert store.branch(chat.id) == [asked, reply]
    assert (asked.content, reply.parent, reply.state, reply.target) == ("half ? emoji", asked.id, "streaming", "big")
    assert store.chats()[0] == replace(chat, updated=reply.created, tip=reply.id)


def test_a_closed_store_says_so_in_the_future(path: Path) -> None:
    store = Store(path)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.add_chat("late").result()


def test_an_unknown_field_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="no colour"):
        store.update_message(1, colour="red")


KILLED = """
import sys
from pathlib import Path
from desktop.store import Store
store = Store(Path(sys.argv[1]))
chat = store.add_chat("long reply").result()
reply = store.add_message(chat.id, None, "assistant", "", "streaming").result()
text = ""
while True:
    text += "word "
    store.update_message(reply.id, content=text).result()
    sys.stdout.write(f"{len(text)}\\n"); sys.stdout.flush()
"""


def test_kill_while_writing_loses_nothing_that_was_reported_written(path: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True, env=env
    ) as writer:
        assert writer.stdout is not None
        reported = [int(writer.stdout.readline()) for _ in range(50)]
        writer.send_signal(signal.SIGKILL)
        reported += [int(line) for line in writer.stdout if line.endswith("\n")]
    store = Store(path)
    try:
        (reply,) = store.branch(store.chats()[0].id)
        assert len(reply.content) >= max(reported)
        assert set(reply.content.split()) == {"word"}
        assert reply.state == "stopped"
    finally:
        store.close()


def test_a_newer_database_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    newer = sqlite3.connect(path)
    newer.executescript("CREATE TABLE chats (something TEXT); PRAGMA user_version = 99;")
    newer.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer version") as caught:
        Store(path)
    assert caught.value.kind == "newer"
    assert path.read_bytes() == before


def test_a_migration_copies_the_old_file_first(path: Path) -> None:
    old = Store(path)
    old.add_chat("from before").result()
    old.close()
    Store(path, migrations=[*MIGRATIONS, "ALTER TABLE chats ADD COLUMN folder TEXT;"]).close()
    number = len(MIGRATIONS)
    backup = sqlite3.connect(path.with_name(f"chats-format{number}.bak"))
    assert backup.execute("SELECT title FROM chats").fetchall() == [("from before",)]
    assert backup.execute("PRAGMA user_version").fetchone() == (number,)
    backup.close()
    migrated = sqlite3.connect(path)
    assert migrated.execute("SELECT title, folder FROM chats").fetchall() == [("from before", None)]
    migrated.close()


def test_a_failing_migration_changes_nothing(path: Path) -> None:
    Store(path).close()
    broken = [*MIGRATIONS, "ALTER TABLE chats ADD COLUMN folder TEXT; SELECT no_such_function();"]
    with pytest.raises(StoreError):
        Store(path, migrations=broken)
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    assert "folder" not in [row[1] for row in db.execute("PRAGMA table_info(chats)")]
    db.close()


def test_a_locked_database_says_so(path: Path) -> None:
    Store(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="in use by another program") as caught:
        Store(path, timeout=0.1)
    assert caught.value.kind == "locked"
    other.execute("ROLLBACK")
    other.close()


def test_a_damaged_file_says_so_and_stays(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is not a database, not at all" * 100)
    with pytest.raises(StoreError, match="damaged") as caught:
        Store(path)
    assert caught.value.kind == "damaged"
    assert path.read_bytes().startswith(b"this is not")


@pytest.mark.alone
def test_writes_do_not_wait_for_the_disk(store: Store) -> None:
    """The window never blocks on a write that it does not need: a flush while streaming only queues."""
    chat = store.add_chat("x").result()
    reply = store.add_message(chat.id, None, "assistant", "", "streaming").result()
    blocker = sqlite3.connect(store.path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    future = store.update_message(reply.id, content="later")
    assert time.monotonic() - began < 0.1
    assert not future.done()
    blocker.execute("ROLLBACK")
    blocker.close()
    future.result(timeout=6)
    assert store.branch(chat.id)[0].content == "later"
