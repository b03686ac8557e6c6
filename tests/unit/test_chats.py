"""What the window's chats hold for who reads them from outside: written by the real store, read while it is open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.bench.tune import LEAST_TOKENS, chat_replies
from backend.chats import FORMAT, as_asked, kept_replies
from backend.errors import EngineError, ErrorCode
from backend.protocol import Message, ModelInfo
from desktop.store import NewChat, Store
from desktop.store.schema import MIGRATIONS
from tests.gui.scripted import model

TARGET = model("big", tokenizer="v", n_ctx=1000, template_variables=["enable_thinking"])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "a folder #1" / "chats.sqlite")
    yield store
    store.close()


def write(store: Store, text: str, ids: Any, chat: int | None = None, **fields: Any) -> int:
    """A turn with its reply; the chat's id."""
    known = store.chat(chat) if chat is not None else None
    tip = store.branch(chat)[-1].id if chat is not None else None
    made, _, reply = store.add_turn(known or NewChat(text), tip, text).result()
    fields = {"target": "big", "tokenizer": "v", "start": 10, "state": "complete"} | fields
    store.update_message(reply.id, content=f"Reply to {text}", ids=ids and list(ids), **fields).result()
    return made.id


def replies(store: Store, most: int = 2000, target: ModelInfo = TARGET) -> list[tuple[str, int]]:
    """What was asked last, and how many tokens are judged, of each."""
    return [(one.messages[-1].content, len(one.ids)) for one in kept_replies(store.path, target, most)]


def test_a_targets_own_replies_within_the_bound_the_newest_first(store: Store) -> None:
    first = write(store, "one", range(30))
    write(store, "two", range(30))
    write(store, "three", range(30), chat=first)
    assert replies(store) == [("one", 30), ("three", 30), ("two", 30)], "chat by chat: a prompt is read once"
    assert replies(store, 70) == [("one", 10), ("three", 30), ("two", 30)]
    assert replies(store, 61) == [("three", 30), ("two", 30)], "a single token tells nothing"


def test_what_is_not_this_targets_or_cannot_be_judged_is_left_out(store: Store) -> None:
    write(store, "another model", range(9), target="small")
    write(store, "another file of that name", range(9), tokenizer="w")
    write(store, "no ids", None)
    write(store, "one token", [1])
    write(store, "longer than the context", range(9), start=995)
    gone = write(store, "deleted", range(9))
    store.delete_chat(gone).result()
    damaged = write(store, "damaged", range(9))
    store._run("UPDATE messages SET ids = '[1, 2' WHERE chat = ?", damaged).result()
    edited = {"bytes": 3, "rounds": 0, "edited": True, "target": "big"}
    write(store, "a person's beginning", range(9), parts=[edited])
    write(store, "another model's beginning", range(9), parts=[{"bytes": 3, "target": "small"}])
    cracked = write(store, "damaged parts", range(9))
    store._run("UPDATE messages SET parts = '[3]' WHERE chat = ?", cracked).result()
    odd = write(store, "odd", range(9))
    store._run("UPDATE messages SET parent = id WHERE chat = ? AND role = 'assistant'", odd).result()
    assert replies(store) == []
    write(store, "good", range(9))
    write(store, "good in two goes", range(9), parts=[{"bytes": 3, "target": "big"}])
    assert replies(store) == [("good", 9), ("good in two goes", 9)]
    store._run("ALTER TABLE messages DROP COLUMN parts").result()
    assert len(replies(store)) == 5, "a window of before knew no parts"


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE messages SET role = 'robot' WHERE chat = ? AND role = 'user'",
        "UPDATE messages SET content = x'ff00' WHERE chat = ? AND role = 'user'",
        "UPDATE messages SET start = 'abc' WHERE chat = ? AND role = 'assistant'",
        "UPDATE messages SET start = 9e999 WHERE chat = ? AND role = 'assistant'",
        "UPDATE messages SET ids = '[true, false, true]' WHERE chat = ? AND role = 'assistant'",
        "UPDATE messages SET ids = '[1, 2, 99999999999]' WHERE chat = ? AND role = 'assistant'",
        "UPDATE messages SET ids = x'5b31' WHERE chat = ? AND role = 'assistant'",
    ],
)
def test_a_damaged_row_costs_its_own_reply_only(store: Store, damage: str) -> None:
    write(store, "before", range(9))
    hurt = write(store, "hurt", range(9))
    write(store, "after", range(9))
    store._run("PRAGMA ignore_check_constraints = ON").result()
    store._run(damage, hurt).result()
    assert replies(store) == [("before", 9), ("after", 9)]


def test_a_newer_or_another_database_is_said(store: Store) -> None:
    assert len(MIGRATIONS) == FORMAT, "chats.py reads what the store writes"
    write(store, "one", range(9))
    store._run("ALTER TABLE messages RENAME COLUMN start TO begins").result()
    with pytest.raises(EngineError, match="could not be read"):
        replies(store)
    store._run(f"PRAGMA user_version = {FORMAT + 1}").result()
    with pytest.raises(EngineError, match="newer version"):
        replies(store)


def test_a_reply_comes_with_all_that_it_answered(store: Store) -> None:
    recipe = {"system_prompt": " Be brief. ", "template_kwargs": {"enable_thinking": False, "unknown": 1}}
    chat = write(store, "one", [1, 2, 3])
    write(store, "two", [4, 5], chat=chat, settings=recipe)
    _, second = kept_replies(store.path, TARGET, 2000)
    assert [(m.role, m.content) for m in second.messages] == [
        ("system", "Be brief."),
        ("user", "one"),
        ("assistant", "Reply to one"),
        ("user", "two"),
    ]
    assert second.messages[2].x_ids == (1, 2, 3)
    assert second.ids == (4, 5)
    assert second.switches == {"enable_thinking": False}, "the others would be refused"


def test_empty_replies_are_left_out_and_what_a_person_said_around_them_is_one() -> None:
    said = [Message(role=r, content=c) for r, c in (("user", "a"), ("assistant", ""), ("user", "b"))]  # type: ignore[arg-type]
    assert [(m.role, m.content) for m in as_asked(said)] == [("user", "a\n\nb")]


def test_too_few_replies_are_said_with_what_to_do(store: Store, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"No replies by big.*Chat with it a little in the window,") as none:
        chat_replies(tmp_path / "missing.sqlite", TARGET)
    assert none.value.details == {"tokens": 0}
    write(store, "short", range(LEAST_TOKENS - 1))
    with pytest.raises(EngineError, match="Only 199 tokens"):
        chat_replies(store.path, TARGET)
    write(store, "another", [1, 2])
    assert len(chat_replies(store.path, TARGET)) == 2


def test_chats_that_cannot_be_read_are_an_error_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "chats.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(EngineError, match=r"chats\.sqlite could not be read") as fault:
        kept_replies(tmp_path / "chats.sqlite", TARGET, 100)
    assert fault.value.code is ErrorCode.FILE_DAMAGED
