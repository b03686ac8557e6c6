"""Would this draft have said what the target said? Teacher-forcing over a reply that exists already.

The draft reads prompt and reply once, with a row at every token of the reply; where its top choice is the reply's next
token, it would have been accepted (greedily), whatever came before: a token is only ever drafted after the reply's own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from backend.engine.cancel import CancelFlag
from backend.engine.load import LoadedModel
from backend.engine.sequence import Sequence as TokenSequence
from backend.errors import EngineError, ErrorCode
from backend.protocol import Judged
from backend.speculation.calibration import BucketCounts
from backend.speculation.sources.draft_model import common_prefix
from backend.speculation.sources.lookup import HORIZON, Lookup


def judge(draft: LoadedModel, prompt: Sequence[int], reply: Sequence[int], n_vocab: int, flag: CancelFlag) -> Judged:
    """Which tokens of ``reply`` the draft would have proposed.

    Args:
        draft: its memory is used; what it holds of the prompt already is not read again.
        prompt: the rendered prompt, at least one token.
        reply: token ids, at least one.
        n_vocab: of the target; the draft proposes nothing beyond it.
        flag: stops it.

    Raises:
        EngineError: CONTEXT_FULL when both do not fit, CANCELLED.
    """
    context = draft.context
    if len(prompt) + len(reply) > context.n_ctx:
        raise EngineError(
            ErrorCode.CONTEXT_FULL,
            f"Prompt and reply are {len(prompt) + len(reply):,} tokens long; the draft's context holds "
            f"{context.n_ctx:,}.",
        )
    context.abort_on(flag)
    began = time.perf_counter()
    said = first_choices(context.sequence(), prompt, reply, n_vocab)
    hits = [choice == token for choice, token in zip(said, reply, strict=False)]
    hits += [False] * (len(reply) - len(hits))  # after a token that the draft does not have it sits out
    return Judged(
        draft=draft.info.id,
        hits="".join("1" if hit else "0" for hit in hits),
        copies=copies(prompt, reply),
        ms=1e3 * (time.perf_counter() - began),
    )


def first_choices(sequence: TokenSequence, prompt: Sequence[int], reply: Sequence[int], n_vocab: int) -> list[int]:
    """What a model would say at each token of ``reply``, up to the first token that it does not have.

    Args:
        sequence: what it holds of the prompt already is not read again.
        prompt: at least one token.
        reply: at least one.
        n_vocab: ids from here on are never said.
    """
    context = sequence.context
    width = min(n_vocab, context.n_vocab)
    known = next((i for i, token in enumerate([*prompt, *reply]) if token >= context.n_vocab), len(prompt) + len(reply))
    if known < len(prompt):
        return []
    try:
        held = sequence.keep(min(common_prefix(sequence.tokens, prompt), len(prompt) - 1))
        said = [int(sequence.read(prompt[held:])[-1][:width].argmax())]
        fed = reply[: max(0, min(len(reply) - 1, known - len(prompt)))]
        for i in range(0, len(fed), context.max_rows):
            rows = sequence.decode(fed[i : i + context.max_rows])
            said += [int(best) for best in np.argmax(rows[:, :width], axis=1)]
    except EngineError:
        sequence.clear()
        raise
    return said


def copies(prompt: Sequence[int], reply: Sequence[int]) -> list[int]:
    """At each token of the reply, how many tokens lookup would have copied right from there on."""
    lookup = Lookup(BucketCounts(), ())
    history = list(prompt)
    lookup.begin(history)
    found = []
    for i, token in enumerate(reply):
        found.append(common_prefix(lookup.propose(history, HORIZON, None).tokens, reply[i:]))
        history.append(token)
        lookup.observe(history, len(history) - 1, None, 0)
    return found
