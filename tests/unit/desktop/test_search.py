"""Finding chats by words: in any script, any case, anywhere in a word, whatever else is typed."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.store import Store, StoreError
from desktop.store.schema import MIGRATIONS
from desktop.store.search import MOST, search


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chats.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path)
    yield store
    store.close()


def chat(store: Store, title: str, *texts: str) -> int:
    made = store.add_chat(title).result()
    parent = None
    for text in texts:
        parent = store.add_message(made.id, parent, "user", text).result().id
    return made.id


def found(store: Store, text: str) -> list[int]:
    return [hit.chat.id for hit in store.search(text)]


def test_titles_and_messages_are_read_literally(store: Store) -> None:
    sure = chat(store, "100% sure")
    snake = chat(store, "plain", 'snake_case and "quoted" AND more*')
    assert found(store, "100%") == [sure]
    assert found(store, "snake_case") == [snake]
    assert found(store, "snakeXcase") == []
    for odd in ('"quoted"', "AND", "more*", "case and", '"'):
        assert found(store, odd) == [snake], odd
    for nothing in ("", "  ", "NEAR(", "^more", "case:and", "\\", "%%", "__"):
        assert found(store, nothing) == [], nothing


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Der Wärmetauscher läuft", "WÄRME tausch"),
        ("Привет, мир", "привет"),
        ("日本語の文章です", "日本語"),
        ("日本語の文章です", "文章"),
        ("The café in town", "café"),
        ("deep dish 🍕 pizza", "🍕"),
        ("a C# method", "c#"),
    ],
)
def test_any_script_and_short_words(store: Store, text: str, words: str) -> None:
    wanted = chat(store, "one", "before", text, "after")
    chat(store, "two", "something else")
    assert found(store, words) == [wanted]


def test_all_words_must_be_in_one_message_or_title(store: Store) -> None:
    both = chat(store, "one", "apples and pears")
    chat(store, "two", "apples", "pears")
    title = chat(store, "Pears, apples")
    assert found(store, "pears apples") == [title, both]


def test_a_hit_is_the_latest_message_and_counts_the_others(store: Store) -> None:
    made = chat(store, "one", "tea", "no", "more tea\n\nfor " + "me " * 90, "end")
    (hit,) = store.search("tea")
    assert [m.id for m in store.messages(made)][2] == hit.message
    assert hit.more == 1
    assert hit.text.startswith("more tea for me me")
    assert len(hit.text) < 150
    (hit,) = store.search("one")
    assert (hit.message, hit.text) == (None, "")
    chat(store, "two", "x " * 200 + "needle in it")
    assert store.search("needle")[0].text.startswith("…x x")


def test_the_index_follows_what_is_changed_and_deleted(store: Store, path: Path) -> None:
    made = chat(store, "one", "first words")
    (message,) = store.messages(made)
    store.update_message(message.id, content="other text").result()
    assert (found(store, "first"), found(store, "other")) == ([], [made])
    reply = store.add_message(made, message.id, "assistant", "", "streaming").result()
    store.update_message(reply.id, content="half a sentence").result()
    assert found(store, "sentence") == [], "not before its end"
    store.update_message(reply.id, content="a whole sentence", state="complete").result()
    assert found(store, "whole sentence") == [made]
    store.delete_chat(made).result()
    assert found(store, "sentence") == []
    store.undelete_chat(made).result()
    assert found(store, "sentence") == [made]
    store.delete_chat(made).result()
    store.close()
    Store(path).close()
    db = sqlite3.connect(path)
    assert db.execute("SELECT count(*) FROM message_text").fetchone() == (0,)
    db.execute("INSERT INTO message_text (message_text, rank) VALUES ('integrity-check', 1)")
    db.close()


def test_a_reply_that_a_crash_cut_off_is_found_after_the_next_start(store: Store, path: Path) -> None:
    made = chat(store, "one", "question")
    store.add_message(made, None, "assistant", "half an answer", "streaming").result()
    store.close()
    again = Store(path)
    assert found(again, "half an answer") == [made]
    again.close()


def test_chats_from_before_are_found(path: Path) -> None:
    old = sqlite3.connect(path)
    old.executescript(
        MIGRATIONS[0] + "INSERT INTO chats (id, title, created, updated) VALUES (7, 'old', 1, 1);"
        "INSERT INTO messages (chat, role, content, created, state) VALUES (7, 'user', 'said long ago', 1, 'complete');"
        "PRAGMA user_version = 1;"
    )
    old.close()
    store = Store(path)
    assert found(store, "long ago") == [7]
    assert store.chats()[0].pinned is False
    store.close()


def test_a_common_word_hides_no_chat(store: Store) -> None:
    first = chat(store, "one", "the word")
    talk = store.add_chat("two").result()
    store._writer.submit(
        lambda db: db.executemany(
            "INSERT INTO messages (chat, role, content, created, state) VALUES (?, 'user', 'the word', 1, 'complete')",
            [(talk.id,)] * 1000,
        )
    ).result()
    assert sorted((hit.chat.id, hit.more) for hit in store.search("word")) == [(first, 0), (talk.id, 999)]


def test_titles_and_short_words_in_any_case(store: Store) -> None:
    title = chat(store, "Привет, мир", "x")
    short = chat(store, "z", "Да и нет")
    assert found(store, "привет") == [title]
    assert found(store, "да") == [short]


def test_words_are_looked_up_in_the_index(store: Store) -> None:
    """No clock: SQLite says how it looks, for the very query that is run."""
    asked: list[tuple[str, list[object]]] = []

    def read(sql: str, values: list[object]) -> list[sqlite3.Row]:
        asked.append((sql, values))
        return store._read(sql, values)

    search(read, "word")  # type: ignore[arg-type]
    sql, values = next(one for one in asked if "message_text" in one[0])
    steps = " ".join(str(row["detail"]) for row in store._read(f"EXPLAIN QUERY PLAN {sql}", values))
    assert "VIRTUAL TABLE INDEX" in steps
    assert "SCAN m" not in steps.replace("SCAN message_text", "")


def test_of_very_many_the_latest_are_shown(store: Store) -> None:
    store._writer.submit(
        lambda db: (
            db.executemany(
                "INSERT INTO chats (id, title, created, updated) VALUES (?, 'said it', 1, ?)",
                [(n, n) for n in range(1, MOST + 11)],
            ),
            db.executemany(
                "INSERT INTO messages (chat, role, content, created, state) VALUES (?, 'user', ?, 1, 'complete')",
                [(n, f"the word {n}") for n in range(1, MOST + 11)],
            ),
        )
    ).result()
    latest = list(range(MOST + 10, 10, -1))
    assert [(hit.chat.id, hit.text) for hit in store.search("word")] == [(n, f"the word {n}") for n in latest]
    assert found(store, "said") == latest


def test_what_is_not_wanted_any_more_is_given_up(store: Store) -> None:
    reader, looks = store.another_reader(), itertools.count()
    reader.give_up_when(lambda: next(looks) == 100)
    with pytest.raises(StoreError, match="interrupted"):  # it would go on for ever
        reader._read("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c", ())
    assert reader.search("lighthouse") == store.search("lighthouse")
    reader.close()


@pytest.mark.parametrize("words", ["se\0a", "sea\0", "sea \0 sea", "\0", "x y " * 2000, "sea sea " * 2000, "\ud800"])
def test_whatever_is_pasted_is_looked_for(store: Store, words: str) -> None:
    made = chat(store, "one", "the sea, s? se a x y")
    chat(store, "two", "nothing of that")
    assert set(found(store, words)) <= {made}


def test_very_many_words(store: Store) -> None:
    made = chat(store, "one", " ".join(f"word{n} {n % 10}" for n in range(3000)))
    assert found(store, " ".join(f"word{n} {n % 10}" for n in range(3000))) == [made]
    assert found(store, " ".join(f"word{n} {n % 10}" for n in range(3001))) == []


def test_the_words_are_in_what_is_shown_after_letters_that_fold_into_two(store: Store) -> None:
    chat(store, "one", "ß" * 500 + " Needle in it")
    assert "Needle in it" in store.search("needle")[0].text


def test_short_words_are_found_as_python_folds_letters(store: Store) -> None:
    """Texts in ASCII are looked through by SQLite, others by Python: what they find must be the same."""
    texts = ["Lo and behold", "fuſs", "STRASSE", "Straße", "\u212aelvin", "100% lo_x", "a\nb", "é lo", ""]
    chats = {chat(store, text or "-", text): text for text in texts}
    for words in ("lo", "LO", "ss", "k", "0%", "o_", "é", "lo é", "lo _x", "a b c d e f g h i", "o b"):
        folded = words.casefold().split()
        wanted = [made for made, text in chats.items() if all(word in text.casefold() for word in folded)]
        assert sorted(found(store, words)) == wanted, words
