"""The list of chats: what changes one chat gives the list that reading all of them anew would."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from desktop.models.chats import PINNED, ChatList, day_heading
from desktop.store import Chat

NOON = datetime(2026, 3, 5, 12)
TIMES = st.integers(0, 400 * 24).map(lambda hours: (NOON - timedelta(hours=hours)).timestamp())
CHATS = st.lists(st.builds(Chat, st.integers(1, 30), st.just("chat"), st.just(0.0), TIMES, pinned=st.booleans()))


def in_order(chats: list[Chat]) -> list[Chat]:
    """One of each number, as the store reads them."""
    return sorted({chat.id: chat for chat in chats}.values(), key=lambda c: (not c.pinned, -c.updated, -c.id))


def rows(model: ChatList) -> list[object]:
    return list(model._rows)


def whole(chats: list[Chat]) -> list[object]:
    """Each chat asked for its heading, one by one."""
    made: list[object] = []
    last = ""
    for chat in chats:
        heading = PINNED if chat.pinned else day_heading(chat.updated, NOON.date())
        made += [heading, chat] if heading != last else [chat]
        last = heading
    return made


@given(CHATS)
def test_headings_stand_where_the_time_changes(chats: list[Chat]) -> None:
    model = ChatList()
    model.set_chats(in_order(chats), NOON.date())
    assert rows(model) == whole(in_order(chats))
    assert model.rowCount() == len(rows(model))


@given(CHATS, CHATS)
def test_one_chat_after_the_other_or_all_anew(before: list[Chat], changes: list[Chat]) -> None:
    model, anew = ChatList(), ChatList()
    model.set_chats(in_order(before))
    for chat in changes:
        model.put(chat.id, chat)
    anew.set_chats(in_order(before + changes))
    assert rows(model) == rows(anew)


def test_a_chat_that_is_gone_leaves_with_its_heading() -> None:
    today = datetime.combine(date.today(), datetime.min.time()).timestamp()
    model, old = ChatList(), Chat(1, "old", 0.0, 1.0)
    model.set_chats([Chat(2, "new", today, today), old])
    model.put(2, None)
    assert rows(model)[1:] == [old]
    model.put(1, replace(old, title="renamed"))
    assert model.index(1).data() == "renamed"
