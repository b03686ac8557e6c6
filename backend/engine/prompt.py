"""From a rendered conversation to token ids: nobody but the template may place control tokens, replies keep their ids.

A message that contains ``<|im_end|>`` must not end its turn. So the parts of the rendered text that the template wrote
are told apart from those that people wrote: the conversation is rendered a second time with a random marker in place
of each text, and what stands around the markers is the template's. Where a text came through unchanged or trimmed it
is found again; where the template rewrote it (``None`` from :func:`find_parts`), control tokens in it are broken up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from backend.engine.vocab import Vocab
from backend.errors import EngineError, ErrorCode

_GUARD = "\ue3a7"
"""A private-use character that no vocabulary has and that therefore never merges with its neighbours."""
_TAG_TOKENS = 12
"""At the end of a prompt, that surely hold a tag and what follows it."""


@dataclass(slots=True, frozen=True)
class Turn:
    """One message as the template sees it; ``ids`` are the token ids of its content when they are known to be its."""

    role: str
    content: str
    reasoning: str | None = None
    ids: tuple[int, ...] | None = None

    def fields(self) -> dict[str, str]:
        """The message object handed to the template."""
        message = {"role": self.role, "content": self.content}
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        return message


@dataclass(slots=True, frozen=True)
class Part:
    """A stretch of the rendered text: the template's own, or (``foreign``) a message's, perhaps with known ids."""

    text: str
    foreign: bool = False
    ids: tuple[int, ...] | None = None


def find_parts(
    rendered: str, turns: Sequence[Turn], render: Callable[[Sequence[Turn]], str], nonce: str
) -> list[Part] | None:
    """Split a rendered text into the template's parts and the messages'.

    Args:
        rendered: the conversation as rendered.
        turns: the messages in it.
        render: renders other messages the same way.
        nonce: random letters and digits, which no message can have guessed.

    Returns:
        Parts that add up to ``rendered``, or None when the template changes, repeats or reorders the messages' texts.
    """
    marked: list[Turn] = []
    slots: dict[str, Part] = {}

    def mark(text: str | None, ids: tuple[int, ...] | None = None) -> str | None:
        if not text:
            return text  # templates ask whether there is a text at all
        marker = f"\ue000{nonce}.{len(slots)}\ue001"
        slots[marker] = Part(text, foreign=True, ids=ids)
        return marker

    for turn in turns:
        reasoning = mark(turn.reasoning)
        marked.append(replace(turn, reasoning=reasoning, content=mark(turn.content, turn.ids) or ""))
    skeleton = render(marked)
    present = sorted((skeleton.find(marker), marker) for marker in slots if marker in skeleton)
    if any(skeleton.count(marker) > 1 for _, marker in present):
        return None
    own: list[str] = []
    rest = skeleton
    for _, marker in present:
        before, _, rest = rest.partition(marker)
        own.append(before)
    own.append(rest)
    return _align(rendered, own, [slots[marker] for _, marker in present])


def _align(rendered: str, own: Sequence[str], foreign: Sequence[Part]) -> list[Part] | None:
    """Check that the template's parts and the messages' texts, each whole or trimmed, make up the rendered text."""
    if not rendered.startswith(own[0]):
        return None
    parts, at = [Part(own[0])], len(own[0])
    for part, after in zip(foreign, own[1:], strict=True):
        for text in _variants(part.text):
            end = at + len(text)
            if rendered.startswith(text, at) and rendered.startswith(after, end):
                ids = part.ids if text == part.text else None
                parts += [replace(part, text=text, ids=ids), Part(after)]
                at = end + len(after)
                break
        else:
            return None
    return parts if at == len(rendered) else None


def _variants(text: str) -> Iterator[str]:
    """What templates make of a message: all of it, trimmed, or a reply without its thoughts."""
    yield text
    yield text.strip()
    yield text.rstrip()
    yield text.lstrip()
    if "</think>" in text:
        answer = text.split("</think>")[-1]
        yield answer.lstrip("\n")
        yield answer.strip()


def tokenize_parts(vocab: Vocab, parts: Sequence[Part]) -> list[int]:
    """Ids of a rendered conversation; only the template's own parts are read for control tokens."""
    ids: list[int] = []
    run: list[Part] = []
    for part in parts:
        if part.ids is None:
            run.append(part)
        else:
            ids += _tokenize_run(vocab, run, ids)
            ids += part.ids
            run = []
    return ids + _tokenize_run(vocab, run, ids)


def _tokenize_run(vocab: Vocab, run: Sequence[Part], before: Sequence[int]) -> list[int]:
    """Read adjoining parts in one piece, so that tokens form across their seams.

    Where that would let a message place control tokens, they are read one by one.
    """
    whole = _tokenize_after(vocab, "".join(p.text for p in run), before, parse_special=True)
    if not any(p.foreign for p in run):
        return whole
    allowed = [i for p in run if not p.foreign for i in _controls(vocab, vocab.tokenize(p.text, parse_special=True))]
    if _controls(vocab, whole) == allowed:
        return whole
    ids: list[int] = []
    for p in run:
        ids += _tokenize_after(vocab, p.text, [*before[-1:], *ids[-1:]], parse_special=not p.foreign)
    return ids


def _tokenize_after(vocab: Vocab, text: str, before: Sequence[int], parse_special: bool) -> list[int]:
    """Read a text that follows other tokens, without the space that older SentencePiece models put before a text."""
    if not text:
        return []
    if not before or vocab.is_control(before[-1]):
        return vocab.tokenize(text, parse_special)
    return tokenize_bare(vocab, text, parse_special)


def tokenize_bare(vocab: Vocab, text: str, parse_special: bool = False) -> list[int]:
    """Exactly this text: without the space that older SentencePiece models put before a text."""
    if not vocab.space_prefix:
        return vocab.tokenize(text, parse_special)
    guard = vocab.tokenize(_GUARD, parse_special=False)
    ids = vocab.tokenize(_GUARD + text, parse_special)
    return ids[len(guard) :] if ids[: len(guard)] == guard else vocab.tokenize(text, parse_special)


def _controls(vocab: Vocab, ids: Sequence[int]) -> list[int]:
    control = {i for i in set(ids) if vocab.is_control(i)}
    return [i for i in ids if i in control]


def neutralize(vocab: Vocab, text: str) -> str:
    """The text with a space put into each control token's text (``<|im_end|>`` becomes ``< |im_end|>``).

    Used only where the template rewrites messages, so that what it wrote and what they say cannot be told apart.

    Raises:
        EngineError: BAD_REQUEST when that does not help.
    """
    for _ in range(8):
        control = _controls(vocab, vocab.tokenize(text, parse_special=True))
        found = {vocab.piece(i, special=True).decode("utf-8", "replace") for i in control}
        if not found:
            return text
        for special in sorted(found, key=len, reverse=True):
            text = text.replace(special, f"{special[0]} {special[1:]}" if len(special) > 1 else "")
    raise EngineError(
        ErrorCode.BAD_REQUEST,
        f"A message holds the text of a control token ({special!r}) that this model's chat template cannot carry"
        " as plain text: remove it.",
    )


def opens_thinking(vocab: Vocab, ids: Sequence[int]) -> bool:
    """Whether a prompt ends in an opening ``<think>``, as some templates write it: the reply is inside from the first.

    The tag is one token or a few, and line breaks may follow it.
    """
    end = b"".join(vocab.piece(i, special=True) for i in ids[-_TAG_TOKENS:])
    return end.decode("utf-8", "replace").rstrip().endswith("<think>")


def own_ids(vocab: Vocab, content: str, ids: Sequence[int] | None, tokenizer: str | None) -> tuple[int, ...] | None:
    """The ids that a reply was made of, if they are of this vocabulary and spell exactly its text.

    Bytes that are no character stand in a text as U+FFFD. Control tokens have no bytes, so ids that hold some would
    spell the same text: they are not accepted.
    """
    known = _known(vocab, ids, tokenizer)
    if not known or holds_controls(vocab, ids, tokenizer):
        return None
    return tuple(known) if vocab.detokenize(known).decode("utf-8", "replace") == content else None


def holds_controls(vocab: Vocab, ids: Sequence[int] | None, tokenizer: str | None) -> bool:
    """Whether control tokens are among a reply's ids, which its text does not show."""
    return any(vocab.is_control(i) for i in set(_known(vocab, ids, tokenizer)))


def _known(vocab: Vocab, ids: Sequence[int] | None, tokenizer: str | None) -> Sequence[int]:
    """The ids, if they are of this vocabulary; else none."""
    return ids if ids and tokenizer == vocab.digest and all(0 <= i < vocab.n_vocab for i in ids) else ()
