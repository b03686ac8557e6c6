"""Attachments in the store: with their message, whatever becomes of the file, found, exported, and kept unsent."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backend.chats import FORMAT, kept_replies
from backend.documents import Attachment
from desktop.store import Draft, NewChat, Store, StoreError
from desktop.store.exchange import read, to_json, to_markdown
from desktop.store.schema import MIGRATIONS
from tests.gui.scripted import model

CODE = Attachment("keeper.py", "python", "def lamp():\n    return '灯台'\n", 31)
NOTES = Attachment("half\udc00.md", "markdown", "# Oil\n```\n", 10, "the first 10 of 99 characters", "a note")
KEPT = replace(NOTES, name="half?.md")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chats.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path)
    yield store
    store.close()


def turn(store: Store, text: str, *attachments: Attachment, **reply: Any) -> int:
    chat, _, _ = store.add_turn(NewChat(text), None, text, attachments, **reply).result()
    return chat.id


def found(store: Store, words: str) -> list[tuple[str, str]]:
    return [(hit.chat.title, hit.text) for hit in store.search(words)]


def test_they_come_back_with_their_message(store: Store, path: Path) -> None:
    chat = turn(store, "What is this?", CODE, NOTES)
    store.close()
    again = Store(path)
    asked, reply = again.branch(chat)
    again.close()
    assert (asked.attachments, reply.attachments) == ((CODE, KEPT), ())


def test_damaged_facts_cost_the_names_and_not_the_texts(store: Store) -> None:
    chat = turn(store, "What is this?", CODE, NOTES)
    store._run("UPDATE messages SET attachments = '[{' WHERE chat = ?", chat).result()
    asked = store.branch(chat)[0]
    assert (asked.content, asked.damaged) == ("What is this?", ("attachments",))
    (whole,) = asked.attachments
    assert CODE.text in whole.text
    assert NOTES.text in whole.text


def test_words_in_them_are_found_also_together_with_the_messages(store: Store) -> None:
    turn(store, "Explain the lighthouse", CODE)
    turn(store, "Something else")
    assert found(store, "LAMP()") == [("Explain the lighthouse", "keeper.py def lamp(): return '灯台'")]
    assert found(store, "lighthouse return") == [("Explain the lighthouse", "Explain the lighthouse")]
    assert found(store, "灯台") == [("Explain the lighthouse", "…def lamp(): return '灯台'")]
    assert found(store, "keeper.py") == found(store, "lamp")
    assert found(store, "lighthouse else") == []


def test_what_is_deleted_is_gone_from_the_index_too(store: Store, path: Path) -> None:
    store.delete_chat(turn(store, "Explain", CODE)).result()
    store.close()
    again = Store(path)
    again.flush()
    assert found(again, "lamp") == []
    again._run("INSERT INTO attached_text (attached_text) VALUES ('integrity-check')").result()
    again.close()
    assert b"def lamp" not in path.read_bytes()


def test_a_database_without_attachments_becomes_one_with(path: Path) -> None:
    """The format before: everything stays, a copy is kept, and replies in it can still be judged before that."""
    before = next(n for n, script in enumerate(MIGRATIONS) if "attached" in script)
    old = sqlite3.connect(path)
    for script in MIGRATIONS[:before]:
        old.executescript(script)
    old.executescript(
        """
        INSERT INTO chats (title, created, updated, settings) VALUES ('Old', 1, 2, '{"system_prompt": "Be brief."}');
        INSERT INTO messages (chat, role, content, created, state) VALUES (1, 'user', 'The sea?', 1, 'complete');
        INSERT INTO messages (chat, parent, role, content, created, state, ids, tokenizer, target)
            VALUES (1, 1, 'assistant', 'Wide.', 2, 'complete', '[1, 2, 3]', 'hash', 'big');
        INSERT INTO unsent VALUES (1, 'half a thought');
        """
    )
    old.execute(f"PRAGMA user_version = {before}")
    old.close()
    (judged,) = kept_replies(path, model("big"), 100)
    assert [m.content for m in judged.messages] == ["The sea?"]
    store = Store(path)
    assert [(m.content, m.attachments) for m in store.branch(1)] == [("The sea?", ()), ("Wide.", ())]
    assert store.unsent(1) == {1: Draft("half a thought")}
    assert [hit.chat.id for hit in store.search("sea?")] == [1]
    asked = store.add_turn(store.chats()[0], 2, "And this?", (CODE,)).result()[1]
    assert store.branch(1)[2] == asked
    store.close()
    assert path.with_name(f"chats-format{before}.bak").exists()


def test_replies_are_judged_by_all_that_was_asked(store: Store, path: Path) -> None:
    assert len(MIGRATIONS) == FORMAT
    turn(store, "What is this?", CODE, target="big", tokenizer="hash", ids=(1, 2, 3))
    (judged,) = kept_replies(path, model("big"), 100)
    assert [m.content for m in judged.messages] == [f"{CODE.block}\n\nWhat is this?"]


def test_unsent_ones_are_kept_and_not_written_again_with_the_text(store: Store) -> None:
    store.keep_unsent(0, "look at", (CODE, NOTES)).result()
    store.keep_unsent(0, "look at this", None).result()
    assert store.unsent(0) == {0: Draft("look at this", (CODE, KEPT))}
    store.keep_unsent(0, "", None).result()
    assert store.unsent(0) == {0: Draft("", (CODE, KEPT))}
    store.keep_unsent(0, "").result()
    assert store.unsent(0) == {}
    assert found(store, "lamp") == []


def test_they_go_out_and_come_in_again(store: Store, tmp_path: Path) -> None:
    chat = store.chat(turn(store, "What is this?", CODE, NOTES))
    assert chat is not None
    file = tmp_path / "out.json"
    file.write_text("".join(to_json([(chat, store.messages(chat.id))])), "utf-8")
    new = store.add_whole(next(read(file))).result()
    assert store.branch(new)[0].attachments == (CODE, KEPT)
    text = to_markdown(chat, store.branch(chat.id), lambda m: m.role, lambda m: m.content)
    assert text.startswith(f"# What is this?\n\n**user**\n\n{CODE.block}\n\n{KEPT.block}\n\nWhat is this?")


@pytest.mark.parametrize("damage", [{"text": 3}, {"name": None}, {"size": -1}, {"language": []}])
def test_a_file_with_odd_attachments_is_refused(tmp_path: Path, damage: dict[str, Any]) -> None:
    attachment = {"name": "a", "text": "b"} | damage
    message = {"id": 1, "role": "user", "content": "hi", "attachments": [attachment]}
    chats = [{"title": "x", "messages": [message]}]
    (tmp_path / "x.json").write_text(json.dumps({"format": "tandem-chats", "version": 2, "chats": chats}))
    with pytest.raises(StoreError, match=r"attachments\.0\." + next(iter(damage))):
        read(tmp_path / "x.json")
