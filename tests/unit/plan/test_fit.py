"""What finds room on a machine, as the models window and ``tandem models list`` say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend import cli_plan
from backend.library.library import Library
from backend.plan.fit import fits, has_room
from backend.plan.machine import machine

GB = 10**9


def test_what_fits_depends_on_all_that_is_free(tandem_home: Path) -> None:
    model = Library().find("qwen2.5-coder-7b")
    assert fits(model, machine(8 * GB)) is True
    assert fits(model, machine(4 * GB)) is False, "it would be read from disk"
    assert fits(model, machine(4 * GB, [6 * GB])) is True
    assert has_room(None, machine(8 * GB)) is None


@pytest.mark.parametrize(
    ("libraries", "asked"),
    [
        (("libggml-base.so", "libggml-cpu-haswell.so", "libllama.so"), False),
        (("ggml-base.dll", "ggml-cpu.dll", "ggml-vulkan.dll"), True),
        ((), True),
    ],
)
def test_the_engine_is_asked_for_cards_where_it_could_see_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, libraries: tuple[str, ...], asked: bool
) -> None:
    for name in libraries:
        (tmp_path / name).touch()
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    assert cli_plan._may_see_cards() is asked
