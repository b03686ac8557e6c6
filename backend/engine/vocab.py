"""A model's vocabulary: ids to bytes, text to ids, and whether two models can be paired."""

from __future__ import annotations

import ctypes
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import repeat
from typing import Any, NoReturn

import llama_cpp.llama_cpp as ll

from backend.errors import EngineError, ErrorCode
from backend.text import encode_text

MAX_SIZE_DIFFERENCE = 128
FIRST_CHECKED_ID = 5
"""llama.cpp's tolerances for a pair (common/speculative.cpp): families pad their vocabularies differently and name the
first few control tokens differently."""

_LONG = 16_384
"""Characters from which on a text may be read in pieces."""
_AT_ONCE = 500
"""Tokens found by their texts in one piece."""
_TYPES = {0: "none", 1: "SPM", 2: "BPE", 3: "WPM", 4: "UGM", 5: "RWKV", 6: "PLaMo-2", 7: "test"}
_INT32_MIN = -(2**31)


class Vocab:
    """The vocabulary of a loaded model.

    Args:
        model: ``llama_model *``; the caller keeps the model alive as long as this object is used.

    Raises:
        EngineError: MODEL_UNSUPPORTED when the model has no vocabulary.
    """

    def __init__(self, model: Any) -> None:
        self._ptr = ll.llama_model_get_vocab(model)
        self.n_vocab: int = ll.llama_vocab_n_tokens(self._ptr)
        self.type = int(ll.llama_vocab_type(self._ptr))
        if self.type == ll.LLAMA_VOCAB_TYPE_NONE or self.n_vocab <= 0:
            raise EngineError(
                ErrorCode.MODEL_UNSUPPORTED,
                "The file holds no vocabulary, so it cannot write text: choose a whole model.",
            )
        self.bos = _id_or_none(ll.llama_vocab_bos(self._ptr))
        self.eos = _id_or_none(ll.llama_vocab_eos(self._ptr))
        self.add_bos = bool(ll.llama_vocab_get_add_bos(self._ptr))
        self.add_eos = bool(ll.llama_vocab_get_add_eos(self._ptr))
        self._pieces: list[bytes | None] = [None] * self.n_vocab

    @property
    def type_name(self) -> str:
        """The tokenizer's kind, in llama.cpp's words (BPE, SPM, …)."""
        return _TYPES.get(self.type, f"type {self.type}")

    @cached_property
    def eog(self) -> frozenset[int]:
        """Every id that ends a generation."""
        is_eog = ll.llama_vocab_is_eog
        return frozenset(i for i in range(self.n_vocab) if is_eog(self._ptr, i))

    def is_control(self, token: int) -> bool:
        """True for ids that steer the model and have no text of their own (``<|im_start|>``, …)."""
        return bool(ll.llama_vocab_is_control(self._ptr, self._checked(token)))

    def piece(self, token: int, special: bool = False) -> bytes:
        """The bytes that a token adds to a reply.

        Args:
            token: id below n_vocab.
            special: give the text of control tokens too; otherwise they are empty.

        Raises:
            EngineError: BAD_TOKEN for an id outside the vocabulary.
        """
        if special:
            return self._render(self._checked(token), special=True)
        known = self._pieces[self._checked(token)]
        if known is None:
            known = self._pieces[token] = self._render(token, special=False)
        return known

    def text(self, token: int) -> str:
        """The token as the vocabulary spells it (``Ġthe``, ``▁the``, ``<|im_end|>``)."""
        raw: bytes = ll.llama_vocab_get_text(self._ptr, self._checked(token))
        return raw.decode("utf-8", "replace")

    def tokenize(self, text: str, parse_special: bool, add_special: bool = False) -> list[int]:
        """Ids of a text.

        Args:
            text: any text without lone surrogates.
            parse_special: read control tokens' texts as those tokens.
            add_special: add BOS and EOS as the model's settings say.

        Raises:
            EngineError: BAD_REQUEST for a lone surrogate or a text too long to be counted.
        """
        if len(text) <= _LONG or add_special:
            return self._tokenize(text, parse_special, add_special)
        parts = self._cut(text, parse_special)
        return [token for part in parts for token in self._tokenize(part, parse_special, False)]

    def _tokenize(self, text: str, parse_special: bool, add_special: bool) -> list[int]:
        data = encode_text(text)
        size = len(data) + 16  # more than a token a byte happens only with added prefixes
        for _ in range(2):
            buffer = (ll.llama_token * size)()
            n = ll.llama_tokenize(self._ptr, data, len(data), buffer, size, add_special, parse_special)
            if n >= 0:
                ids: list[int] = buffer[:n]
                return ids
            if n == _INT32_MIN:
                break
            size = -n
        raise EngineError(ErrorCode.BAD_REQUEST, "The text is too long to be read at all: shorten it.")

    def detokenize(self, ids: Iterable[int]) -> bytes:
        """The bytes of a reply made of these ids (control tokens are empty)."""
        return b"".join(map(self.piece, ids))

    def _cut(self, text: str, parse_special: bool) -> Iterator[str]:
        """A text in pieces that are read like the whole, cut behind tokens that are found by their texts.

        llama.cpp takes time with the square of their number: 14 s for half a megabyte of ``<|im_end|>``.
        """
        begin = found = 0
        for match in (self._special if parse_special else self._defined).finditer(text):
            found += 1
            # some tokens swallow the space after them
            if found >= _AT_ONCE and not text[match.end() : match.end() + 1].isspace():
                yield text[begin : match.end()]
                begin, found = match.end(), 0
        yield text[begin:]

    @cached_property
    def _special(self) -> re.Pattern[str]:
        return self._texts_with(ll.LLAMA_TOKEN_ATTR_CONTROL | ll.LLAMA_TOKEN_ATTR_USER_DEFINED)

    @cached_property
    def _defined(self) -> re.Pattern[str]:
        return self._texts_with(ll.LLAMA_TOKEN_ATTR_USER_DEFINED)

    def _texts_with(self, attributes: int) -> re.Pattern[str]:
        attribute = ll.llama_vocab_get_attr
        ids = (i for i in range(self.n_vocab) if attribute(self._ptr, i) & attributes)
        texts = sorted({text for i in ids if (text := self.text(i))}, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, texts)) or r"(?!)")

    @cached_property
    def digest(self) -> str:
        """SHA-256 over kind and token texts: equal where ids mean the same."""
        return hashlib.sha256(b"%d\0" % self.type + b"\0".join(self._texts())).hexdigest()

    @cached_property
    def space_prefix(self) -> bool:
        """True when the tokenizer puts a space before each text that it is given (older SentencePiece models)."""
        ids = self.tokenize("a", parse_special=False)
        return bool(ids) and self.detokenize(ids).startswith(b" ")

    def _texts(self) -> list[bytes]:
        return list(map(ll.llama_vocab_get_text, repeat(self._ptr, self.n_vocab), range(self.n_vocab)))

    def _checked(self, token: int) -> int:
        # llama.cpp aborts the process on an id outside the vocabulary.
        if not 0 <= token < self.n_vocab:
            raise EngineError(
                ErrorCode.BAD_TOKEN, f"Token id {token} is outside the vocabulary of {self.n_vocab}.", {"token": token}
            )
        return token

    def _render(self, token: int, special: bool) -> bytes:
        size = 64
        for _ in range(2):
            buffer = ctypes.create_string_buffer(size)
            n = ll.llama_token_to_piece(self._ptr, token, buffer, size, 0, special)
            if n >= 0:
                return buffer.raw[:n]
            size = -n
        raise EngineError(ErrorCode.BUG, f"The text of token {token} could not be read.", {"token": token})


def check_draft(target: Vocab, draft: Vocab) -> None:
    """Refuse a draft whose token ids mean something else than the target's, by llama.cpp's rule.

    The rule (common/speculative.cpp): same kind; same BOS and EOS settings; sizes at most 128 apart; the same text
    for every id from 5 on that both have.

    Raises:
        EngineError: DRAFT_INCOMPATIBLE naming the first check that fails, with both values.
    """
    if target.type != draft.type:
        _refuse("vocab_type", target.type_name, draft.type_name, "another kind of vocabulary")
    for name in ("bos", "eos"):
        t_add, d_add = getattr(target, f"add_{name}"), getattr(draft, f"add_{name}")
        if t_add != d_add:
            _refuse(f"add_{name}", t_add, d_add, f"another setting for adding {name.upper()}")
        t_id, d_id = getattr(target, name), getattr(draft, name)
        if t_add and t_id != d_id:
            _refuse(name, t_id, d_id, f"another {name.upper()} token id")
    if abs(target.n_vocab - draft.n_vocab) > MAX_SIZE_DIFFERENCE:
        reason = f"a vocabulary size more than {MAX_SIZE_DIFFERENCE} apart"
        _refuse("n_vocab", target.n_vocab, draft.n_vocab, reason)
    if target.n_vocab == draft.n_vocab and target.digest == draft.digest:
        return
    mine, theirs = target._texts(), draft._texts()
    for i in range(FIRST_CHECKED_ID, min(len(mine), len(theirs))):
        if mine[i] != theirs[i]:
            _refuse("token_text", target.text(i), draft.text(i), f"another text for token {i}", token=i)


def _refuse(check: str, target: Any, draft: Any, reason: str, **more: Any) -> NoReturn:
    raise EngineError(
        ErrorCode.DRAFT_INCOMPATIBLE,
        f"The draft does not fit the target: it has {reason} (target {target!r}, draft {draft!r})."
        " Choose a draft of the target's own family.",
        {"check": check, "target": target, "draft": draft, **more},
    )


def _id_or_none(token: int) -> int | None:
    return token if token >= 0 else None
