"""What crosses a boundary: a code, a sentence for the log, and details.

The code is the contract; the window has its own (translatable) sentence for each code and uses ``details`` to fill
it in. ``ENVIRONMENT`` codes are faults of the surroundings (disk full, no network, a damaged file, not enough
memory): the person can do something about them, and no bug report is offered.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any


class ErrorCode(StrEnum):
    """Every kind of failure that the engine, the library or the worker can report."""

    # model files
    FILE_MISSING = "file_missing"
    FILE_TRUNCATED = "file_truncated"
    FILE_NOT_GGUF = "file_not_gguf"
    FILE_DAMAGED = "file_damaged"
    WRONG_HASH = "wrong_hash"
    MODEL_UNKNOWN = "model_unknown"
    MODEL_UNSUPPORTED = "model_unsupported"
    LOAD_FAILED = "load_failed"
    # pairs
    DRAFT_INCOMPATIBLE = "draft_incompatible"
    DRAFT_FAILED = "draft_failed"
    # requests
    BAD_REQUEST = "bad_request"
    NO_MODEL = "no_model"
    BUSY = "busy"
    CONTEXT_FULL = "context_full"
    TEMPLATE_FAILED = "template_failed"
    UNSUPPORTED_CONTENT = "unsupported_content"
    CANCELLED = "cancelled"
    # engine
    OUT_OF_MEMORY = "out_of_memory"
    TOO_LARGE = "too_large"
    """It would not fit; nothing was tried."""
    DECODE_FAILED = "decode_failed"
    BAD_LOGITS = "bad_logits"
    BAD_TOKEN = "bad_token"
    TRUNCATE_FAILED = "truncate_failed"
    # library
    NO_NETWORK = "no_network"
    DOWNLOAD_FAILED = "download_failed"
    GATED = "gated"
    DISK_FULL = "disk_full"
    NOT_WRITABLE = "not_writable"
    CATALOGUE_INVALID = "catalogue_invalid"
    # worker
    WORKER_GONE = "worker_gone"
    WORKER_START_FAILED = "worker_start_failed"
    PROTOCOL_MISMATCH = "protocol_mismatch"
    UNAUTHORIZED = "unauthorized"
    # ours
    BUG = "bug"


class EngineError(Exception):
    """A failure with a stable code.

    Args:
        code: what happened, for programs.
        message: one sentence saying what, why and what to do, for people and logs.
        details: the values behind the sentence (JSON-serialisable).
    """

    def __init__(self, code: ErrorCode, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details or {}

    def to_wire(self) -> dict[str, Any]:
        """The OpenAI-shaped error object sent over HTTP."""
        error = {"code": self.code.value, "message": self.message, "type": "engine_error", "details": self.details}
        return {"error": error}

    @classmethod
    def from_wire(cls, body: dict[str, Any]) -> EngineError:
        """Rebuild an error from :meth:`to_wire`'s object; a stranger's shape becomes ``BAD_REQUEST``."""
        err = body.get("error", body)
        if not isinstance(err, dict):
            return cls(ErrorCode.BAD_REQUEST, str(err))
        known = {code.value: code for code in ErrorCode}
        code = known.get(str(err.get("code")), ErrorCode.BAD_REQUEST)
        details = err.get("details")  # a foreign server's may be anything
        return cls(code, str(err.get("message", "unknown error")), details if isinstance(details, dict) else {})
