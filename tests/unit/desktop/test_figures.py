"""Numbers as the window writes them."""

from __future__ import annotations

import pytest

from backend import wire
from backend.protocol import LoadProgress, PromptProgress, Speculation, State, Timings
from desktop.figures import MISSING, context, count, figures, footer, forecast_time, memory, speedup_text
from desktop.models.choices import ADD_FILE, MANAGE, draft_rows, target_rows
from desktop.models.titles import LONGEST, title_from
from desktop.status import detail, lead
from tests.gui.scripted import model

PAUSED = "drafts paused: they cost more (a draft step costs 0.37 of a pass)"


def reply() -> Timings:
    return Timings(
        predicted_n=11,
        predicted_ms=250.0,
        passes=4,
        draft_n=10,
        draft_n_accepted=8,
        plain_ms=46.0,
        baseline_ms=460.0,
        draft_ms=30.0,
        verify_ms=212.5,
    )


def test_a_reply_with_drafts() -> None:
    shown = figures(reply())
    assert (shown.rate, shown.speedup, shown.accepted) == ("40.0 tok/s", "≈ 1.84×", "80\N{NO-BREAK SPACE}% accepted")
    assert (shown.per_pass, shown.split) == (
        "2.5 tokens/pass",
        "draft 12\N{NO-BREAK SPACE}% verify 85\N{NO-BREAK SPACE}%",
    )


def test_nothing_is_shown_that_was_not_measured() -> None:
    assert set(vars_of(figures(None))) == {MISSING}
    assert set(vars_of(figures(Timings(predicted_n=1)))) == {MISSING}
    assert footer(Timings(predicted_n=1), None, []) == "1 token"
    assert footer(None, None, ["stopped"]) == "stopped"


def vars_of(shown: object) -> list[str]:
    return [getattr(shown, name) for name in ("rate", "speedup", "accepted", "per_pass", "split")]


def test_an_estimate_says_so_until_a_comparison_has_measured() -> None:
    assert speedup_text(1.84) == "≈ 1.84×"
    assert speedup_text(1.84, 1.79) == "= 1.79×"
    assert speedup_text(1.84, 0.0) == "≈ 1.84×"  # the comparison had too little to measure
    assert "= 1.79×" in footer(reply(), {"generation_ratio": 1.79}, [])


def test_after_a_comparison_all_figures_are_of_its_run() -> None:
    again = Timings(predicted_n=11, predicted_ms=500.0, passes=5, draft_n=10, draft_n_accepted=6)
    kept = {"generation_ratio": 1.25, "speculation": wire.dump(again)}
    assert footer(reply(), kept, []) == "20.0 tok/s · = 1.25× · 60\N{NO-BREAK SPACE}% accepted · 11 tokens"
    assert footer(reply(), kept | {"generation_ratio": 0.0}, []).startswith("40.0 tok/s · ≈ 1.84×")


def test_plain_replies_claim_no_speed_up() -> None:
    plain = Timings(predicted_n=11, predicted_ms=250.0, passes=10, plain_ms=25.0, baseline_ms=250.0)
    assert footer(plain, None, []) == "40.0 tok/s · 11 tokens"
    assert figures(plain).speedup == MISSING
    assert figures(plain, 1.79).speedup == "= 1.79×"


def test_counts_and_sizes() -> None:
    assert (count(1204), count(12_340)) == ("1,204", "12.3k")
    assert context(312, 8192) == "ctx 312/8,192"
    assert context(None, 8192) == context(312, None) == MISSING
    assert context(0, None) == MISSING
    assert memory(1_500_000_000, 25_300_000_000) == "1.5/25.3 GB"


def test_titles_are_first_words() -> None:
    assert title_from("  Explain\n`hash` tables ") == "Explain hash tables"
    assert title_from("word " * 40).endswith("…")
    assert len(title_from("word " * 40)) <= LONGEST + 1
    assert len(title_from("x" * 500)) <= LONGEST + 1
    assert title_from("```") == "New chat"


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("Engine stopped", {"mode": "lost"}),
        ("Starting engine…", {"mode": "starting"}),
        (
            "Loading target 62\N{NO-BREAK SPACE}%",
            {"mode": "loading", "progress": LoadProgress(phase="target", fraction=0.62)},
        ),
        ("Loading…", {"mode": "loading", "running": True}),
        ("Waiting for the reply…", {"mode": "loading", "state": State(phase="generating")}),
        ("Waiting for the reply…", {"mode": "loading", "state": State(phase="reading")}),
        ("Reading prompt 1,204/4,096", {"running": True, "reading": PromptProgress(1204, 4096, 0)}),
        ("Reading the prompt", {"running": True}),
        ("Reading the prompt", {"running": True, "state": State(target=model("t"), why=PAUSED)}),
        ("Writing", {"running": True, "timings": Timings(predicted_n=1)}),
        ("Drafting and verifying", {"running": True, "timings": reply()}),
        (
            "Drafts paused: they cost more",
            {"running": True, "timings": reply(), "state": State(target=model("t"), why=PAUSED)},
        ),
        ("Ready", {"state": State(target=model("t"), why=PAUSED)}),
        ("Ready", {"state": State(target=model("t"), why="drafting with the draft model")}),
        ("Ready. The last reply was written with drafts", {"timings": reply()}),
        (
            "Ready. The last reply was written plain (drafts paused: they cost more)",
            {"timings": Timings(predicted_n=9), "state": State(target=model("t"), why=PAUSED)},
        ),
        (
            "Ready. The last reply was written plain",
            {"timings": Timings(predicted_n=9), "state": State(target=model("t"), why="speculation is off")},
        ),
        ("Waiting for a model", {"running": True, "state": State()}),
        (
            "Writing plain: speculation is off",
            {
                "running": True,
                "timings": reply(),
                "state": State(target=model("t"), speculation=Speculation(enabled=False)),
            },
        ),
        ("No model loaded", {"state": State()}),
        ("Ready", {"state": State(target=model("t"), why="speculation is off")}),
    ],
)
def test_the_status_line_says_what_happens(words: str, arguments: dict[str, object]) -> None:
    values: dict[str, object] = {"mode": "up", "state": State(target=model("t")), "progress": None} | arguments
    assert lead(**values) == words  # type: ignore[arg-type]


def test_the_figures_behind_a_state_are_its_detail() -> None:
    assert detail("Drafts paused: they cost more", State(why=PAUSED)) == PAUSED[0].upper() + PAUSED[1:]
    assert detail("Ready. The last reply was written plain (drafts paused: they cost more)", State(why=PAUSED)) != ""
    assert detail("Reading prompt 1/2", State(why=PAUSED)) == ""
    assert detail("Ready", State()) == ""


def test_draft_rows_without_anything_that_fits() -> None:
    rows = draft_rows([], "t")
    assert [r.text for r in rows] == ["No draft model", "Automatic", "Prompt lookup", "None"]
    assert [r.value for r in target_rows([])] == ["", ADD_FILE, "", MANAGE]


@pytest.mark.parametrize(
    ("ms", "words"),
    [(0, "5 s"), (41_000, "40 s"), (58_000, "1 min"), (200_000, "3 min"), (4_800_000, "1 h 20 min")],
)
def test_a_forecast_is_no_more_exact_than_it_can_be(ms: float, words: str) -> None:
    assert forecast_time(ms) == words
