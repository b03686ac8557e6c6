"""Lines of Markdown: no text, however odd, takes the square of its length. Else these would run for minutes."""

from __future__ import annotations

import pytest

from desktop.widgets.markdown_lines import BREAK, RULE, broken
from desktop.widgets.markdown_split import split_blocks

MANY = 400_000


@pytest.mark.parametrize("piece", ["> ", ">", "a->b, ", "<think>", "> a"])
def test_a_line_of_many_signs(piece: str) -> None:
    line = piece * (MANY // len(piece))
    assert broken(f"{line}\nx").replace(BREAK, "\n").split() == [*line.split(), "x"]


@pytest.mark.parametrize("line", ["|-" + "\t" * MANY + "x", "|" + "-" * MANY + "x", "|-" * (MANY // 2) + "x"])
def test_a_line_that_is_almost_a_tables_rule(line: str) -> None:
    assert RULE.match(line) is None
    assert split_blocks(f"| a |\n{line}")


@pytest.mark.parametrize("line", ["---", "|---|", "| :-- | --: |", "|-|-", ":-:", "- | -", "|-\t|\t-|\t"])
def test_a_tables_rule(line: str) -> None:
    assert RULE.match(line)


@pytest.mark.parametrize("line", ["|", "||", "| - - |", "|-||-|", "a|-", "-|a", "::-"])
def test_no_tables_rule(line: str) -> None:
    assert RULE.match(line) is None
