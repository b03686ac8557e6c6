"""A database in which something stands that cannot be: what can be shown is, and nothing hangs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from desktop.models.chats import ChatList
from desktop.store import Store, StoreError
from desktop.store.exchange import to_json
from desktop.store.reader import Reader


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "chats.sqlite")
    yield store
    store.close()


def three(store: Store) -> tuple[int, list[int]]:
    chat = store.add_chat("one").result().id
    ids: list[int] = []
    for text in ("a", "b", "c"):
        ids.append(store.add_message(chat, ids[-1] if ids else None, "user", text).result().id)
    return chat, ids


def test_messages_in_a_circle(store: Store) -> None:
    chat, (first, _, last) = three(store)
    store.update_message(first, parent=last).result()
    assert [m.content for m in store.branch(chat)] == ["a", "b", "c"]
    assert store.leaf_below(first) == last
    store.update_message(last, parent=last).result()
    assert [m.content for m in store.branch(chat)] == ["c"]
    assert store.leaf_below(last) == last


def test_an_answer_to_another_chats_message(store: Store) -> None:
    _, (elsewhere, _, _) = three(store)
    chat, (first, _, _) = three(store)
    store.update_message(first, parent=elsewhere).result()
    assert [m.content for m in store.branch(chat)] == ["a", "b", "c"]


def test_a_file_that_cannot_be_opened_any_more_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="could not be read") as caught:
        Reader(tmp_path)
    assert caught.value.reading


@pytest.mark.parametrize("value", [b"\xff\x00", b"", "word", 1e300, -1e300, float("inf"), 2**62, -5])
def test_a_value_of_another_kind_costs_that_value(store: Store, value: object) -> None:
    """One wrong bit in a row makes a text a blob; SQLite keeps it, and finds nothing wrong with it."""
    chat, (first, _, _) = three(store)
    later = store.add_chat("later").result().id
    wrong = {"chats": ("title", "created", "updated", "tip"), "messages": ("parent", "content", "created", "note")}
    wrong["messages"] += ("role", "tokenizer", "seed", "start", "target", "draft", "finish")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        for table, number in (("chats", chat), ("messages", first)):
            marks = ", ".join(f"{name} = ?" for name in wrong[table])
            db.execute(f"UPDATE {table} SET {marks} WHERE id = ?", (*[value] * len(wrong[table]), number))
    assert [one.id for one in store.listed()] == [later, chat]
    chats = ChatList()
    chats.set_chats(store.listed())
    roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
    shown = chats.index(chats.row_of(chat))
    assert all(isinstance(chats.data(shown, role), str) for role in roles)
    assert [hit.chat.id for hit in store.search("b")][-1:] == [chat], "the second message is as it was"
    message = next(m for m in store.messages(chat) if m.id == first)
    assert message.damaged, "that is said"
    assert message.role in ("user", "assistant")
    assert isinstance(message.content, str)
    assert "".join(to_json([(one, store.messages(one.id)) for one in store.chats()])).count('"role"') == 3
