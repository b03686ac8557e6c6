"""The tests that ``docs/cases.md`` names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CASES = TESTS.parent / "docs" / "cases.md"
ROWS = [line.split("|")[1:-1] for line in CASES.read_text("utf-8").splitlines() if re.match(r"\| ([A-Z]\d+|–) ", line)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_what_covers_it_is_there(row: list[str]) -> None:
    file = ""
    for path, name in re.findall(r"`((?:\w+/)*\w+\.py)?(?:::(\w+))?`", row[3]):
        file = path or file
        root = TESTS.parent if file.startswith("backend/") else TESTS
        source = (root / file).read_text("utf-8")
        assert not name or re.search(rf"^ *(async )?def {name}\b", source, re.MULTILINE), f"{file} has no {name}"


def test_every_case_is_there_once() -> None:
    cases = [(row[0].strip(), row[1].strip()) for row in ROWS]
    assert len(cases) == len(set(cases)) > 100
    assert all(len(row) == 4 and row[3].strip() for row in ROWS)
