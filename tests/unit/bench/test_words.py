"""The one sentence that a benchmark comes to: it claims no more than was measured."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from backend.bench.report import summarise
from backend.bench.runner import Run
from backend.bench.words import lines, noise, verdict
from tests.unit.bench.test_report import run


def measured(auto: Sequence[float], again: Sequence[float] = (), mode: str = "auto", **fields: int) -> list[Run]:
    """Plain takes 100 ms for each prompt, the others what is given."""
    runs = []
    for n, ms in enumerate(auto):
        runs += [run("plain", str(n)), run(mode, str(n), ms=ms, **fields)]
        runs += [run("plain#2", str(n), ms=again[n])] if again else []
    return runs


@pytest.mark.parametrize(
    ("auto", "again", "said"),
    [
        ((80, 82, 81), (), "Speculation makes this pair 1.23 times as fast here (1.22 to 1.25)"),
        ((80,), (), "Speculation makes this pair 1.25 times as fast here (one prompt, so no interval)"),
        ((125, 120, 130), (), "Speculation makes this pair slower here: 0.80 times as fast (0.77 to 0.83)"),
        (
            (99, 99, 99),
            (),
            "Speculation makes no clear difference here: this pair is 1.01 times as fast (1.01 to 1.01)",
        ),
        ((99, 99, 99), (100, 100, 100), "Speculation makes this pair 1.01 times as fast here (1.01 to 1.01)"),
        ((90, 91, 92), (90, 90, 90), "Speculation makes no clear difference here: this pair is 1.10 times as fast"),
        (
            (80, 130, 90),
            (),
            "Speculation makes no clear difference here: this pair is 1.00 times as fast (0.77 to 1.25)",
        ),
    ],
)
def test_the_sentence(auto: Sequence[float], again: Sequence[float], said: str) -> None:
    found = verdict(summarise(measured(auto, again)), pair=True)
    assert found.startswith(said), found
    assert found.endswith(f"; texts are identical in {len(auto)} of {len(auto)}")


def test_it_is_of_all_categories_and_names_the_way_and_the_model() -> None:
    runs = [
        run("plain", "a", category="x"),
        run("fixed:4", "a", category="x", ms=50.0),
        run("plain", "b", category="y"),
        run("fixed:4", "b", category="y", ms=50.0, tokens=[1, 2]),
    ]
    assert verdict(summarise(runs), pair=False) == (
        "Speculation with 4 drafted a round makes this model 2.00 times as fast here (2.00 to 2.00); "
        "texts are identical in 1 of 2"
    )


def test_nothing_is_said_of_what_was_not_measured() -> None:
    assert verdict(summarise([run("plain")]), pair=True) == ""
    assert verdict(summarise([run("auto")]), pair=True) == "", "stopped before plain's reply"
    assert noise(summarise(measured([80]))) == ""
    short = [run("plain", n=1, ms=0.0), run("auto", n=1, ms=0.0)]
    assert "too short to measure a speed" in verdict(summarise(short), pair=True)


def test_the_noise_is_plains_second_measurement() -> None:
    said = noise(summarise(measured([80, 80], again=[98, 102])))
    assert said == "Plain decoding once more came out at 1.00 times its own speed (0.98 to 1.02): that much is noise."


def test_differences_stand_below_the_table_with_their_margins() -> None:
    runs = [run("plain", margins=[0.25] * 11), run("auto", tokens=[0, 9], margins=[0.5, 0.125])]
    text = "\n".join(lines(runs))
    assert "auto, p, repeat 1, at 1: plain 0.25, other 0.125" in text
    assert "0/1" in text
