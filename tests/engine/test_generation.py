"""Ends inside accepted blocks: end tokens, stop strings and limits cut text, ids, caches and counters alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.engine.vocab import Vocab
from tests import tiny
from tests.engine.scripted import PROMPT, Said, run_script
from tests.vocabularies import open_vocab

BLOCK = 8


@pytest.fixture(scope="module")
def vocab(tiny_dir: Path) -> Iterator[Vocab]:
    with open_vocab(tiny.tiny_llama(tiny_dir / "generation.gguf")) as vocab:
        yield vocab


def ids_of(vocab: Vocab, text: str) -> list[int]:
    return vocab.tokenize(text, parse_special=False)


def agree(vocab: Vocab, said: Said) -> None:
    """Text, ids, both caches and the counters tell one story (E4, E6)."""
    timings, end = said.timings, said.end
    assert sum(t.n_bytes for t in said.tokens) == len(said.text.encode())
    assert timings.predicted_n == len(said.tokens), "usage is what was delivered"
    assert timings.predicted_n + timings.discarded == (
        timings.draft_n_accepted + timings.corrections + timings.bonuses + timings.plain
    )
    assert said.text.encode().startswith(vocab.detokenize(end.ids))
    kept = said.history[len(PROMPT) :]
    assert kept[: len(end.ids)] == list(end.ids)
    assert len(kept) - len(end.ids) in (0, 1)  # an end token is in the history, but not in the text's ids
    assert said.target.tokens == said.history[: said.target.length]
    assert said.draft.tokens == said.history[: said.draft.length]


@pytest.mark.parametrize("at", range(2 * BLOCK + 3))
@pytest.mark.parametrize("enabled", [True, False], ids=["on", "off"])
def test_end_of_generation_at_each_place_of_a_block(vocab: Vocab, at: int, enabled: bool) -> None:
    """Also where the draft goes on proposing beyond it (E1)."""
    letters = ids_of(vocab, "abcdefghijklmnopqrstuvwxyz")
    eog = next(iter(sorted(vocab.eog)))
    script = [*letters[:at], eog, *letters[at:]]
    said = run_script(vocab, script, length=BLOCK, enabled=enabled)
    agree(vocab, said)
    assert said.text == "abcdefghijklmnopqrstuvwxyz"[:at]
    assert said.end.reason == "stop"
    assert said.end.ids == tuple(letters[:at])
    assert said.timings.predicted_n == at + 1


def test_an_end_token_that_only_the_draft_wants_ends_only_the_draft(vocab: Vocab) -> None:
    """The target rejects it and goes on (E2)."""
    letters = ids_of(vocab, "abcdefghij")
    eog = min(vocab.eog)
    said = run_script(vocab, [*letters, eog], [*letters[:4], eog, *letters[5:], eog], length=BLOCK)
    agree(vocab, said)
    assert said.text == "abcdefghij"
    assert said.timings.corrections == 1


def test_every_end_token_counts_not_only_the_first(vocab: Vocab) -> None:
    assert len(vocab.eog) > 1
    for eog in vocab.eog:
        said = run_script(vocab, [*ids_of(vocab, "abc"), eog, *ids_of(vocab, "def")])
        assert (said.text, said.end.reason) == ("abc", "stop")


def test_stop_before_limit_inside_one_block(vocab: Vocab) -> None:
    """A block [a, b, STOP, c, d, e] with five tokens allowed: [a, b], reason stop, and nothing after it (E3)."""
    script = ids_of(vocab, "xab!cde")
    for stop in (("!",), ()):
        if not stop:
            script[3] = min(vocab.eog)
        said = run_script(vocab, script, max_tokens=6, stop=stop, length=BLOCK)
        agree(vocab, said)
        assert said.text == "xab"
        assert said.end.reason == "stop"


@pytest.mark.parametrize("limit", range(1, 2 * BLOCK + 3))
def test_max_tokens_is_exact_in_and_between_blocks(vocab: Vocab, limit: int) -> None:
    text = "abcdefghijklmnopqrstuvwxyz"
    said = run_script(vocab, ids_of(vocab, text), max_tokens=limit, length=BLOCK)
    agree(vocab, said)
    assert said.text == text[:limit]
    assert said.end.reason == "length"
    assert said.timings.predicted_n == len(said.end.ids) == limit


@pytest.mark.parametrize("at", range(2 * BLOCK))
@pytest.mark.parametrize("stop", ["!", "?!", "END.", "aaab"])
def test_stop_strings_anywhere_in_and_across_blocks(vocab: Vocab, at: int, stop: str) -> None:
    """Found wherever rounds cut the text, with nothing of them shown before (E5, E7)."""
    before = "abcdefghijklmnopqrstuvwxyz"[:at]
    said = run_script(vocab, ids_of(vocab, before + stop + "zzzzzzzzzz"), stop=(stop,), length=BLOCK)
    agree(vocab, said)
    assert said.text == before
    assert said.end.reason == "stop"
    assert said.history[len(PROMPT) :] == ids_of(vocab, before), "nothing after the stop string stays in memory"


def test_a_stop_string_that_never_comes_is_released_at_the_end(vocab: Vocab) -> None:
    said = run_script(vocab, [*ids_of(vocab, "ab EN"), min(vocab.eog)], stop=("END.",), length=3)
    agree(vocab, said)
    assert said.text == "ab EN"
    assert "".join(said.pieces[:1]) in "ab EN"


def test_a_token_cut_by_a_stop_string_is_shown_in_part_and_kept_out_of_memory(vocab: Vocab) -> None:
    the = ids_of(vocab, " the")
    assert len(the) == 1
    said = run_script(vocab, [*ids_of(vocab, "ab"), *the, *ids_of(vocab, "cd")], stop=("he",), length=BLOCK)
    agree(vocab, said)
    assert said.text == "ab t"
    assert said.end.ids == tuple(ids_of(vocab, "ab"))


@pytest.mark.parametrize("wrong_at", range(1, 9))
def test_characters_split_over_tokens_with_a_rejection_between(vocab: Vocab, wrong_at: int) -> None:
    """Four bytes of an emoji are four tokens here; the draft is wrong in the middle of it (E10, E11)."""
    text = "a🦊🗼é語b"
    script = [*ids_of(vocab, text), min(vocab.eog)]
    drafted = list(script)
    drafted[wrong_at] = 280
    said = run_script(vocab, script, drafted, length=4)
    agree(vocab, said)
    assert said.text == text
    assert "\ufffd" not in "".join(said.pieces)


def test_each_emoji_is_shown_as_soon_as_it_is_complete(vocab: Vocab) -> None:
    script = [*ids_of(vocab, "🦊🗼🦊"), min(vocab.eog)]
    said = run_script(vocab, script, enabled=False)
    assert [p for p in said.pieces if p] == ["🦊", "🗼", "🦊"]


def test_an_unfinished_character_at_the_limit_is_one_replacement(vocab: Vocab) -> None:
    said = run_script(vocab, ids_of(vocab, "a🦊"), max_tokens=3, length=BLOCK)
    agree_bytes = sum(t.n_bytes for t in said.tokens)
    assert said.text == "a\ufffd"
    assert agree_bytes == len(said.text.encode())
    assert said.end.reason == "length"


@settings(max_examples=200)
@given(
    st.text(alphabet="ab!?é🦊 ", min_size=1, max_size=30),
    st.lists(st.integers(0, 40), max_size=6),
    st.lists(st.sampled_from(["!", "?!", "ab", "é!", "🦊b"]), max_size=2),
    st.integers(1, 40),
    st.integers(1, 9),
)
def test_blocks_say_what_single_tokens_say(
    text: str, wrong: list[int], stop: list[str], limit: int, length: int
) -> None:
    """Whatever is accepted, rejected or cut where: the same reply as token by token."""
    vocab = test_blocks_say_what_single_tokens_say.vocab  # type: ignore[attr-defined]
    script = [*ids_of(vocab, text), min(vocab.eog)]
    drafted = [280 if i in wrong else token for i, token in enumerate(script)]
    plain = run_script(vocab, script, max_tokens=limit, stop=stop, enabled=False)
    blocks = run_script(vocab, script, drafted, max_tokens=limit, stop=stop, length=length)
    agree(vocab, blocks) if "\ufffd" not in blocks.text else None
    assert blocks.text == plain.text
    assert blocks.end.ids == plain.end.ids
    assert blocks.end.reason == plain.end.reason
    assert blocks.timings.predicted_n == plain.timings.predicted_n
    assert blocks.history == plain.history


@pytest.fixture(autouse=True)
def _hand_over(vocab: Vocab) -> None:
    # hypothesis wants no function-scoped fixtures as arguments; the vocabulary is the module's
    test_blocks_say_what_single_tokens_say.vocab = vocab  # type: ignore[attr-defined]
