"""Chats as a person would have after years: ten thousand, and one of a hundred thousand tokens."""

from __future__ import annotations

import random
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from backend import wire
from backend.protocol import TokenRecord
from desktop.models.origins import pack
from desktop.store import Store
from desktop.store.rows import insert_whole
from desktop.store.shapes import OneChat, OneMessage
from desktop.store.writer import connect
from tests.long import texts
from tests.long.driven import TARGET
from tests.long.scripted_worker import TOKENIZER, counters, told

LONG_TITLE = "The long one"
RARE, SOME = "zwieback", "quokka"
"""Words of one chat, and of every hundredth."""
_DAY = 86_400.0


def fill(path: Path, chats: int, tokens: int) -> None:
    """A database with so many chats, the latest of them with about so many tokens."""
    Store(path).close()
    db = connect(path)
    db.execute("PRAGMA synchronous = OFF")
    db.execute("BEGIN")
    for number in range(chats - 1):
        insert_whole(db, small(number, chats), hidden=False)
    insert_whole(db, long(tokens), hidden=False)
    db.execute("COMMIT")
    db.close()


def small(number: int, of: int) -> OneChat:
    """Two questions and two answers."""
    pick = random.Random(number)
    said = [texts.words(pick, pick.randint(8, 30)), texts.markdown(number, pick.randint(200, 900))]
    said += [texts.words(pick, pick.randint(8, 30)), texts.markdown(of + number, pick.randint(200, 900))]
    said[1] += f" {RARE}" if number == of // 2 else f" {SOME}" if number % 100 == 0 else ""
    messages = [
        OneMessage(id=at, parent=at - 1 if at else None, role="assistant" if at % 2 else "user", content=text)
        for at, text in enumerate(said)
    ]
    when = time.time() - (of - number) * 0.05 * _DAY
    title = texts.words(pick, 5).capitalize()
    return OneChat(title=title, created=when, updated=when, settings={"system_prompt": ""}, tip=3, messages=messages)


def long(tokens: int) -> OneChat:
    """Questions and answers until there are so many tokens, with all that is kept of replies."""
    pick = random.Random(tokens)
    messages: list[OneMessage] = []
    made = 0
    while made < tokens:
        asked, length = texts.words(pick, pick.randint(8, 60)), pick.choice((200, 400, 800, 1200, 2500))
        at = len(messages)
        messages.append(OneMessage(id=at, parent=at - 1 if at else None, role="user", content=asked))
        messages.append(_answer(at + 1, texts.markdown(at, length * texts.LETTERS), made))
        made += (len(asked) + len(messages[-1].content)) // texts.LETTERS
    return OneChat(title=LONG_TITLE, created=time.time(), updated=time.time(), tip=len(messages) - 1, messages=messages)


def _answer(at: int, text: str, start: int) -> OneMessage:
    rounds: list[dict[str, Any]] = []
    tokens: list[TokenRecord] = []
    for _, records, made in told(text, 3, start):
        lists = {name: list(getattr(made, name)) for name in ("proposed", "targets", "p")}
        rounds.append(asdict(made) | lists)
        tokens += records
    raw = {
        "id": at, "parent": at - 1, "role": "assistant", "content": text, "finish": "stop", "target": TARGET,
        "ids": [token.id for token in tokens], "tokenizer": TOKENIZER, "seed": 7, "start": start,
        "timings": wire.dump(counters(len(tokens), start, 41.0, 3)), "rounds": rounds, "tokens": pack(tokens),
    }  # fmt: skip
    return OneMessage.model_validate(raw)
