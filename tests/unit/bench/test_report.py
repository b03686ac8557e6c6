"""The figures of a benchmark, recomputed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from backend.bench.modes import baseline
from backend.bench.report import ALL, Ratio, divergences, ratio, summarise, table
from backend.bench.runner import Run
from backend.bench.workloads import Prompt
from backend.protocol import Timings


def run(
    mode: str,
    prompt: str = "p",
    *,
    category: str = "c",
    repeat: int = 0,
    n: int = 11,
    ms: float = 100.0,
    request_ms: float = 150.0,
    tokens: list[int] | None = None,
    margins: list[float | None] | None = None,
    text: str = "text",
    **counters: int,
) -> Run:
    tokens = list(range(n)) if tokens is None else tokens
    timings = Timings(predicted_n=n, predicted_ms=ms, request_ms=request_ms, **counters)
    return Run(
        mode, Prompt(prompt, category, "q"), repeat, 0, timings, text, tokens, margins or [1.0] * len(tokens), "length"
    )


def test_ratio_is_of_milliseconds_per_token_and_sums_before_it_divides() -> None:
    # 300 ms for 30 tokens against 100 ms for 20: 10 ms a token against 5
    found = ratio(np.array([[100.0, 10, 40.0, 10], [200.0, 20, 60.0, 10]]))
    assert found is not None
    assert found.value == pytest.approx(2.0)
    assert found.low <= found.value <= found.high
    # the draws can only be one cell twice, or both
    assert {round(found.low, 9), round(found.high, 9)} <= {round(10 / 4, 9), round(10 / 6, 9), 2.0}


def test_interval_is_a_point_when_every_pair_says_the_same() -> None:
    found = ratio(np.array([[100.0, 10, 50.0, 10]] * 6))
    assert found is not None
    assert (found.value, found.low, found.high) == (2.0, 2.0, 2.0)


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    hits = 0
    for trial in range(200):
        drift = rng.lognormal(0, 0.3, 40)  # slows both alike and must cancel out
        plain = 100 * drift * rng.lognormal(0, 0.05, 40)
        other = 80 * drift * rng.lognormal(0, 0.05, 40)
        found = ratio(np.column_stack([plain, np.full(40, 10), other, np.full(40, 10)]), samples=400, seed=trial)
        assert found is not None
        hits += found.low <= 1.25 <= found.high
        assert found.high - found.low < 0.15
    assert 175 <= hits <= 200


def test_no_tokens_no_ratio() -> None:
    assert ratio(np.array([[0.0, 0, 0.0, 0]])) is None


def test_rows_by_category_and_over_all() -> None:
    runs = [
        run("plain", "a", category="x", ms=100, request_ms=200),
        run("auto", "a", category="x", ms=50, request_ms=100, passes=5, draft_n=10, draft_n_accepted=6),
        run("plain", "b", category="y", ms=100, request_ms=200),
        run("auto", "b", category="y", ms=100, request_ms=300, passes=10),
    ]
    rows = {(r.category, r.mode): r for r in summarise(runs)}
    assert list(rows) == [(c, m) for c in ("x", "y", ALL) for m in ("plain", "auto")]
    auto = rows["x", "auto"]
    assert auto.tokens == 11
    assert auto.tokens_per_second == pytest.approx(200)
    assert auto.generation is not None
    assert auto.generation.value == pytest.approx(2.0)
    assert auto.request is not None
    assert auto.request.value == pytest.approx(2.0)
    assert (auto.acceptance, auto.tokens_per_pass) == (0.6, 2.0)
    assert (auto.equal, auto.compared) == (1, 1)
    total = rows[ALL, "auto"]
    assert total.generation is not None
    assert total.generation.value == pytest.approx(200 / 150)
    assert rows["x", "plain"].generation is None
    assert rows["y", "auto"].acceptance is None


def test_a_second_plain_mode_states_the_noise() -> None:
    assert baseline(["auto", "plain#2", "plain"]) == "plain#2"
    assert baseline(["auto"]) is None
    rows = summarise([run("plain"), run("plain#2", ms=102.0)])
    assert rows[1].generation is not None
    assert rows[1].generation.value == pytest.approx(100 / 102)


def test_pairs_are_of_the_same_prompt_and_repeat() -> None:
    runs = [
        run("plain", repeat=0, ms=100),
        run("plain", repeat=1, ms=400),
        run("auto", repeat=1, ms=200),  # the run was stopped before auto's first repeat
    ]
    auto = summarise(runs)[1]
    assert auto.generation is not None
    assert auto.generation.value == pytest.approx(2.0)
    assert auto.compared == 1


def test_first_difference_with_both_margins() -> None:
    plain = run("plain", tokens=[5, 6, 7, 8], margins=[9.0, 8.0, 0.02, 1.0])
    other = run("auto", tokens=[5, 6, 1, 2, 3], margins=[9.0, 8.0, 0.05, 4.0, 4.0])
    (found,) = divergences([plain, other])
    assert (found.index, found.plain_token, found.token) == (2, 7, 1)
    assert (found.margin_plain, found.margin, found.worst) == (0.02, 0.05, 0.05)
    row = summarise([plain, other])[1]
    assert (row.equal, row.compared, row.worst_margin) == (0, 1, 0.05)


def test_a_reply_that_ends_earlier_differs_where_it_ends() -> None:
    plain = run("plain", tokens=[5, 6, 7], margins=[1.0, 1.0, 0.3])
    (found,) = divergences([plain, run("auto", tokens=[5, 6], margins=[1.0, 1.0])])
    assert (found.index, found.plain_token, found.token, found.worst) == (2, 7, None, 0.3)


def test_a_peer_that_tells_no_tokens_is_compared_by_its_text() -> None:
    plain = run("plain", text="same text")
    assert divergences([plain, run("server", tokens=[], text="same text")]) == []
    (found,) = divergences([plain, run("server", tokens=[], text="same word")])
    assert (found.index, found.token, found.worst) == (5, None, None)


def test_table_has_a_line_for_each_row_and_a_gap_between_categories() -> None:
    runs = [run(mode, c, category=c) for c in ("x", "y") for mode in ("plain", "auto")]
    lines = table(summarise(runs))
    assert [line.split()[:2] for line in lines if line][1:] == [
        [c, m] for c in ("x", "y", ALL) for m in ("plain", "auto")
    ]
    assert lines.count("") == 2
    assert "1.000" in lines[2]
    assert "[" not in lines[2], "a single prompt has no interval"
    assert str(Ratio(1.1, 1.0, 1.2, prompts=2)) == "1.100 [1.000, 1.200]"
    assert str(Ratio(2.0, 2.0, 2.0, prompts=2)) == "2.000 [2.000, 2.000]", "prompts that agree have an interval"
    assert str(Ratio(1.1, 1.1, 1.1, prompts=1)) == "1.100"
