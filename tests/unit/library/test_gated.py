"""Gated models: who is asked for a token, where it comes from, and where it never goes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import keyring
import keyring.backend
import keyring.errors
import pytest

from backend.errors import EngineError, ErrorCode
from backend.library.hub import download
from backend.library.token import find_token, forget_token, keep_token
from tests.unit.library.files import entry
from tests.unit.library.server import CONTENT, Hub, serving

TOKEN = "hf_" + "x" * 34


class Ring(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError("not there")


@pytest.fixture
def ring() -> Iterator[Ring]:
    before, made = keyring.get_keyring(), Ring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


@pytest.fixture
def hub(models_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with serving(Hub(token=TOKEN)) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        yield made


def get(*, gated: bool | None = True, token: str | None = None) -> tuple[Path, ...]:
    model = entry(gated=gated)
    return download(model, model.variants[0], lambda *_: None, threading.Event(), token=token)


def refused(**options: object) -> EngineError:
    with pytest.raises(EngineError) as caught:
        get(**options)  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.GATED
    return caught.value


def test_without_a_token_it_is_said_what_to_do(hub: Hub, ring: Ring) -> None:
    error = refused()
    assert error.details["page"] == "https://huggingface.co/org/m-GGUF"
    assert error.details["page"] in error.message
    assert "accepted its licence" in error.message
    assert not error.details["token_refused"]


def test_a_refused_token_is_told_from_none(hub: Hub, ring: Ring) -> None:
    error = refused(token="hf_wrong")
    assert error.details["token_refused"]
    assert "refuses your token" in error.message
    assert "hf_wrong" not in error.message + repr(error.details)


@pytest.mark.parametrize("gated", [True, None, False])
def test_the_token_in_the_keyring_opens_it(hub: Hub, ring: Ring, gated: bool | None) -> None:
    """Also where the catalogue did not know that it is gated: then it is asked without one first."""
    assert keep_token(TOKEN)
    assert get(gated=gated)[0].read_bytes() == CONTENT
    assert ("authorization" in hub.requests[0][2]) == bool(gated)


def test_the_token_of_the_surroundings_opens_it(hub: Hub, ring: Ring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert get()[0].read_bytes() == CONTENT


def test_the_token_goes_to_no_other_host(hub: Hub, ring: Ring) -> None:
    with serving(Hub()) as elsewhere:
        hub.redirect = f"{elsewhere.url}/bytes".replace("127.0.0.1", "localhost")
        assert get(token=TOKEN)[0].read_bytes() == CONTENT
        assert hub.requests[-1][2]["authorization"] == f"Bearer {TOKEN}"
        assert elsewhere.gets
        assert not [h for _, _, h in elsewhere.requests if "authorization" in h]


def test_no_token_is_sent_where_none_is_needed(hub: Hub, ring: Ring) -> None:
    keep_token(TOKEN)
    hub.token = ""
    get(gated=False)
    assert not [h for _, _, h in hub.requests if "authorization" in h]


def test_a_refusal_by_who_keeps_the_bytes_asks_for_no_token(hub: Hub, ring: Ring) -> None:
    keep_token(TOKEN)
    hub.token, hub.statuses = "", [403]
    with pytest.raises(EngineError) as caught:
        get(gated=False)
    assert caught.value.code is ErrorCode.DOWNLOAD_FAILED
    assert "answers 403" in caught.value.message
    assert not [h for _, _, h in hub.requests if "authorization" in h]


def test_the_token_is_kept_and_forgotten_and_never_logged(
    ring: Ring, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("HF_TOKEN", "hf_surroundings")
    assert keep_token(TOKEN)
    assert find_token() == (TOKEN, "keyring")
    forget_token()
    assert find_token() == ("hf_surroundings", "surroundings")
    forget_token()
    assert TOKEN not in caplog.text


def test_a_system_without_a_keyring_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own keyring takes nothing."""
    monkeypatch.setenv("HF_TOKEN", "hf_surroundings")
    assert not keep_token(TOKEN)
    assert find_token() == ("hf_surroundings", "surroundings")
    forget_token()
