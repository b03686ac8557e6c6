"""Which caches flash attention leaves possible (whether it is used: ``backend.plan.attention``)."""

from __future__ import annotations

from backend.errors import EngineError, ErrorCode
from backend.protocol import LoadOptions


def check_caches(options: LoadOptions) -> None:
    """Refuse caches that cannot be, before anything is loaded or freed.

    Raises:
        EngineError: BAD_REQUEST.
    """
    for kind in (options.kv_type, options.draft_kv_type):
        if kind.startswith("q") and (options.strict or options.flash_attention == "off"):
            why = "for exact texts" if options.strict else "without flash attention"
            raise EngineError(
                ErrorCode.BAD_REQUEST,
                f"A KV cache of type {kind} cannot be used {why}: choose f16, bf16 or f32.",
                {"kv_type": kind},
            )
