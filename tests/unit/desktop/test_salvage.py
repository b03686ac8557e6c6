"""Damaged chats: what is readable of them comes into a new file, and the damaged one stays as it is."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from desktop.models.titles import title_from
from desktop.store import Draft, Message, Store, StoreError, damage, salvage
from desktop.store.damage import UnwantedError
from desktop.store.salvage import Saved, finish
from tests.long.many_chats import RARE, fill

CHATS, TOKENS, PAGE = 200, 20_000, 4096
Known = dict[int, list[Message]]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Known]:
    """Many chats with long and short messages, and what is in them."""
    path = tmp_path_factory.mktemp("whole") / "chats.sqlite"
    fill(path, CHATS, TOKENS)
    return path, contents(path)


@pytest.fixture
def path(tmp_path: Path, original: tuple[Path, Known]) -> Path:
    shutil.copy(original[0], tmp_path / "chats.sqlite")
    return tmp_path / "chats.sqlite"


@pytest.fixture
def known(original: tuple[Path, Known]) -> Known:
    return original[1]


def contents(path: Path) -> Known:
    with closing(Store(path)) as store:
        return {chat.id: store.messages(chat.id) for chat in store.chats()}


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def root(path: Path, name: str) -> int:
    """Where the first page of a table or an index is."""
    with closing(sqlite3.connect(path)) as db:
        return (int(db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [name]).fetchone()[0]) - 1) * PAGE


def saved_of(path: Path) -> Saved:
    """Saves, and looks at what must be so whatever was damaged."""
    before = path.read_bytes()
    saved = salvage.salvage(path, title_from)
    assert saved.kept.read_bytes() == before
    assert sorted(file.name for file in path.parent.iterdir()) == sorted(["chats.sqlite", saved.kept.name])
    assert saved.kept.name.startswith("chats.damaged-")
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    return saved


def by_number(known: Known) -> dict[int, Message]:
    return {message.id: message for messages in known.values() for message in messages}


def test_a_header_that_is_gone_costs_nothing(path: Path, known: Known) -> None:
    overwrite(path, 0, bytes(PAGE))
    with pytest.raises(StoreError) as caught:
        Store(path)
    assert caught.value.kind == "damaged"
    saved = saved_of(path)
    assert (saved.chats, saved.known, saved.torn) == (CHATS, CHATS, 0)
    assert contents(path) == known
    store = Store(path)
    assert len(store.search(RARE)) == 1
    store.close()


def test_a_damaged_index_costs_nothing(path: Path, known: Known) -> None:
    overwrite(path, root(path, "messages_by_chat"), b"\xff" * PAGE)
    with pytest.raises(StoreError) as caught:
        contents(path)
    assert caught.value.kind == "damaged"
    assert saved_of(path).torn == 0
    assert contents(path) == known


def test_what_is_cut_off_is_missing_and_all_else_is_there(path: Path, known: Known) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size * 3 // 5 // PAGE * PAGE + 100)
    with pytest.raises(StoreError) as caught:
        Store(path)
    assert caught.value.kind == "damaged"
    saved, before, after = saved_of(path), by_number(known), by_number(contents(path))
    assert saved.messages == len(after)
    assert len(before) // 4 < len(after) < len(before)
    assert 0 < saved.torn <= saved.chats <= saved.known <= CHATS
    assert all(before[number].content.startswith(message.content[:-1]) for number, message in after.items())


@pytest.mark.parametrize("what", ["noise", "nothing"])
def test_overwritten_pages_cost_what_stood_on_them(path: Path, known: Known, what: str) -> None:
    pick, pages = random.Random(1), path.stat().st_size // PAGE
    hurt = pick.sample(range(pages // 4, pages * 3 // 4), 12)
    for page in hurt:
        overwrite(path, page * PAGE, pick.randbytes(PAGE) if what == "noise" else bytes(PAGE))
    overwrite(path, root(path, "messages"), b"\xff" * PAGE)  # no way leads to any of them now
    saved, before, after = saved_of(path), by_number(known), by_number(contents(path))
    assert saved.messages > len(before) - 20 * len(hurt)
    same = [number for number, message in after.items() if message == before[number]]
    assert len(same) > len(before) - 25 * len(hurt)


def test_what_is_no_database_gives_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "chats.sqlite"
    path.write_bytes(b"this is not a database, not at all" * 1000)
    saved = saved_of(path)
    assert (saved.chats, saved.known, saved.messages, saved.torn) == (0, 0, 0, 0)
    assert contents(path) == {}


def test_an_emptied_file_with_a_log_is_not_opened(path: Path, known: Known) -> None:
    """SQLite would take it for a new database, and clear its log away."""
    store = Store(path)
    late = store.add_chat("late").result()
    store.add_message(late.id, None, "user", "in the log").result()
    log = path.with_name("chats.sqlite-wal").read_bytes()
    store.close()
    path.write_bytes(b"")
    path.with_name("chats.sqlite-wal").write_bytes(log)
    with pytest.raises(StoreError) as caught:
        Store(path)
    assert caught.value.kind == "damaged"
    assert path.with_name("chats.sqlite-wal").read_bytes() == log
    kept = salvage.salvage(path, title_from).kept
    assert kept.with_name(f"{kept.name}-wal").read_bytes() == log
    assert [m.content for m in contents(path)[late.id]] == ["in the log"]


def test_the_log_counts_up_to_what_was_committed_whole(path: Path, known: Known) -> None:
    store = Store(path)
    chat = next(iter(known))
    store.update_message(known[chat][0].id, content="newer").result()
    log = path.with_name("chats.sqlite-wal")
    committed = log.stat().st_size
    store.update_message(known[chat][0].id, content="newest").result()
    base, whole = path.read_bytes(), log.read_bytes()
    assert len(whole) > committed
    store.close()
    for cut, content in ((whole, "newest"), (whole[:-1000], "newer")):
        path.write_bytes(bytes(100) + base[100:])
        log.write_bytes(cut)
        salvage.salvage(path, title_from)
        assert contents(path)[chat][0].content == content


def test_deleted_chats_stay_deleted_and_drafts_and_branches_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "chats.sqlite"
    store = Store(path)
    gone, chat = store.add_chat("gone").result(), store.add_chat("kept", {"system_prompt": "Hm."}).result()
    store.add_message(gone.id, None, "user", "a secret").result()
    asked = store.add_message(chat.id, None, "user", "q").result()
    one = store.add_message(chat.id, asked.id, "assistant", "one", rounds=[{"round": 0}]).result()
    store.add_message(chat.id, asked.id, "assistant", "two").result()
    store.set_tip(chat.id, one.id).result()
    store.delete_chat(gone.id).result()
    for place, text in ((0, "new"), (chat.id, "more"), (-asked.id, "anew")):
        store.keep_unsent(place, text).result()
    store.pin_chat(chat.id, True).result()
    before, branch, messages = store.chats(), store.branch(chat.id), store.messages(chat.id)
    store.close()
    overwrite(path, 0, bytes(100))
    assert saved_of(path).known == 1
    store = Store(path)
    assert (store.chats(), store.branch(chat.id), store.messages(chat.id)) == (before, branch, messages)
    assert store.unsent(0) == {0: Draft("new")}
    assert store.unsent(chat.id) == {chat.id: Draft("more"), -asked.id: Draft("anew")}
    store.close()


def test_messages_without_their_chat_or_what_they_answer(tmp_path: Path) -> None:
    path = tmp_path / "chats.sqlite"
    store = Store(path)
    chat = store.add_chat("lost").result()
    ids = [store.add_message(chat.id, None, "user", "How high is the tide?").result().id]
    for text in ("b", "c", "d"):
        ids.append(store.add_message(chat.id, ids[-1], "assistant", text).result().id)
    store._writer._db.execute("PRAGMA foreign_keys = OFF")  # type: ignore[union-attr] - in no transaction
    store._run("DELETE FROM chats").result()
    store._run("DELETE FROM messages WHERE content = 'b'").result()
    store.close()
    saved = saved_of(path)
    assert (saved.chats, saved.known, saved.torn, saved.messages) == (1, 1, 1, 3)
    store = Store(path)
    assert [chat.title for chat in store.chats()] == ["How high is the tide?"]
    assert [m.content for m in store.branch(chat.id)] == ["How high is the tide?", "c", "d"]
    store.close()


def test_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    overwrite(path, 60, (99).to_bytes(4, "big"))
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer version"):
        salvage.salvage(path, title_from)
    assert [(file.name, file.read_bytes() == before) for file in path.parent.iterdir()] == [("chats.sqlite", True)]


def test_given_up_or_killed_it_is_done_again(path: Path, known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    overwrite(path, 0, bytes(100))
    before, asked = path.read_bytes(), iter([False] * 300)
    with pytest.raises(UnwantedError):
        salvage.salvage(path, title_from, lambda: next(asked, True))
    assert [(file.name, file.read_bytes() == before) for file in path.parent.iterdir()] == [("chats.sqlite", True)]
    assert finish(path) is None
    path.with_name("chats.saving.sqlite").write_bytes(b"half")  # what a kill leaves
    path.with_name("chats.saved.sqlite").write_bytes(b"of another time")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(salvage, "_take_place", killed)
        with pytest.raises(KeyboardInterrupt):
            salvage.salvage(path, title_from)
    assert not path.exists()
    saved = finish(path)
    assert saved is not None
    assert (saved.chats, saved.known, saved.kept.read_bytes()) == (CHATS, 0, before)
    assert contents(path) == known


def test_damage_that_is_found_is_noted_until_it_is_seen_to(path: Path) -> None:
    overwrite(path, root(path, "messages_by_chat"), b"\xff" * PAGE)
    store = Store(path)
    assert not damage.noted(path)
    with pytest.raises(StoreError, match="starts next"):
        store.messages(1)
    store.close()
    assert damage.noted(path)
    salvage.salvage(path, title_from)
    assert not damage.noted(path)


def test_a_checkup_finds_what_nobody_has_read(path: Path) -> None:
    found: list[str] = []
    damage.Checkup(path, lambda: found.append("sound")).close()
    overwrite(path, root(path, "messages_by_chat"), b"\xff" * PAGE)
    checkup = damage.Checkup(path, lambda: found.append("damaged"))
    checkup._thread.join()
    checkup.close()
    assert found == ["damaged"]
    assert damage.noted(path)
