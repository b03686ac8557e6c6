"""Which draft fits which target: llama.cpp's rule, answered from the files before anything is loaded.

Source: ``common_speculative_are_compatible`` in llama.cpp's common/speculative.cpp. The vocabularies must be of one
type, agree on BOS and EOS, differ in length by at most 128, and hold equal texts from token 5 up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts, iter_tokens, unfit_kind
from backend.library.library import LibraryModel

MAX_SIZE_DIFFERENCE = 128
FIRST_COMPARED_TOKEN = 5

Check = Literal["kind", "vocab_type", "bos", "eos", "vocab_size", "token_text", "none"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a draft fits. ``check`` is the first check that failed, ``reason`` one sentence with both values."""

    ok: bool
    warning: str = ""
    reason: str = ""
    check: Check = "none"

    def error(self) -> EngineError:
        """The refusal as an error."""
        return EngineError(ErrorCode.DRAFT_INCOMPATIBLE, self.reason, {"check": self.check})


@dataclass(frozen=True, slots=True)
class DraftChoice:
    """A row of the draft list. ``pair_bytes`` = weights of both files (an estimate before loading), None if unknown."""

    model: LibraryModel
    fits: bool
    reason: str
    pair_bytes: int | None
    warning: str = ""

    @property
    def ready(self) -> bool:
        """Whether it fits, is here, and there is nothing to warn of."""
        return self.fits and self.model.installed and not self.warning


class Pairing:
    """Checks pairs and remembers the answers by vocabulary, so a list of many drafts is compared once."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], tuple[int, bytes, bytes] | None] = {}

    def check(self, target: GgufFacts, draft: GgufFacts) -> Verdict:
        """Can ``draft`` propose for ``target``?

        Raises:
            EngineError: what reading a file raises, if it changed since its facts were read.
        """
        for facts, role in ((target, "target"), (draft, "draft")):
            unfit = unfit_kind(facts)
            if unfit:
                return Verdict(False, reason=f"It cannot be the {role}: {unfit.message}", check="kind")
        failed = _vocabularies(target, draft) or self._token_texts(target, draft)
        return failed or Verdict(True, warning=_too_large(target, draft))

    def drafts_for(self, target: LibraryModel, models: Iterable[LibraryModel]) -> list[DraftChoice]:
        """Every model as a draft for ``target``: those that fit first, small before large, then by id.

        A model that is not downloaded yet is offered only if the catalogue lists it for this target; the target's own
        file is offered too (it fits, with a warning).
        """
        choices = [self._choice(target, m) for m in models if m.state != "available" or _listed(target, m)]
        return sorted(choices, key=lambda c: (not c.fits, not c.model.installed, c.model.size or 2**62, c.model.id))

    def _choice(self, target: LibraryModel, draft: LibraryModel) -> DraftChoice:
        pair = target.size + draft.size if target.size is not None and draft.size is not None else None
        if draft.problem:
            return DraftChoice(draft, False, draft.problem.message, pair)
        if draft.facts is None or target.facts is None:
            return self._by_catalogue(target, draft, pair)
        try:
            verdict = self.check(target.facts, draft.facts)
        except EngineError as error:
            return DraftChoice(draft, False, error.message, pair)
        return DraftChoice(draft, verdict.ok, verdict.reason, pair, verdict.warning)

    def _by_catalogue(self, target: LibraryModel, draft: LibraryModel, pair: int | None) -> DraftChoice:
        if _listed(target, draft):
            return DraftChoice(draft, True, "" if draft.installed else "It is not downloaded yet.", pair)
        return DraftChoice(
            draft, False, "The target is not downloaded yet; whether this fits is only known then.", pair
        )

    def _token_texts(self, target: GgufFacts, draft: GgufFacts) -> Verdict | None:
        if target.vocab_hash == draft.vocab_hash:
            return None
        key = (target.vocab_hash, draft.vocab_hash)
        if key not in self._texts:
            self._texts[key] = _first_difference(iter_tokens(target.files[0]), iter_tokens(draft.files[0]))
        difference = self._texts[key]
        if difference is None:
            return None
        token, ours, theirs = difference
        return Verdict(
            False,
            reason=f"The vocabularies differ at token {token}: {_shown(ours)} in the target, "
            f"{_shown(theirs)} in the draft.",
            check="token_text",
        )


def check_sizes(target: int, draft: int) -> Verdict:
    """What the lengths of two vocabularies alone say."""
    if abs(target - draft) <= MAX_SIZE_DIFFERENCE:
        return Verdict(True)
    what = f"vocabulary sizes (at most {MAX_SIZE_DIFFERENCE} apart allowed)"
    return _differ("vocab_size", what, f"{target:,} tokens", f"{draft:,}")


def check_pair(target: GgufFacts, draft: GgufFacts) -> Verdict:
    """:meth:`Pairing.check` for a single pair."""
    return Pairing().check(target, draft)


def drafts_for(target: LibraryModel, models: Iterable[LibraryModel]) -> list[DraftChoice]:
    """:meth:`Pairing.drafts_for` without memory of earlier answers."""
    return Pairing().drafts_for(target, models)


# ---------------------------------------------------------------------------------------------------------------------


def _listed(target: LibraryModel, draft: LibraryModel) -> bool:
    return target.entry is not None and draft.entry is not None and draft.entry.id in target.entry.drafts


def _vocabularies(target: GgufFacts, draft: GgufFacts) -> Verdict | None:
    """The checks that need no token texts; the first that fails."""
    if target.vocab_type != draft.vocab_type:
        return _differ("vocab_type", "tokenizer types", target.vocab_type, draft.vocab_type)
    if _special(target.add_bos, target.bos_id) != _special(draft.add_bos, draft.bos_id):
        ours, theirs = _special(target.add_bos, target.bos_id), _special(draft.add_bos, draft.bos_id)
        return _differ("bos", "tokens that begin a text (BOS)", ours, theirs)
    if _special(target.add_eos, target.eos_id) != _special(draft.add_eos, draft.eos_id):
        ours, theirs = _special(target.add_eos, target.eos_id), _special(draft.add_eos, draft.eos_id)
        return _differ("eos", "tokens that end a text (EOS)", ours, theirs)
    sizes = check_sizes(target.n_vocab, draft.n_vocab)
    return None if sizes.ok else sizes


def _special(added: bool, token: int | None) -> str:
    return f"added, id {token}" if added else "not added"


def _differ(check: Check, what: str, ours: str, theirs: str) -> Verdict:
    return Verdict(False, reason=f"The {what} differ: {ours} in the target, {theirs} in the draft.", check=check)


def _too_large(target: GgufFacts, draft: GgufFacts) -> str:
    if target.files == draft.files:
        return "This is the target itself: a useful self-test, but no speed-up."
    if draft.n_params >= target.n_params:
        return (
            f"The draft is not smaller than the target ({draft.n_params / 1e9:.2f} against "
            f"{target.n_params / 1e9:.2f} billion parameters): it fits, but will hardly pay."
        )
    return ""


def _first_difference(target: Iterator[bytes], draft: Iterator[bytes]) -> tuple[int, bytes, bytes] | None:
    pairs = zip(target, draft, strict=False)  # the shorter one ends it
    for token, (ours, theirs) in enumerate(islice(pairs, FIRST_COMPARED_TOKEN, None), FIRST_COMPARED_TOKEN):
        if ours != theirs:
            return token, ours, theirs
    return None


def _shown(text: bytes) -> str:
    shown = text.decode("utf-8", "replace")
    return repr(shown if len(shown) <= 40 else shown[:39] + "…")
