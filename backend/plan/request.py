"""What is planned for a pair with these options: the same by ``tandem plan``, the load's own check and the window.

Models that are not here are planned with what the catalogue knows of them.
"""

from __future__ import annotations

from typing import Literal

from backend.equations import SLICE
from backend.plan.attention import flash_attention
from backend.plan.needs import Needs
from backend.plan.plan import Request
from backend.protocol import LoadOptions

Role = Literal["target", "draft"]
DEFAULT_CONTEXT = 8192
ROWS: dict[Role, int] = {"target": 64, "draft": 32}
"""Of one pass, and sequence ids, for trees: llama.cpp wants at least as many rows as sequences."""


def context_for(options: LoadOptions, target: Needs) -> int:
    """Tokens of context: as asked for, else as much as is usual for the model."""
    return options.n_ctx or min(target.trained or DEFAULT_CONTEXT, DEFAULT_CONTEXT)


def batch_for(options: LoadOptions, role: Role) -> int:
    """Tokens that are read at once; a draft never reads more than a slice, and its buffers need not be larger."""
    return options.batch if role == "target" else min(options.batch, SLICE)


def flash_in(options: LoadOptions, role: Role, sliding: bool, *, on_card: bool = False) -> bool:
    """Whether the context of a target or a draft uses flash attention."""
    kv_type = options.kv_type if role == "target" else options.draft_kv_type
    return flash_attention(options, kv_type, on_gpu=on_card, sliding=sliding) != "off"


def request_for(options: LoadOptions, target: Needs, draft: Needs | None, n_ctx: int | None = None) -> Request:
    """The request that a load with these options comes to.

    Args:
        options: as asked for.
        target: what it needs.
        draft: the same of its draft.
        n_ctx: the context, where it is settled; else what was asked for, or as much as is usual for the model.
    """
    return Request(
        target,
        draft,
        n_ctx or context_for(options, target),
        kv_type=options.kv_type,
        draft_kv_type=options.draft_kv_type,
        flash=flash_in(options, "target", target.sliding),
        draft_flash=draft is not None and flash_in(options, "draft", draft.sliding),
        card_flash=flash_in(options, "target", target.sliding, on_card=True),
        card_draft_flash=draft is not None and flash_in(options, "draft", draft.sliding, on_card=True),
        n_batch=batch_for(options, "target"),
        draft_batch=batch_for(options, "draft"),
        rows=ROWS["target"],
        draft_rows=ROWS["draft"],
        mapped=options.use_mmap and not options.use_mlock,
    )
