"""The text stream against an oracle that sees the whole text at once."""

from __future__ import annotations

import codecs
import itertools
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backend.engine.text_stream import Released, TextStream
from backend.errors import EngineError
from backend.text import check_typed, harmless, one_line, short_line, shown_size, shown_sizes


def stream(pieces: list[bytes], stops: list[str]) -> tuple[list[Released[int]], TextStream[int], int]:
    """Feed until the text stops; also the number of tokens fed."""
    out = TextStream[int](stops)
    released = []
    for i, piece in enumerate(pieces):
        released.append(out.feed(piece, i))
        if out.stopped:
            return released, out, i + 1
    released.append(out.finish())
    return released, out, len(pieces)


def cut_at_stop(text: str, stops: list[str]) -> int | None:
    """Where the stop string begins that is complete first; of those that end together, the longest."""
    found = []
    for stop in stops:
        at = text.find(stop)  # the first match of one stop string is also the one that ends first
        if at >= 0:
            found.append((at + len(stop), at))
    return min(found)[1] if found else None


def could_become_a_stop(text: str, stops: list[str]) -> int:
    """Length of the longest suffix of ``text`` that is a proper prefix of a stop string."""
    return max((n for s in stops for n in range(1, len(s)) if text.endswith(s[:n])), default=0)


def check(pieces: list[bytes], stops: list[str]) -> None:
    released, out, fed = stream(pieces, stops)
    whole = b"".join(pieces).decode("utf-8", "replace")
    cut = cut_at_stop(whole, stops)
    expected = whole if cut is None else whole[:cut]
    assert "".join(r.text for r in released) == expected
    assert out.stopped == (cut is not None) == released[-1].stopped
    assert not any(r.stopped for r in released[:-1])
    tokens = [t for r in released for t in r.tokens]
    assert [payload for payload, _ in tokens] == list(range(len(tokens)))  # each once, in order
    for r in released:
        assert sum(n for _, n in r.tokens) == len(r.text.encode())
        assert all(n >= 0 for _, n in r.tokens)
    assert len(tokens) + sum(r.dropped for r in released) == fed
    data = b"".join(pieces)
    if whole.encode() == data:  # nothing was replaced: a token's count is its own bytes
        short = [(i, n) for i, n in tokens if n != len(pieces[i])]
        assert len(short) <= (cut is not None)
        assert out.kept == len(tokens) - len(short)
        if short:
            assert short[0][0] == len(tokens) - 1
        kept = b"".join(pieces[: out.kept])
        assert expected.encode().startswith(kept)
    # Nothing leaks early, nothing is held longer than the rule says.
    seen = ""
    for n, r in enumerate(released[:-1], 1):
        seen += r.text
        boundaries = [0]
        so_far = b"".join(pieces[:n])
        complete = incremental(so_far)
        limit = len(complete) - could_become_a_stop(complete, stops)
        for k in range(1, n + 1):
            head = b"".join(pieces[:k])
            if not unfinished(head) and len(incremental(head)) <= limit:
                boundaries.append(len(incremental(head)))
        if not r.stopped:
            assert len(seen) == boundaries[-1]


def unfinished(data: bytes) -> bool:

    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    return bool(decoder.getstate()[0])


def incremental(data: bytes) -> str:

    return codecs.getincrementaldecoder("utf-8")("replace").decode(data)


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({min(c, len(data)) for c in cuts} | {0, len(data)})
    return [data[a:b] for a, b in itertools.pairwise(edges)]


few = st.text(alphabet="ab\n😀語é", max_size=24)  # few characters, so that stop strings do occur
stop_lists = st.lists(st.text(alphabet="ab\n😀語", min_size=1, max_size=5), max_size=4)
cut_lists = st.lists(st.integers(0, 96), max_size=40)


@given(few, cut_lists, stop_lists)
@example("aab", [1, 2, 3], ["ab", "aab"])  # both end together: the longer one counts
@example("abab", [2], ["abb", "ab"])  # one is a prefix of the other
@example("aaab", [1, 2, 3], ["aab"])  # overlaps itself
@example("x😀", [1, 2, 3, 4], ["😀"])
def test_any_text_any_split_any_stops(text: str, cuts: list[int], stops: list[str]) -> None:
    check(split(text.encode(), cuts), stops)


@given(
    st.lists(st.sampled_from([b"\xf0", b"\x9f", b"\x98", b"\x80", b"\xed", b"\xa0", b"a", b"\xc3\xa9", b"", b"\xff"])),
    stop_lists,
)
@example([b"\x80"], [])
@example([b"a\xf0\x9f", b"b"], ["b"])
@example([b"\xf0\x9f", b"\x98"], ["\ufffd"])
def test_any_bytes(pieces: list[bytes], stops: list[str]) -> None:
    check(pieces, stops)


@given(st.text(max_size=30), cut_lists, st.lists(st.text(min_size=1, max_size=4), max_size=3))
def test_all_of_unicode(text: str, cuts: list[int], stops: list[str]) -> None:
    check(split(text.encode("utf-8", "replace"), cuts), stops)


@pytest.mark.parametrize("cuts", [[1, 2, 3], [1, 3], [2]])
def test_emoji_over_several_tokens_comes_out_once_and_whole(cuts: list[int]) -> None:
    pieces = split("😀".encode(), cuts)
    released, out, _ = stream(pieces, [])
    assert [r.text for r in released] == [""] * (len(pieces) - 1) + ["😀", ""]
    assert [n for _, n in released[-2].tokens] == [len(p) for p in pieces]
    assert out.kept == len(pieces)


def test_unfinished_character_at_the_end_becomes_one_replacement() -> None:
    released, out, _ = stream([b"ok", b"\xf0\x9f"], [])
    assert [r.text for r in released] == ["ok", "", "\ufffd"]
    assert released[-1].tokens == [(1, 3)]
    assert out.kept == 2


def test_stop_string_over_three_tokens_leaks_nothing() -> None:
    out = TextStream[str](["<|end|>"])
    assert out.feed(b"hi <", "a").text == ""
    assert out.feed(b"|en", "b").text == ""
    last = out.feed(b"d|>!", "c")
    assert last == Released("hi ", [("a", 3)], stopped=True, dropped=2)
    assert out.kept == 0  # "a" has one byte of the stop string
    with pytest.raises(ValueError, match="ended"):
        out.feed(b"x", "d")
    assert out.finish() == Released("", [], stopped=True)


def test_a_stop_string_that_does_not_come_is_text() -> None:
    released, out, _ = stream([b"a", b"<", b"/", b"b", b"</"], ["</s>"])
    assert [r.text for r in released] == ["a", "", "", "</b", "", "</"]
    assert out.kept == 5


def test_tokens_that_show_nothing_are_counted() -> None:
    released, out, _ = stream([b"", b"a", b""], [])
    assert [t for r in released for t in r.tokens] == [(0, 0), (1, 1), (2, 0)]
    assert out.kept == 3


def test_empty_stop_string_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        TextStream[int](["a", ""])


@pytest.mark.alone
def test_a_token_costs_microseconds() -> None:
    def cost(stops: list[str]) -> float:
        out = TextStream[int](stops)
        start = time.process_time()
        for i in range(20_000):
            out.feed(b" hello", i)
        return (time.process_time() - start) / 20_000

    assert min(cost([]) for _ in range(3)) < 10e-6
    assert min(cost(["</s>", "\n\nUser:"]) for _ in range(3)) < 20e-6
    # A stop string that keeps nearly matching must not make it quadratic.
    out = TextStream[int](["a" * 5000 + "b"])
    start = time.process_time()
    for i in range(20_000):
        out.feed(b"aaaa", i)
    assert (time.process_time() - start) / 20_000 < 200e-6


def test_nothing_that_a_terminal_is_shown_can_steer_it() -> None:
    every = "".join(map(chr, range(0x250))) + "語😀"
    shown = harmless(every)
    assert [c for c in shown if not c.isprintable() and not c.isspace()] == ["\xad"]  # a soft hyphen does nothing
    assert "\n" in shown
    assert shown.endswith(every[0xAE:])
    assert one_line("a\nb") == "a␊b"


def test_nothing_turns_the_direction_of_a_sentence_round() -> None:
    turning = "".join(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
    assert one_line(f"evil{turning}gnp.exe") == "evilgnp.exe"
    assert harmless("\u05d0\u05d1 \u0301") == "\u05d0\u05d1 \u0301"  # letters and marks of every script stay


def test_a_name_out_of_a_file_is_one_short_line() -> None:
    assert short_line("a\x1b[2Jb\nc\r\x07\0 \u202egnp\u2067\udc80") == "a[2Jb c gnp"
    assert short_line("Größe 語") == "Größe 語"
    assert short_line("x" * 120) == "x" * 120
    assert short_line("x" * 100_000) == "x" * 119 + "…"
    assert short_line("\x1b\0") == ""


def test_sizes_that_differ_do_not_read_alike() -> None:
    assert shown_sizes(3 * 10**9, 10**9) == ("3.0 GB", "1.0 GB")
    assert shown_sizes(1_210_000_000, 1_190_000_000) == ("1.21 GB", "1.19 GB")
    assert shown_sizes(1_200_000_300, 1_200_000_200) == ("1,200,000,300 bytes", "1,200,000,200 bytes")
    assert shown_sizes(10**9, 10**9) == ("1.0 GB", "1.0 GB")


def test_little_is_counted_in_bytes() -> None:
    assert [shown_size(n) for n in (0, 1, 999, 1000)] == ["0 bytes", "1 byte", "999 bytes", "1.0 KB"]


def test_bytes_that_are_no_characters_are_told_from_half_a_character() -> None:
    check_typed("grün 😀", "It")
    with pytest.raises(EngineError, match=r"It is not valid UTF-8 \(byte 0xED\)"):
        check_typed(b"a\xed".decode("utf-8", "surrogateescape"), "It")
    with pytest.raises(EngineError, match="half of a character"):
        check_typed("a\ud83d", "It")
