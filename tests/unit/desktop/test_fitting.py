"""How much of a long text fits, found with few counts and never too much."""

from __future__ import annotations

import asyncio
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from backend.documents import Attachment
from backend.protocol import Message
from desktop.fitting import fit, longest, weigh
from desktop.models.asking import prompt
from tests.gui.scripted import ScriptedEngine

STEPS = st.lists(st.integers(0, 5), min_size=1, max_size=400)


@given(STEPS, st.integers(0, 50), st.integers(0, 1500))
def test_the_longest_beginning_is_found_nearly(steps: list[int], least: int, room: int) -> None:
    """Whatever the tokens of a text are like: dense here, sparse there."""
    counts = [least, *(least + n for n in accumulate(steps))]
    asked: list[int] = []

    async def count(length: int) -> int:
        asked.append(length)
        return counts[length]

    if counts[-1] <= room:
        return
    found = asyncio.run(longest(count, len(steps), counts[0], counts[-1], room))
    assert found == 0 if counts[0] > room else counts[found] <= room
    assert len(asked) <= 14
    if counts[0] <= room:
        assert counts[found + 1] > room or room - counts[found] <= max(0.02 * room, 5)


def words(n: int, name: str = "long.txt") -> Attachment:
    text = "word\n" * n
    return Attachment(name, "", text, len(text))


def fitted(*attachments: Attachment, said: str = "Why?", most: int | None = None) -> tuple[int, int, int, list[str]]:
    before = [Message(role="user", content=said)]
    found = asyncio.run(
        fit(ScriptedEngine(), lambda kept: [*before, *prompt([], "", "Why?", kept)], attachments, most, {})
    )
    assert found is not None
    return found.tokens, found.bare, found.reply, [f"{a.name} {len(a.text)} {a.part}" for a in found.kept]


def test_what_fits_is_kept_whole() -> None:
    assert fitted(words(7000)) == (7000 + 6, 0, 1024, ["long.txt 35000 "])


def test_what_does_not_is_kept_up_to_where_it_fits() -> None:
    tokens, bare, reply, (kept, *others) = fitted(words(3000, "a.txt"), words(30_000, "b.txt"), words(9, "c.txt"))
    assert (tokens, bare, reply) == (33_009 + 14, 2, 1024)
    assert kept == "a.txt 15000 "
    (cut,) = others
    assert cut.startswith("b.txt 2")
    assert cut.endswith(" of 150,000 characters")
    length = int(cut.split()[1])
    assert 0.95 < (3000 + length / 5) / (8192 - 1024) <= 1


def test_a_reply_is_left_the_room_that_it_was_given() -> None:
    assert fitted(words(7000), most=5000)[2] == 2048, "a quarter at most"
    assert fitted(words(7000), most=100)[2] == 100


def test_where_the_conversation_fills_the_context_nothing_is_kept() -> None:
    tokens, bare, _, kept = fitted(words(10), said="word " * 9000)
    assert (tokens, bare, kept) == (9015, 9001, [])


def test_an_attachment_weighs_what_it_adds() -> None:
    assert asyncio.run(weigh(ScriptedEngine(), words(100))) == 104  # its name, its fences
