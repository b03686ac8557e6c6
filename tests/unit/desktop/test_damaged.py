"""A database in which messages answer ones that they cannot answer: what can be shown is, and nothing hangs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.store import Store, StoreError
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
