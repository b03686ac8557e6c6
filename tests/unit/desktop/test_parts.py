"""Replies in several parts: what is kept of each, where each ends, and what is said of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backend.protocol import Sampling, Timings, TokenRecord
from backend.wire import dump
from desktop.figures import footer
from desktop.models import asking, parts
from desktop.models.origins import Piece, joined, pack, pieces
from desktop.presets import OwnSampling
from desktop.settings import ChatSettings
from desktop.store import Message

STOPPED: dict[str, Any] = {"state": "stopped", "finish": "cancelled"}


def reply(content: str = "The sea is", **fields: Any) -> Message:
    known: dict[str, Any] = {"target": "big", "tokenizer": "v", "seed": 7, "start": 5, "ids": (1, 2, 3)}
    return Message(2, 1, 1, "assistant", content, 0.0, **known | STOPPED | fields)


def tokens(*sizes: int, first: int = 0) -> list[TokenRecord]:
    return [TokenRecord(n + 1, size, "plain", None, first + n, 5 + n) for n, size in enumerate(sizes)]


def name(target: str | None) -> str:
    return {"big": "Big 14B", "small": "Small 1B"}.get(target or "", "?")


@pytest.mark.parametrize(
    ("fields", "can"),
    [
        ({}, True),
        ({"state": "failed", "finish": None}, True),
        ({"state": "stopped", "finish": None}, True),
        ({"state": "complete", "finish": "length"}, True),
        ({"state": "complete", "finish": "stop"}, False),
        ({"state": "streaming"}, False),
        ({"content": ""}, False),
        ({"content": "\ufffd"}, False),
        ({"role": "user"}, False),
        ({"state": "complete", "finish": None, "parts": (parts.edited("The sea is", "big"),)}, True),
        ({"state": "complete", "finish": "stop", "parts": (parts.edited("The sea", "big"),)}, False),
    ],
)
def test_what_can_go_on(fields: dict[str, Any], can: bool) -> None:
    assert parts.can_go_on(replace(reply(), **fields)) is can


def test_what_was_known_goes_to_the_parts_before() -> None:
    first = reply("Größe", timings={"predicted_n": 3}, rounds=({"round": 0}, {"round": 4}), note="why")
    resumed = parts.resumed(first)
    (part,) = resumed.parts
    assert part == {
        "target": "big",
        "tokenizer": "v",
        "seed": 7,
        "state": "stopped",
        "finish": "cancelled",
        "timings": {"predicted_n": 3},
        "note": "why",
        "bytes": 7,
        "rounds": 5,
    }
    assert resumed.state == "streaming"
    assert (resumed.timings, resumed.finish, resumed.note, resumed.seed) == (None, None, "", None)
    assert (resumed.content, resumed.ids, resumed.start, resumed.target) == ("Größe", (1, 2, 3), 5, "big")
    again = parts.resumed(replace(resumed, **STOPPED))
    assert again.parts == resumed.parts, "no part without a word"


def test_a_character_that_was_cut_in_two_is_left_out_with_its_tokens() -> None:
    """A space and half of an emoji may be one token."""
    half = reply("a \ufffd", tokens=pack(tokens(1, 3, 1)))  # "a", a space with two bytes, one byte more
    assert parts.whole(half) == replace(half, content="a", ids=(1,))
    unknown = reply("a \ufffd")
    assert parts.whole(unknown) == replace(unknown, content="a ", ids=None)
    after_an_edit = reply("a\ufffd", tokens={"bytes": [4], "origins": "-", "rounds": [0]})
    assert parts.whole(after_an_edit) == replace(after_an_edit, content="a", ids=None)
    assert parts.whole(reply()) == reply()
    mine = reply("a\ufffd", parts=(parts.edited("a\ufffd", "big"),))
    assert parts.whole(mine) == mine, "a person wrote it"


def test_where_tokens_came_from_over_parts() -> None:
    first = pack(tokens(3, 4))
    both = joined(first, 7, tokens(2, 1), 2)
    assert [(p.text, p.round) for p in pieces("The sea is", both)] == [("The", 0), (" sea", 1), (" i", 2), ("s", 3)]
    gap = joined(first, 10, tokens(1), 2)
    assert pieces("The sea is!", gap)[2:] == [Piece(" is", None, 0), Piece("!", "plain", 2)]
    edited = joined(None, 10, tokens(1), 0)
    assert pieces("The sea is!", edited) == [Piece("The sea is", None, 0), Piece("!", "plain", 0)]
    cut = joined(first, 5, tokens(1), 2)
    assert [p.text for p in pieces("The s!", cut)] == ["The", " s", "!"]
    assert joined(first, 7, [], 2) == first


def test_the_story_and_whose_figures_they_are() -> None:
    timings = Timings(predicted_n=11, predicted_ms=250.0)
    went_on = replace(parts.resumed(reply()), content="The sea is wide", timings=dump(timings))
    assert parts.story(reply(), name) == ""
    assert parts.story(went_on, name) == "continued"
    assert parts.story(replace(went_on, target="small"), name) == "begun by Big 14B, continued by Small 1B"
    mine = reply(parts=(parts.edited("The sea is", "big"),))
    assert parts.story(mine, name) == "edited"
    then = replace(parts.resumed(mine), content="The sea is wide")
    assert parts.story(then, name) == "edited, continued"
    assert footer(timings, None, ["stopped"], "continued") == "continued · last part: 40.0 tok/s · 11 tokens · stopped"
    assert footer(None, None, [], "edited") == "edited"
    assert footer(None, None, ["stopped"], "continued") == "continued · stopped"


def test_rounds_belong_to_their_part() -> None:
    rounds = ({"round": 0}, {"round": 5}, {"round": 6})
    went_on = replace(parts.resumed(reply(rounds=rounds[:1])), rounds=rounds[:1] + rounds[1:], tokenizer="w")
    assert went_on.parts[0]["rounds"] == 1
    assert parts.last_rounds(went_on) == [{"round": 5}, {"round": 6}]
    assert parts.last_rounds(reply(rounds=rounds)) == list(rounds)
    assert (parts.tokenizer_at(went_on, 0), parts.tokenizer_at(went_on, 5)) == ("v", "w")


RECIPE = {"system_prompt": "Be brief.", "sampling": {"temperature": 0.5}, "max_tokens": 3, "template_kwargs": {"x": 1}}
ASKED = Message(1, 1, None, "user", "What is the sea?", 0.0)


def test_it_goes_on_as_it_began() -> None:
    settings = ChatSettings(system_prompt="Another.", sampling=OwnSampling(temperature=1.5), max_tokens=900)
    now = settings.sampling.over(Sampling())
    request = asking.going_on([ASKED, reply(settings=RECIPE)], settings, now)
    assert [m.content for m in request.messages] == ["Be brief.", "What is the sea?", "The sea is"]
    assert (request.messages[-1].x_ids, request.messages[-1].x_tokenizer) == ((1, 2, 3), "v")
    assert request.continue_final_message
    assert (request.sampling.temperature, request.sampling.seed) == (0.5, 7)
    assert request.template_kwargs == {"x": 1}
    assert request.max_tokens == 900, "the limit of now, counted anew"
    mine = reply(ids=None, seed=None, parts=(parts.edited("The sea is", "big"),))
    assert asking.going_on([ASKED, mine], settings, now).sampling.seed is None, "another text: a fresh seed"


def test_a_comparison_runs_the_last_part() -> None:
    whole = replace(
        parts.resumed(reply(settings=RECIPE)),
        content="The sea is wide",
        ids=(1, 2, 3, 4),
        seed=7,
        timings={"predicted_n": 1},
        **STOPPED,
    )
    whole = replace(whole, parts=(whole.parts[0] | {"ids": 3},))
    request = asking.request_again(whole, [ASKED], ChatSettings(), Sampling())
    assert [m.content for m in request.messages] == ["Be brief.", "What is the sea?", "The sea is"]
    assert (request.messages[-1].x_ids, request.max_tokens) == ((1, 2, 3), 1)
    assert request.continue_final_message
    plain = asking.request_again(reply(settings=RECIPE), [ASKED], ChatSettings(), Sampling())
    assert not plain.continue_final_message


@pytest.mark.parametrize("part", [{}, {"bytes": "x", "rounds": None}, {"bytes": 10**9, "ids": -3, "target": 4}])
def test_damaged_parts_cost_nothing_but_themselves(part: dict[str, Any]) -> None:
    odd = reply(parts=(part,))
    for read in (parts.can_go_on, parts.by_hand, parts.went_on_from, parts.last_rounds, parts.resumed):
        read(odd)
    parts.story(odd, name)
    parts.tokenizer_at(odd, 3)
