"""Whose a token is, asked of a small hub of our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.errors import EngineError, ErrorCode
from backend.library.whose import owner
from tests.unit.library.server import Hub, serving


@pytest.fixture
def hub(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(Hub(token="hf_right")) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        yield made


def refused(token: str) -> EngineError:
    with pytest.raises(EngineError) as caught:
        owner(token)
    return caught.value


def test_the_hub_names_the_account(hub: Hub) -> None:
    hub.json["/api/whoami-v2"] = {"name": "ada", "type": "user"}
    assert owner("hf_right") == "ada"
    ((_, path, headers),) = hub.requests
    assert (path, headers["authorization"]) == ("/api/whoami-v2", "Bearer hf_right")


def test_a_token_that_it_does_not_know(hub: Hub) -> None:
    assert refused("hf_wrong").code is ErrorCode.GATED
    assert refused("two words").code is ErrorCode.GATED
    assert refused("hf_ü").code is ErrorCode.GATED
    assert len(hub.requests) == 1, "what can be no token is not sent"


def test_it_does_not_follow_to_another_host(hub: Hub) -> None:
    with serving(Hub(json={"/elsewhere": {"name": "eve"}})) as other:
        hub.redirect = f"{other.url}/elsewhere"
        assert refused("hf_right").code is ErrorCode.DOWNLOAD_FAILED
        assert other.requests == []


@pytest.mark.parametrize("told", [{}, [], {"name": 3}, {"name": ""}])
def test_an_answer_without_a_name(hub: Hub, told: object) -> None:
    hub.json["/api/whoami-v2"] = told
    assert refused("hf_right").code is ErrorCode.DOWNLOAD_FAILED


def test_a_hub_that_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    assert refused("hf_right").code is ErrorCode.NO_NETWORK
