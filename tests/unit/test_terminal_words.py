"""What the terminal says of a comparison and of a load."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from backend import cli_session
from backend.cli_demo import conclusion, duration
from backend.cli_figures import difference_line
from backend.protocol import ONLY_SINGLE, CostTable, Difference, LoadProgress, State
from backend.server.rig import _log_llama, _titled
from tests.gui.scripted import model


def test_a_difference_says_what_it_comes_from() -> None:
    assert difference_line(None) == "identical"
    found = Difference(11, 1, " a", 2, " b", 0.01, 0.02, "A near-tie: the first choice led by 0.01.")
    line = difference_line(found)
    assert line.startswith("first difference at token 12: ' a' without, ' b' with speculation. A near-tie")


def ended(edit: float, explain: float, story: float) -> str:
    return conclusion({"edit": edit, "explain": explain, "story": story})


def test_the_demonstration_ends_with_what_was_measured() -> None:
    gained = ended(2.1, 1.2, 0.97)
    assert gained.startswith("An edit repeats its input")
    assert "slower" not in gained
    assert "gained little" in ended(1.02, 1.0, 0.97)
    both = ended(2.1, 1.0, 0.852)
    assert both.startswith(gained), "one reply that came out slower takes nothing from what the edit shows"
    assert "The story came out slower (0.85×): " in both
    assert ended(0.51, 1.0, 1.0).startswith("The edit came out slower (0.51×): ")


@pytest.mark.parametrize(
    ("ms", "said"), [(50.0, ", about 30 seconds"), (1.0, ", about 5 seconds"), (300.0, ", about 3 minutes")]
)
def test_the_demonstration_says_how_long_it_takes(ms: float, said: str) -> None:
    assert duration(State(cost=CostTable(target={1: ms})), 96) == said
    assert duration(State(), 96) == ""


def test_a_percentage_never_falls_within_a_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with cli_session._Progress() as progress:
        for phase, fraction in (("target", 0.4), ("target", 0.1), ("draft", 0.2)):
            progress.show(LoadProgress(phase=phase, fraction=fraction))  # type: ignore[arg-type]
    assert [line.strip()[-4:].strip() for line in screen.getvalue().split("\r")[1:4]] == ["40%", "40%", "20%"]


def test_strict_says_what_it_comes_to() -> None:
    assert "up to 4 tokens" in cli_session._strict_note(4, "")
    assert ONLY_SINGLE in cli_session._strict_note(1, ONLY_SINGLE)
    other = "no memory is set aside for rolling back"
    assert cli_session._strict_note(1, other) == f"Strict: nothing is drafted: {other}."


def test_a_stopped_reply_is_no_error_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        for text in (
            "graph_compute: ggml_backend_sched_graph_compute_async failed with error 1\n",
            "process_ubatch: failed to compute graph, compute status: 1\n",
            "llama_decode: failed to decode, ret = 2\n",
        ):
            _log_llama("error", text)
        _log_llama("error", "llama_decode: failed to decode, ret = -3\n")
    assert [record.getMessage() for record in caplog.records] == ["llama_decode: failed to decode, ret = -3"]


def test_a_catalogue_model_has_the_catalogues_name() -> None:
    info = model("qwen2.5-coder-0.5b").model_copy(update={"name": "Instruct GGUF"})
    published = Path("qwen2.5-coder-0.5b-instruct-q4_k_m.gguf")
    assert _titled(info, published).name == "Qwen2.5-Coder 0.5B Instruct"
    assert _titled(info, Path("another.gguf")).name == "Instruct GGUF"
    assert _titled(info.model_copy(update={"id": "mine"}), published).name == "Instruct GGUF"


def test_plots_write_nothing_into_the_persons_home(tandem_home: Path, tmp_path: Path) -> None:
    code = "import backend.bench.plots, matplotlib; print(matplotlib.get_configdir(), matplotlib.get_cachedir())"
    kept = {name: value for name, value in os.environ.items() if name != "MPLCONFIGDIR"}
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | {"HOME": str(tmp_path), "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(tandem_home / "matplotlib")] * 2
    assert not (tmp_path / ".config").exists()
    assert not (tmp_path / ".cache").exists()
