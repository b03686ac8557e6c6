"""Every failure has words of its own, in the house style."""

from __future__ import annotations

import pytest

from backend.errors import EngineError, ErrorCode
from desktop.store import StoreError
from desktop.words import LABELS, notice


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_code_has_a_title_and_known_buttons(code: ErrorCode) -> None:
    made = notice(EngineError(code, "What happened and why."))
    assert made.title
    assert "!" not in made.title
    assert made.detail == "What happened and why."
    assert set(made.actions) <= set(LABELS)


def test_a_partial_reply_is_said_to_be_kept() -> None:
    assert "kept" in notice(EngineError(ErrorCode.WORKER_GONE, "It ended."), partial=True).detail


def test_a_chat_that_was_not_saved_says_why() -> None:
    made = notice(StoreError("full", "No room in /x."))
    assert made.detail == "No room in /x."
    assert "retry" in made.actions


def test_chats_that_cannot_be_read_are_not_said_to_be_unsaved() -> None:
    assert "read" in notice(StoreError("unread", "Why.", reading=True)).title
