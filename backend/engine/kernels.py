"""Which of ggml's matrix kernels serve passes of a few tokens on a processor (docs/adr/0008).

llamafile's add up in another order than ggml's own, so a token's logits depend on how many tokens were decoded with
it. The engine is built so that it can be told from which number of tokens on they serve (``installers/kernels.py``).
"""

from __future__ import annotations

import ctypes

from backend.engine import native
from backend.equations import LONGEST

USUAL = 2
"""llama.cpp's own: all but one-token passes."""
EXACT = LONGEST + 2
"""No pass that checks a draft is so large; prompts are."""


def _find() -> ctypes.c_int64 | None:
    try:
        return native.variable("tandem_llamafile_from", ctypes.c_int64)  # type: ignore[no-any-return]
    except AttributeError:
        return None  # a wheel that was built elsewhere


_from = _find()


def can_choose() -> bool:
    """Whether this engine can be told."""
    return _from is not None


def serve(exact: bool) -> None:
    """Use llamafile's kernels for prompts only (``exact``) or as usual, from the next pass on, for all models."""
    if _from is not None:
        _from.value = EXACT if exact else USUAL
