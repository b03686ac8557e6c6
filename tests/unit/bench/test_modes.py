"""Names of modes."""

from __future__ import annotations

import pytest

from backend.bench.modes import parse_modes
from backend.errors import EngineError, ErrorCode
from backend.protocol import Speculation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", Speculation(enabled=False)),
        ("plain#2", Speculation(enabled=False)),
        ("auto", Speculation()),
        ("fixed:4", Speculation(source="draft", length=4)),
        ("draft", Speculation(source="draft")),
        ("lookup:8", Speculation(source="lookup", length=8)),
        ("lookup+draft", Speculation(source="lookup+draft")),
        ("rejection", Speculation(rule="rejection")),
        ("fixed:4@rejection#b", Speculation(source="draft", length=4, rule="rejection")),
    ],
)
def test_one_mode(text: str, expected: Speculation) -> None:
    (mode,) = parse_modes(text, has_draft=True)
    assert mode.speculation == expected
    assert mode.name == text
    assert mode.speculation.enabled is not text.startswith("plain")


def test_fixed_without_a_draft_model_copies_from_the_conversation() -> None:
    (mode,) = parse_modes("fixed:4", has_draft=False)
    assert mode.speculation.source == "lookup"


def test_rule_of_the_command_line_is_the_default() -> None:
    modes = parse_modes("auto, auto@coupled", has_draft=True, rule="rejection")
    assert [m.speculation.rule for m in modes] == ["rejection", "coupled"]


@pytest.mark.parametrize(
    ("text", "has_draft", "part"),
    [
        ("", True, "No mode"),
        ("plain,plain", True, "plain#2"),
        ("fast", True, "'fast'"),
        ("foo", True, "draft:N, lookup:N, lookup+draft:N, fixed:N and rejection; @coupled or @rejection"),
        ("fixed", True, "fixed:4"),
        ("fixed:0", True, "from 1 to 48"),
        ("fixed:49", True, "from 1 to 48"),
        ("plain:2", True, "neither"),
        ("auto@greedy", True, "greedy"),
        ("draft", False, "--draft"),
    ],
)
def test_wrong_modes_get_one_sentence(text: str, has_draft: bool, part: str) -> None:
    with pytest.raises(EngineError) as caught:
        parse_modes(text, has_draft=has_draft)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert part in caught.value.message
