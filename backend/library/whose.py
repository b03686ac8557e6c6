"""Whose a token is: asked of the hub, so that one that does not work is found before a download."""

from __future__ import annotations

import os

import httpx2
from huggingface_hub import constants
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

from backend.errors import EngineError, ErrorCode
from backend.library.hub import TOKENS
from backend.text import short_line

_SECONDS = 10.0


def owner(token: str) -> str:
    """The account that the hub knows a token of. It is sent to no other host, whatever the hub redirects to.

    Raises:
        EngineError: ``GATED`` where the hub refuses it, ``NO_NETWORK``, ``DOWNLOAD_FAILED``.
    """
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise _refused("a token has letters, digits and underscores only")
    if constants.is_offline_mode():
        raise _unreachable("HF_HUB_OFFLINE is set")
    url = os.environ.get("HF_ENDPOINT", constants.ENDPOINT).rstrip("/") + "/api/whoami-v2"
    try:
        with httpx2.Client(timeout=_SECONDS) as client:
            answer = client.get(url, headers=build_hf_headers(token=token))
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise _unreachable(" ".join(str(error).split()) or type(error).__name__) from error
    if answer.status_code in (401, 403):
        raise _refused(f"the hub does not know it, make another at {TOKENS}")
    name = _name(answer) if answer.status_code == 200 else ""
    if not name:
        raise EngineError(
            ErrorCode.DOWNLOAD_FAILED,
            f"The token could not be tested: the hub answers {answer.status_code} and no account; try again later.",
            {"status": answer.status_code},
        )
    return name


def _name(answer: httpx2.Response) -> str:
    try:
        told = answer.json()
    except ValueError:
        return ""
    name = told.get("name") if isinstance(told, dict) else None
    return short_line(name, 60) if isinstance(name, str) else ""


def _refused(why: str) -> EngineError:
    return EngineError(ErrorCode.GATED, f"The token does not work: {why}.", {"token_refused": True})


def _unreachable(why: str) -> EngineError:
    return EngineError(
        ErrorCode.NO_NETWORK,
        f"The token could not be tested: the model hub cannot be reached ({why}). Check the network connection.",
        {"reason": why},
    )
