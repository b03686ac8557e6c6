"""A conversation in the terminal whose engine dies, or that cannot be answered; worker and models are real."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backend.cli_chat import Settings
from backend.cli_loop import Loop
from backend.cli_session import Session
from backend.errors import EngineError, ErrorCode
from backend.protocol import LoadOptions, LoadRequest, Sampling, Speculation
from tests.tiny import tiny_llama


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Loop]:
    """A conversation in this process, its worker and models real."""
    with Session({"good": tiny_llama(tmp_path / "good.gguf")}) as session:
        request = LoadRequest(target="good", options=LoadOptions(n_ctx=512, threads=1))
        settings = Settings(Sampling(temperature=1, seed=3), Speculation(), max_tokens=12)
        yield Loop(session, request, session.load(request), settings)


def kill_worker(loop: Loop) -> None:
    supervisor = loop._session.client._supervisor
    assert supervisor.endpoint is not None
    os.kill(supervisor.endpoint.pid, signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
    assert supervisor.death(10) is not None


def test_an_engine_that_died_meanwhile_is_started_again_for_the_question(
    loop: Loop, capsys: pytest.CaptureFixture[str]
) -> None:
    kill_worker(loop)
    loop._one("first")
    assert [m.role for m in loop._history] == ["user", "assistant"]
    assert "asked once more" in capsys.readouterr().err


def test_a_question_outlives_the_engine(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise EngineError(ErrorCode.WORKER_GONE, "The engine ended again.")

    kill_worker(loop)
    with monkeypatch.context() as patch:
        patch.setattr(loop, "_restart", fails)
        loop._one("first")
    assert [(m.role, m.content) for m in loop._history] == [("user", "first")]
    loop._one("second")
    question, answer = loop._history
    assert question.content == "first\n\nsecond"
    assert answer.role == "assistant"
    assert answer.content


def test_what_was_said_before_the_engine_died_is_kept(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def show(text: str) -> None:
        shown.append(text)
        if len(shown) == 1:
            kill_worker(loop)

    monkeypatch.setattr("backend.cli_loop.show", show)
    loop._settings = replace(loop._settings, max_tokens=400)
    loop._one("first")
    assert loop._lost
    assert [m.role for m in loop._history] == ["user", "assistant"]
    assert loop._history[1].content == "".join(shown) != ""


def test_a_question_that_does_not_fit_is_not_in_the_way_of_the_next(loop: Loop) -> None:
    loop._one("word " * 400)
    assert loop._history == []
    loop._one("hello")
    assert [m.role for m in loop._history] == ["user", "assistant"]


def test_another_draft_does_not_switch_on_what_was_switched_off(loop: Loop) -> None:
    def enabled_after(line: str) -> bool:
        loop._one(line)
        return loop._settings.speculation.enabled

    assert not enabled_after("/speculation off")
    assert not enabled_after("/draft lookup")
    assert enabled_after("/speculation on")
    assert not enabled_after("/draft none")
    assert enabled_after("/draft lookup")


def test_how_the_prompt_is_made_is_said_where_it_is_unusual(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Session({"bare": tiny_llama(tmp_path / "bare.gguf", template=None)}) as session:
        request = LoadRequest(target="bare", options=LoadOptions(n_ctx=512, threads=1))
        loop = Loop(session, request, session.load(request), Settings(Sampling(), Speculation()))
        loop._greet()
    assert "no chat template" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["caf\udce9", "/draft \udcff", "/\udcff"])
def test_what_is_not_utf8_is_said_and_not_asked(loop: Loop, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    loop._one(line)
    assert "not valid UTF-8" in capsys.readouterr().err
    assert loop._history == []


def test_a_reply_goes_on_where_it_was_cut_off(loop: Loop, capsys: pytest.CaptureFixture[str]) -> None:
    """By the limit or by the engine's end; with the same noise, as if it had never been cut off."""
    loop._settings = replace(loop._settings, sampling=Sampling(temperature=0), max_tokens=24)
    loop._one("first")
    whole = loop._history[-1]
    loop._one("/new")
    loop._settings = replace(loop._settings, max_tokens=12)
    loop._one("first")
    capsys.readouterr()
    loop._one("/continue")
    assert [m.role for m in loop._history] == ["user", "assistant"]
    assert loop._history[-1] == whole
    kill_worker(loop)
    loop._one("/continue")
    assert loop._lost
    assert loop._history[-1] == whole, "nothing of it is lost"
    loop._one("/continue")
    assert loop._history[-1].content.startswith(whole.content[:-1])
    loop._one("/new")
    loop._one("/continue")
    assert "no reply to go on with" in capsys.readouterr().err
