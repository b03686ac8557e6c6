"""The report as a page: it holds the figures, needs nothing from elsewhere, and shows texts as texts."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from backend.bench.html import page
from backend.bench.plots import tallies
from backend.bench.sweep import best_fixed
from tests.unit.bench.test_report import run

BINS = tuple((10, 10 * (i + 0.5) / 10, i) for i in range(10))
FACTS = {"Target": "<b>T</b>", "Threads": 2}


def runs() -> list:
    out = []
    for repeat in range(2):
        for prompt in ("a", "b"):
            out.append(run("plain", prompt, category=prompt, repeat=repeat, ms=100, passes=10))
            fast = run(
                "auto", prompt, category=prompt, repeat=repeat, ms=50, passes=5, draft_n=8, draft_n_accepted=6,
                rounds_mismatch=2, tokens=[9, 8],
            )  # fmt: skip
            fast.reliability = {"draft": BINS}
            out += [fast, run("draft:4", prompt, category=prompt, repeat=repeat, ms=80)]
    return out


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href")]

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(text: str) -> Tags:
    parser = Tags()
    parser.feed(text)
    return parser


def test_the_page_holds_figures_plots_and_nothing_from_elsewhere() -> None:
    measured = runs()
    found = parsed(page(measured, FACTS, {1: 50.0, 4: 90.0}, best_fixed(measured, ["draft:4"])))
    assert found.tags.count("svg") == 5
    assert "script" not in found.tags
    assert all(link.startswith("#") for link in found.links), found.links
    for words in ("2.000 [2.000, 2.000]", "predicted acceptance", "tokens in a pass", "verify", "k = 8", "draft:4"):
        assert words in found.text, words
    assert "<b>T</b>" in found.text, "names are text, not markup"


def test_a_run_of_plain_alone_has_a_page_too() -> None:
    found = parsed(page([run("plain")], {}, {}))
    assert found.tags.count("svg") == 1
    assert "all texts are equal" in found.text


def test_tallies_add_up() -> None:
    total = tallies(runs())["draft"]
    assert total[3] == (40, pytest.approx(4 * 10 * 0.35), 12)
