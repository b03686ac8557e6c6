"""Answers that are one JSON object, and what becomes of errors."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from backend.errors import EngineError, ErrorCode
from backend.server.auth import BodyTooLargeError
from backend.wire import to_bytes

_RETRY_AFTER = 2
_STATUS = {
    ErrorCode.BAD_REQUEST: 400,
    ErrorCode.UNSUPPORTED_CONTENT: 400,
    ErrorCode.CONTEXT_FULL: 400,
    ErrorCode.TEMPLATE_FAILED: 400,
    ErrorCode.UNAUTHORIZED: 401,
    ErrorCode.NO_MODEL: 404,
    ErrorCode.MODEL_UNKNOWN: 404,
    ErrorCode.FILE_MISSING: 404,
    ErrorCode.DRAFT_INCOMPATIBLE: 409,
    ErrorCode.BUSY: 429,
    ErrorCode.CANCELLED: 499,
}


class Answer(Response):
    """A JSON object; unlike starlette's own it can say what is wrong with a text that is none."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The object's bytes."""
        return to_bytes(content)


async def _engine_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, EngineError)
    status = 413 if isinstance(error, BodyTooLargeError) else _STATUS.get(error.code, 500)
    headers = {"Retry-After": str(_RETRY_AFTER)} if error.code is ErrorCode.BUSY else None
    return Answer(error.to_wire(), status, headers)


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    wire = EngineError(ErrorCode.BAD_REQUEST, f"{error.detail}.").to_wire()
    return Answer(wire, error.status_code, dict(error.headers or {}))


async def _unexpected(_request: Request, error: Exception) -> Response:
    wire = EngineError(
        ErrorCode.BUG, f"The worker made a mistake ({type(error).__name__}).", {"exception": repr(error)}
    ).to_wire()
    return Answer(wire, 500)


ERROR_HANDLERS: dict[Any, Any] = {
    EngineError: _engine_error,
    HTTPException: _http_error,
    Exception: _unexpected,
}
"""By exception, for starlette."""
