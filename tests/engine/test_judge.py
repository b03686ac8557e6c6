"""Teacher-forcing says exactly what drafting would have said."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.judge import copies
from backend.errors import EngineError
from backend.protocol import Message, Speculation
from tests.engine.rig import COUNT, OFF, pair, say

ASKED = (Message(role="user", content=COUNT),)


def test_a_model_agrees_with_itself_wherever_it_is_not_nearly_tied(tiny_files: tuple[Path, Path]) -> None:
    target, _ = tiny_files
    with pair(target, target) as both:
        reply = say(both, COUNT, max_tokens=40, speculation=OFF)
        judged = both.judge(ASKED, reply.end.ids, {}, CancelFlag())
        assert len(judged.hits) == len(reply.end.ids)
        missed = [reply.margins[i] for i, hit in enumerate(judged.hits) if hit == "0"]
        assert all(margin < 0.5 for margin in missed), "batches round differently, and nothing else"
        assert judged.hits.count("1") >= len(judged.hits) - 4


def test_hits_are_what_drafting_one_token_at_a_time_accepts(tiny_files: tuple[Path, Path]) -> None:
    target, draft = tiny_files
    with pair(target, draft) as both:
        drafted = say(both, COUNT, max_tokens=40, speculation=Speculation(source="draft", length=1))
        judged = both.judge(ASKED, drafted.end.ids, {}, CancelFlag())
        start = drafted.end.start
        seen = {r.pos - start: r.accepted for r in drafted.rounds if r.proposed}
        wrong = [i for i, accepted in seen.items() if i < len(judged.hits) and int(judged.hits[i]) != accepted]
        assert seen
        assert len(wrong) <= 1, "but for a near-tie"


def test_what_a_copy_would_have_got_right() -> None:
    prompt = [1, 2, 3, 4, 5, 6, 7, 9, 1, 2]
    assert copies(prompt, [3, 4, 8, 3, 4, 5]) == [2, 1, 0, 0, 0, 0], "the latest match leads to 8"
    assert copies(prompt, [3, 4, 5, 6, 7, 0]) == [5, 4, 3, 2, 1, 0]
    assert copies([1], [2]) == [0]


def test_what_cannot_be_judged_is_said(tiny_files: tuple[Path, Path]) -> None:
    target, draft = tiny_files
    with pair(target) as alone, pytest.raises(EngineError, match="No draft model"):
        alone.judge(ASKED, (1, 2), {}, CancelFlag())
    with pair(target, draft) as both:
        for ids in ((), (-1,), (10**6,)):
            with pytest.raises(EngineError, match="token ids from 0"):
                both.judge(ASKED, ids, {}, CancelFlag())
        with pytest.raises(EngineError, match="the draft's context holds"):
            both.judge(ASKED, (1,) * 600, {}, CancelFlag())
        stopped = CancelFlag()
        stopped.set()
        with pytest.raises(EngineError, match="Stopped"):
            both.judge(ASKED, (1,) * 40, {}, stopped)
        assert say(both, COUNT, max_tokens=8).end.reason == "length", "nothing of it is left behind"


def test_what_the_draft_holds_of_the_prompt_is_not_read_again(
    tiny_files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, draft = tiny_files
    with pair(target, draft) as both:
        first = say(both, COUNT, max_tokens=30, speculation=OFF)
        answered = (*ASKED, Message(role="assistant", content=first.text), Message(role="user", content="More."))
        judged = both.judge(answered, (9, 8, 7), {}, CancelFlag())
        assert both.draft is not None
        read: list[int] = []
        held = both.draft.context.sequence()
        append = held.append
        monkeypatch.setattr(held, "append", lambda t, rows: read.append(len(t)) or append(t, rows))
        again = both.judge(answered, (9, 8, 7), {}, CancelFlag())
        assert again.hits == judged.hits
        assert sum(read) == 3, "the prompt's last token, for its row, and the reply"
        read.clear()
        both.judge(ASKED, first.end.ids, {}, CancelFlag())
        assert sum(read) <= 1 + len(first.end.ids), "and an earlier reply of the same chat"
