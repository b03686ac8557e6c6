"""What is planned for a pair with these options: the same by ``tandem plan``, the load's own check and the window.

Models that are not here are planned with what the catalogue knows of them.
"""

from __future__ import annotations

from backend.plan.attention import flash_attention
from backend.plan.needs import Needs
from backend.plan.plan import Request
from backend.protocol import LoadOptions

DEFAULT_CONTEXT = 8192


def request_for(options: LoadOptions, target: Needs, draft: Needs | None, n_ctx: int | None = None) -> Request:
    """The request that a load with these options comes to.

    Args:
        options: as asked for.
        target: what it needs.
        draft: the same of its draft.
        n_ctx: the context, where it is settled; else what was asked for, or as much as is usual for the model.
    """

    def flash(kv_type: str, needs: Needs) -> bool:
        return flash_attention(options, kv_type, on_gpu=False, sliding=needs.sliding) != "off"

    return Request(
        target,
        draft,
        n_ctx or options.n_ctx or min(target.trained or DEFAULT_CONTEXT, DEFAULT_CONTEXT),
        kv_type=options.kv_type,
        draft_kv_type=options.draft_kv_type,
        flash=flash(options.kv_type, target),
        draft_flash=draft is not None and flash(options.draft_kv_type, draft),
        n_batch=options.batch,
        mapped=options.use_mmap and not options.use_mlock,
    )
