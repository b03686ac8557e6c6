"""Token bytes in, displayable text out: complete characters only, and nothing of a stop string before it is certain.

Released pieces end at token boundaries, so every token is reported once, in the piece that holds all its text. A
token is held back while its last bytes are an unfinished character or could still grow into a stop string.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

Payload = TypeVar("Payload")


@dataclass(slots=True, frozen=True)
class Released(Generic[Payload]):
    """Text that is final, and the tokens it is made of.

    Attributes:
        text: complete characters; invalid bytes are U+FFFD.
        tokens: (payload, n_bytes) in order; the n_bytes add up to ``len(text.encode())``. Where invalid bytes were
            replaced, or a stop string cut the token short, n_bytes counts what is in the text.
        stopped: a stop string was found; it and everything after it is left out.
        dropped: tokens fed that lie wholly after the cut.
    """

    text: str
    tokens: list[tuple[Payload, int]]
    stopped: bool = False
    dropped: int = 0


class _Matcher:
    """Follows one stop string through the text (Knuth, Morris, Pratt)."""

    __slots__ = ("_fallback", "_stop", "length", "matched")

    def __init__(self, stop: str) -> None:
        self._stop = stop
        self.length = len(stop)
        self.matched = 0
        """Length of the longest suffix of the text that is a prefix of the stop string."""
        self._fallback = [0] * (len(stop) + 1)
        for i in range(1, len(stop)):
            k = self._fallback[i]
            while k and stop[k] != stop[i]:
                k = self._fallback[k]
            self._fallback[i + 1] = k + 1 if stop[k] == stop[i] else 0

    def advance(self, text: str) -> int | None:
        """Read ``text``; the number of its characters up to the end of the first match, or None."""
        stop, k = self._stop, self.matched
        if k == 0 and stop[0] not in text:
            return None
        for i, char in enumerate(text):
            while k and stop[k] != char:
                k = self._fallback[k]
            if stop[k] == char:
                k += 1
                if k == self.length:
                    return i + 1
        self.matched = k
        return None


class _Held(NamedTuple, Generic[Payload]):
    payload: Payload
    end_byte: int
    """Bytes of text up to this token's end; unfinished bytes count as themselves."""
    end_char: int | None
    """Characters of text up to this token's end; None when it ends inside a character."""


class TextStream(Generic[Payload]):
    """Turns a reply's tokens into text, one token at a time.

    Of several stop strings the one that is complete first counts (the longest of those that end together), so the
    text does not depend on how it was cut into tokens.

    Args:
        stops: non-empty strings that end the reply; they are not part of it.
    """

    def __init__(self, stops: Sequence[str] = ()) -> None:
        if not all(stops):
            raise ValueError("a stop string must not be empty")
        self._matchers = [_Matcher(stop) for stop in dict.fromkeys(stops)]
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._held: deque[_Held[Payload]] = deque()
        self._released_bytes = self._released_chars = 0
        self._decoded_bytes = 0
        self._stopped = False
        self._kept = 0

    @property
    def kept(self) -> int:
        """Tokens all of whose bytes are in the released text."""
        return self._kept

    @property
    def stopped(self) -> bool:
        """A stop string was found; nothing more may be fed."""
        return self._stopped

    def feed(self, data: bytes, payload: Payload) -> Released[Payload]:
        """Add one token.

        Args:
            data: its bytes (empty for a token that shows nothing).
            payload: handed back with the text.

        Raises:
            ValueError: after a stop string was found.
        """
        if self._stopped:
            raise ValueError("the text has ended at a stop string")
        if not self._held and not self._matchers and (whole := _characters(data)) is not None:
            size = len(data)
            self._decoded_bytes += size
            self._released_bytes += size
            self._released_chars += len(whole)
            self._kept += 1
            return Released(whole, [(payload, size)])
        text = self._decoder.decode(data)
        unfinished = len(self._decoder.getstate()[0])
        start = self._released_chars + len(self._text)
        self._text += text
        self._count(text)
        clean = None if unfinished else start + len(text)
        self._held.append(_Held(payload, self._decoded_bytes + unfinished, clean))
        cut = self._find_stop(text, start)
        if cut is not None:
            return self._stop_at(cut)
        return self._release(start + len(text) - max((m.matched for m in self._matchers), default=0))

    def finish(self) -> Released[Payload]:
        """Release what was held back: a possible stop string that never came, and an unfinished character (U+FFFD)."""
        if self._stopped:
            return Released("", [], stopped=True)
        text = self._decoder.decode(b"", final=True)
        start = self._released_chars + len(self._text)
        self._text += text
        self._count(text)
        cut = self._find_stop(text, start)
        if cut is not None:
            return self._stop_at(cut)
        end = start + len(text)
        if self._held:
            self._held[-1] = _Held(self._held[-1].payload, self._decoded_bytes, end)
        return self._release(end)

    def _count(self, text: str) -> int:
        size = len(text) if text.isascii() else len(text.encode())
        self._decoded_bytes += size
        return size

    def _find_stop(self, text: str, start: int) -> int | None:
        """Position in the whole text where the stop string begins that is complete first, or None."""
        found = [(end, -m.length) for m in self._matchers if (end := m.advance(text)) is not None]
        if not found:
            return None
        end, negative_length = min(found)
        return start + end + negative_length

    def _release(self, limit: int) -> Released[Payload]:
        """Release whole tokens that end at a character boundary, up to ``limit`` characters of the whole text."""
        count = char = 0
        for i, held in enumerate(self._held, 1):
            if held.end_char is None:
                continue
            if held.end_char > limit:
                break
            count, char = i, held.end_char
        if not count:
            return Released("", [])
        tokens = []
        for _ in range(count):
            held = self._held.popleft()
            tokens.append((held.payload, held.end_byte - self._released_bytes))
            self._released_bytes = held.end_byte
        size = char - self._released_chars
        text, self._text = self._text[:size], self._text[size:]
        self._released_chars = char
        self._kept += count
        return Released(text, tokens)

    def _stop_at(self, cut: int) -> Released[Payload]:
        """End the text before character ``cut`` of the whole text."""
        self._stopped = True
        text = self._text[: cut - self._released_chars]
        end = self._released_bytes + len(text.encode())
        tokens = []
        dropped = 0
        for held in self._held:
            if held.end_byte > end and self._released_bytes == end:
                dropped += 1
                continue
            visible = min(held.end_byte, end)
            tokens.append((held.payload, visible - self._released_bytes))
            self._released_bytes = visible
            self._kept += held.end_byte <= end
        self._released_chars = cut
        self._text = ""
        self._held.clear()
        return Released(text, tokens, stopped=True, dropped=dropped)


def _characters(data: bytes) -> str | None:
    """The text, where it is whole and valid, as that of most tokens is."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
