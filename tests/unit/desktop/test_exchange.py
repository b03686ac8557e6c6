"""Chats to files and back: nothing is lost on the way, and a file that is not what it says changes nothing."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.store import Message, Store, StoreError, chunks, exchange
from desktop.store.exchange import read, to_json, to_markdown
from desktop.store.shapes import OneChat


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "chats.sqlite")
    yield store
    store.close()


def filled(store: Store) -> int:
    """A chat with two branches, the first on screen, and all that a reply may carry."""
    chat = store.add_chat("Sea  &\nlighthouses 🌊", {"system_prompt": "Be brief."}).result()
    asked = store.add_message(chat.id, None, "user", "Question?").result()
    reply = store.add_message(chat.id, asked.id, "assistant", "", "streaming", target="t", draft="d").result()
    store.update_message(
        reply.id,
        content="Answer *one*.",
        state="complete",
        ids=(1, 2, 3),
        tokenizer="abc",
        seed=2**63 - 1,
        start=12,
        settings={"system_prompt": "Be brief.", "max_tokens": None, "new": [1]},
        timings={"predicted_n": 3},
        rounds=[{"round": 0, "targets": [1, 2], "p": [0.25, 1.0]}],
        finish="stop",
        note="noted",
        comparison={"generation_ratio": 1.5, "more": {"x": 1}},
        parts=[
            {"bytes": 6, "ids": 2, "rounds": 1, "target": "other", "timings": {"predicted_n": 2}, "finish": "length"}
        ],
    ).result()
    edited = [{"bytes": 12, "rounds": 0, "edited": True}]
    store.add_message(chat.id, asked.id, "assistant", "Answer mine.", parts=edited).result()
    store.add_message(chat.id, asked.id, "assistant", "Answer two.", "failed", error={"message": "no"}).result()
    store.set_tip(chat.id, reply.id).result()
    store.pin_chat(chat.id, True).result()
    return chat.id


def exported(store: Store, path: Path) -> Path:
    path.write_text("".join(to_json((chat, store.messages(chat.id)) for chat in store.chats())), "utf-8")
    return path


def bare(message: Message, numbers: dict[int, int]) -> Message:
    parent = None if message.parent is None else numbers[message.parent]
    return replace(message, id=0, chat=0, parent=parent)


def test_nothing_is_lost_on_the_way(store: Store, tmp_path: Path) -> None:
    old = filled(store)
    store.add_chat("empty").result()
    file = exported(store, tmp_path / "chats.json")
    other = Store(tmp_path / "other.sqlite")
    other.add_chat("there before").result()
    new, _ = (other.add_whole(one).result() for one in read(file))
    assert [c.title for c in other.chats()].count("there before") == 1
    before, after = store.chat(old), other.chat(new)
    assert before is not None
    assert after is not None
    assert replace(after, id=old, tip=before.tip) == before
    ours, theirs = store.messages(old), other.messages(new)
    a, b = ({m.id: n for n, m in enumerate(found)} for found in (ours, theirs))
    assert [bare(m, a) for m in ours] == [bare(m, b) for m in theirs]
    assert [m.content for m in other.branch(new)] == ["Question?", "Answer *one*."]
    assert exported(other, tmp_path / "again.json").read_text("utf-8").count("Answer two.") == 1
    other.close()


def test_markdown_is_the_branch_on_screen(store: Store) -> None:
    chat = store.chat(filled(store))
    assert chat is not None
    text = to_markdown(
        chat, store.branch(chat.id), lambda m: "You" if m.role == "user" else "Model", lambda m: m.content
    )
    assert text == "# Sea & lighthouses 🌊\n\n**You**\n\nQuestion?\n\n**Model**\n\nAnswer *one*.\n"


def file(**chat: Any) -> dict[str, Any]:
    return {"format": "tandem-chats", "version": 1, "chats": [{"title": "x", "messages": []} | chat]}


def message(n: int, **more: Any) -> dict[str, Any]:
    return {"id": n, "role": "user", "content": "hi"} | more


def holding(*messages: dict[str, Any]) -> bytes:
    return json.dumps(file(messages=list(messages))).encode()


REFUSED = [
    (b"", "no file of Tandem's chats, or is damaged: Expecting '{' at character 1"),
    (b"{", "Expecting a name at character 2"),
    (b"\xff\xfe", "no file of Tandem's chats"),
    (b"[" * 100_000, "Expecting '{'"),
    (b'{"x": ' + b"[" * 100_000, "no file of Tandem's chats"),
    (b"[]", "no file of Tandem's chats"),
    (holding()[:-1], "Expecting ','"),
    (holding() + b"x", "Extra data"),
    (holding(message(1))[:-20], "no file of Tandem's chats"),
    (json.dumps({"format": "tandem-chats", "version": 2}).encode(), "chats: Field required"),
    (json.dumps(file() | {"chats": 3}).encode(), "chats: Input should be a valid list"),
    (b"{}", "format: Field required"),
    (json.dumps(file() | {"format": "chatgpt"}).encode(), "format"),
    (json.dumps(file() | {"version": 3}).encode(), "another version"),
    (json.dumps(file() | {"version": "1"}).encode(), "another version"),
    (json.dumps(file(title=3)).encode(), "chats.0.title"),
    (holding(message(1, role="robot")), "chats.0.messages.0.role"),
    (holding(message(1, created=float("nan"))), "numbers or depths"),
    (holding(message(1, seed=2**70)), "numbers or depths"),
    (holding(message(1, settings={"system_prompt": 3})), "system_prompt"),
    (holding(message(1, comparison={"generation_ratio": "much"})), "generation_ratio"),
    (holding(message(1, timings={"predicted_n": 10**400})), "numbers or depths"),
    (holding(message(1, timings={"request_ms": float("inf")})), "numbers or depths"),
    (holding(message(1, timings={"predicted_n": "9" * 400})), "timings: Value error, a counter"),
    (holding(message(1, timings={"predicted_n": -5})), "out of bounds"),
    (holding(message(1, timings={"plain_ms": "nan"})), "out of bounds"),
    (holding(message(1, timings={"drafted_per_position": [-1]})), "out of bounds"),
    (holding(message(1, timings={"by_source": {"draft": [1, 2, -3]}})), "out of bounds"),
    (holding(message(1, timings={"by_source": {"draft": []}})), "three counts"),
    (holding(message(1, comparison={"speculation": {"predicted_n": "9" * 400}})), "out of bounds"),
    (holding(message(1, rounds=[{"round": 1, "p": ["x"]}])), "rounds.0.p"),
    (holding(message(1, settings={"x": json.loads("[" * 60 + "]" * 60)})), "numbers or depths"),
    (holding(message(1, rounds=[{"round": 1, "verify_ms": "x"}])), "verify_ms"),
    (holding(message(1, rounds=[{"round": 1, "proposed": 3}])), "proposed"),
    (holding(message(1, rounds=[{"round": 1, "targets": [1] * 9_000}])), "at most 5000"),
    (holding(message(1, target="x" * 9_000)), "at most 1000"),
    (holding(message(1, parts=[{"bytes": -1}])), "parts.0.bytes"),
    (holding(message(1, parts=[{"ids": 3}])), "parts.0.bytes"),
    (holding(message(1, parts=[{"bytes": 1, "edited": "yes"}])), "parts.0.edited"),
    (holding(message(1, parent=1)), "answers none before it"),
    (holding(message(2, parent=1), message(1, parent=2)), "answers none before it"),
    (holding(message(1), message(1)), "double"),
]


@pytest.mark.parametrize(("content", "said"), REFUSED, ids=range(len(REFUSED)))
def test_a_file_that_is_not_what_it_says_is_refused_in_words(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "chats.json"
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        read(path)
    assert said in caught.value.message
    assert "chats.json" in caught.value.message
    assert "\n" not in caught.value.message


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(StoreError) as caught:
            read(path)
        assert "could not be read" in caught.value.message


def test_a_chat_may_be_only_so_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "_LARGEST", 2_000_000)
    monkeypatch.setattr(chunks, "_CHUNK", 1000)
    path = tmp_path / "chats.json"
    path.write_bytes(holding(*(message(n, content="word " * 1000) for n in range(300))))
    assert len(list(read(path))) == 1
    path.write_bytes(holding(*(message(n, content="word " * 1000) for n in range(900))))
    with pytest.raises(StoreError, match="a chat in it is larger than 2 MB"):
        read(path)


def test_many_chats_go_out_and_come_back_a_chat_at_a_time(store: Store, tmp_path: Path) -> None:
    """Thousands of messages with all that is kept of replies."""
    rounds = [{"round": n, "proposed": [n] * 4, "targets": [n] * 5, "outcome": "accepted"} for n in range(40)]
    reply = {"role": "assistant", "ids": list(range(300)), "rounds": rounds, "content": "Sea \n ü 🌊 " * 30}
    turns = [message(n, parent=n - 1 if n else None, **(reply if n % 2 else {})) for n in range(20)]
    one = OneChat.model_validate(file(messages=turns)["chats"][0])
    for number in range(150):
        store.add_whole(one.model_copy(update={"title": f"Chat {number}"}))
    store.flush()
    path = exported(store, tmp_path / "many.json")
    other = Store(tmp_path / "other.sqlite")
    for chat in read(path):
        other.add_whole(chat)
    other.flush()
    assert {c.title for c in other.chats()} == {f"Chat {number}" for number in range(150)}
    first, last = store.messages(1), other.messages(150)
    assert [m.content for m in first] == [m.content for m in last]
    assert (last[1].ids, last[1].rounds) == (tuple(range(300)), tuple(rounds))
    assert len(other.search("Chat")) == 150
    other.close()


def test_no_more_of_a_file_is_read_than_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_CHUNK", 1000)
    file = io.StringIO(json.dumps({"chats": [{"title": "x" * 5000}] * 100}))
    items = chunks.Chunks(file, "chats", 10_000).items()
    for number in range(1, 101):
        assert next(items) == {"title": "x" * 5000}
        assert file.tell() < number * 5020 + 9000
    assert next(items, None) is None


def test_it_is_read_the_same_in_pieces_of_any_size(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(store)
    path = exported(store, tmp_path / "chats.json")
    whole = list(read(path))
    assert whole[0].title == json.loads(path.read_text("utf-8"))["chats"][0]["title"]
    for size in (1, 7, 64):
        monkeypatch.setattr(chunks, "_CHUNK", size)
        assert list(read(path)) == whole


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(StoreError, match="a device or a pipe"):
        read(tmp_path / "pipe.json")


def test_odd_but_fine(store: Store, tmp_path: Path) -> None:
    """A reply that streamed when it was exported, half a character, a tip that is not there, times to come."""
    path = tmp_path / "chats.json"
    odd = [message(5), message(3, parent=5, role="assistant", content="half \udc00", state="streaming")]
    path.write_text(json.dumps(file(title="odd \ud800", tip=99, updated=2e10, messages=odd)))
    new = store.add_whole(next(read(path))).result()
    first, second = store.branch(new)
    assert (first.content, second.content, second.state) == ("hi", "half ?", "stopped")
    assert store.chats()[0].title == "odd ?"
    assert store.chats()[0].updated < 1e10


@pytest.mark.parametrize(("title", "listed"), [("word " * 400_000, "word " * 200), (" \n", "New chat")])
def test_a_title_can_be_listed(tmp_path: Path, title: str, listed: str) -> None:
    (path := tmp_path / "chats.json").write_text(json.dumps(file(title=title)))
    assert next(read(path)).title == listed
