"""The ``tandem`` command as a person runs it: a process, its output, its exit code.

The worker and the models are real. Where what a model says does not matter, tiny ones with random weights answer: they
load in moments.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.terminal import PATIENCE, ROOT, Done, environment, posix_only, start, tandem
from tests.tiny import tiny_llama
from tests.tiny_recurrent import tiny_nemotron


def record(done: Done) -> dict[str, Any]:
    assert done.code == 0, done.err
    value = json.loads(done.out)
    assert isinstance(value, dict)
    return value


# ---------------------------------------------------------------------------------------------------------------------
# starting


def test_the_command_is_there_before_anything_heavy_is_imported() -> None:
    code = (
        "import sys, backend.cli\n"
        "heavy = {'pydantic', 'numpy', 'llama_cpp', 'huggingface_hub', 'httpx2', 'yaml', 'asyncio', 'PySide6'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_terminal_never_loads_the_engine_itself() -> None:
    code = (
        "import sys, backend.cli_chat, backend.cli_loop, backend.cli_bench, backend.cli_demo, backend.cli_doctor\n"
        "import backend.cli_plan\n"
        "sys.exit('llama_cpp' in sys.modules or 'backend.engine' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], env=environment(), cwd=ROOT, check=False).returncode == 0


def test_help_names_every_command() -> None:
    done = tandem("--help")
    assert done.code == 0
    assert all(f"  {name} " in done.out for name in ("chat", "bench", "tune", "plan", "demo", "models", "doctor"))


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["nosuch"], "'nosuch'"),
        (["chat", "--temperature", "-1", "hi"], "must be from 0 (greedy) to 100, but is -1"),
        (["chat", "--temperature", "nan", "hi"], "but is nan"),
        (["chat", "--seed", "x", "hi"], "not a whole number"),
        (["chat", "--draft-length", "99", "hi"], "from 0 to 48"),
        (["chat", "--rule", "greedy", "hi"], "coupled"),
        (["bench"], "--prompts"),
        (["models", "add", ""], "an empty name"),
        (["chat", "Why", "is", "the", "sky"], "put the prompt in quotes; see 'tandem chat --help'"),
        (["models", "list", "--nosuch"], "unrecognized arguments: --nosuch; see 'tandem models --help'"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(args: list[str], part: str) -> None:
    done = tandem(*args)
    assert done.code == 2
    assert part in done.sentence
    assert "--help" in done.sentence


@posix_only
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS always has a display")
def test_without_a_command_and_without_a_display_it_says_what_works() -> None:
    env = dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"), "")
    done = tandem(env=env)
    assert done.code == 1
    assert "tandem chat" in done.sentence


@posix_only
def test_the_windows_language_goes_to_the_window_only(tmp_path: Path) -> None:
    """The window's refusal of one that is not there is what answers."""
    python = "import sys; from PySide6.QtCore import QTimer; from desktop.views.refusal import Refusal"
    soon = "show = Refusal.show; Refusal.show = lambda self: (show(self), QTimer.singleShot(0, self.accept))"
    (tmp_path / "sitecustomize.py").write_text(f"{python}\n{soon}\n")
    env = {"QT_QPA_PLATFORM": "offscreen", "TANDEM_HOME": str(tmp_path), "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = tandem("--language", "tlh", env=env)
    assert done.code == 1
    assert "no translation “tlh”" in done.err
    done = tandem("--language", "de", "models", "list")
    assert done.code == 1
    assert "--language is the window's" in done.sentence


# ---------------------------------------------------------------------------------------------------------------------
# one reply


def test_a_reply_goes_to_stdout_and_its_figures_to_stderr(smollm2: Path) -> None:
    done = tandem("chat", "--target", smollm2, "--temperature", "0", "--max-tokens", "8", stdin=b"What is rain?\n")
    assert done.code == 0
    assert len(done.out.strip()) > 8
    loading, figures = done.err.splitlines()
    assert loading == f"tandem: Loading {smollm2.stem.lower()}…", "a log shows what takes its time"
    assert re.match(r"8 tokens · [\d.]+ tok/s · ", figures)


def test_json_holds_the_reply_and_everything_to_reproduce_it(smollm2: Path) -> None:
    asked = ("chat", "--target", smollm2, "--draft", "lookup", "--seed", "11", "--max-tokens", "8", "--json", "Say hi")
    first, again = record(tandem(*asked)), record(tandem(*asked, "--speculation", "off"))
    assert first["seed"] == 11
    assert first["finish_reason"] in ("length", "stop")
    assert first["timings"]["predicted_n"] >= len(first["ids"]) > 0
    assert first["draft"] is None
    assert again["speculation"]["enabled"] is False
    if first["timings"]["draft_n"] == 0:  # nothing was proposed: not even a rounding can differ
        assert again["text"] == first["text"]


def test_more_context_than_the_model_knows_is_said(files: Path) -> None:
    done = tandem("chat", "--target", files / "good.gguf", "--context", "2048", "--max-tokens", "2", "--json", "x")
    assert done.code == 0
    assert "was trained on 1,024 tokens" in done.sentence


@pytest.mark.parametrize("temperature", ["0", "1e-4", "2"])
def test_temperatures_that_are_odd_but_fine(files: Path, temperature: str) -> None:
    done = record(
        tandem(
            "chat", "--target", files / "good.gguf", "--temperature", temperature, "--max-tokens", "4", "--json", "x"
        )
    )
    assert done["sampling"]["temperature"] == float(temperature)
    assert done["timings"]["predicted_n"] >= 1


def test_a_draft_drafts_and_one_as_large_as_the_target_is_allowed_with_a_warning(files: Path) -> None:
    done = tandem(
        *("chat", "--target", files / "good.gguf", "--draft", files / "large.gguf", "--temperature", "0"),
        *("--draft-length", "3", "--max-tokens", "6", "--json", "x"),
    )
    assert "not smaller than the target" in done.sentence
    reply = record(done)
    assert (reply["target"], reply["draft"]) == ("good", "large")
    assert reply["timings"]["draft_n"] > 0


def test_two_files_of_one_name_are_two_models(files: Path, tmp_path: Path) -> None:
    twin = tiny_llama(tmp_path / "good.gguf", n_layer=1)
    reply = record(tandem("chat", "--target", files / "good.gguf", "--draft", twin, "--max-tokens", "2", "--json", "x"))
    assert (reply["target"], reply["draft"]) == ("good", "good-2")


def test_a_state_that_can_be_rolled_back_only_so_far_is_said_with_what_that_takes(tmp_path: Path) -> None:
    target = tiny_nemotron(tmp_path / "hybrid.gguf")
    done = tandem("chat", "--target", target, "--draft", target, "--max-tokens", "4", "--json", "x")
    assert record(done)
    assert "Note: this model's state can be rolled back by 16 tokens only; the snapshots for it take 0.3 MB" in done.err


@pytest.mark.parametrize(
    ("target", "draft", "part"),
    [
        ("none.gguf", None, "There is no file"),
        (".", None, "is a folder"),
        ("short.gguf", None, "short.gguf"),
        ("text.gguf", None, "text.gguf"),
        ("mmproj.gguf", None, "mmproj.gguf"),
        ("good.gguf", "none.gguf", "There is no file"),
        ("good.gguf", "short.gguf", "short.gguf"),
        ("good.gguf", "mmproj.gguf", "mmproj.gguf"),
        ("good.gguf", "eagle.gguf", "eagle.gguf"),
        ("good.gguf", "swapped.gguf", "differ at token 20"),
        ("good.gguf", "other.gguf", "differ"),
    ],
)
def test_a_wrong_file_is_one_sentence(files: Path, target: str, draft: str | None, part: str) -> None:
    drafted = ["--draft", files / draft] if draft else []
    done = tandem("chat", "--target", files / target, *drafted, "hi")
    assert done.code == 1
    assert done.out == ""
    assert part in done.sentence


def test_an_unknown_id_names_near_ones() -> None:
    done = tandem("chat", "--target", "qwen2.5-coder-1.5", "hi")
    assert done.code == 1
    assert "did you mean qwen2.5-coder-1.5b" in done.sentence


def test_without_the_starter_models_the_command_that_gets_them_is_named(tmp_path: Path) -> None:
    env = {"TANDEM_MODELS_DIR": str(tmp_path / "models"), "HF_HUB_CACHE": str(tmp_path / "hub")}
    for command in (["chat", "hi"], ["demo"]):
        done = tandem(*command, env=env)
        assert done.code == 1
        assert "tandem models get starter" in done.sentence


def test_a_prompt_that_does_not_fit_says_by_how_much(files: Path) -> None:
    done = tandem("chat", "--target", files / "good.gguf", "--context", "256", stdin=b"word " * 400)
    assert done.code == 1
    loading, sentence = done.err.splitlines()
    assert "Loading good" in loading
    assert re.search(r"[\d,]+ more than fit", sentence)


@pytest.mark.parametrize(
    ("args", "stdin", "part"),
    [
        ([""], b"", "empty"),
        ([" \n "], b"", "empty"),
        ([], b"", "empty"),
        ([], b"a\xff", "not valid UTF-8 (byte 1)"),
        (["--json"], b"", "empty"),
    ],
)
def test_a_prompt_that_is_no_prompt_is_one_sentence(args: list[str], stdin: bytes, part: str) -> None:
    done = tandem("chat", *args, stdin=stdin)
    assert done.code == 1
    assert part in done.sentence


@posix_only
def test_bytes_on_the_command_line_that_are_no_text_are_one_sentence() -> None:
    done = tandem("chat", b"a\xed\xa0\x80b", env={"PYTHONUTF8": "1"})
    assert done.code == 1
    assert "not valid UTF-8 (byte 0xED)" in done.sentence


@pytest.mark.parametrize(
    ("args", "env", "part"),
    [
        (["chat", "--target", "~nobody-here/x.gguf", "hi"], {}, "write the path out"),
        (["plan", "--target", "~nobody-here/x.gguf"], {}, "write the path out"),
        (["models", "add", "~nobody-here/x.gguf"], {}, "write the path out"),
        (["models", "requantize", "~nobody-here/x.gguf", "Q8_0"], {}, "write the path out"),
        (["models", "list"], {"TANDEM_HOME": "~nobody-here"}, "write the path out"),
        (["models", "list"], {"HF_HUB_CACHE": "~nobody-here"}, "write the path out"),
        (["bench", "--prompts", "/dev/zero", "--target", "good.gguf"], {}, "hardly a prompt file"),
        (["bench", "--prompts", "{p}", "--target", "{good}", "--modes", f"fixed:{'9' * 5000}"], {}, "a length is from"),
        (["bench", "--prompts", "{p}", "--target", "{good}", "--peer", "x=http://127.0.0.1:99999"], {}, "NAME=URL"),
    ],
)
def test_what_nobody_knows_is_one_sentence(
    files: Path, tmp_path: Path, args: list[str], env: dict[str, str], part: str
) -> None:
    (prompts := tmp_path / "p.jsonl").write_text('{"prompt": "hi"}')
    done = tandem(*(each.format(p=prompts, good=files / "good.gguf") for each in args), env=env)
    assert done.code == 1
    assert part in done.sentence


def test_an_unwritable_data_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = tandem("chat", "--target", "smollm2", "hi", env={"TANDEM_HOME": str(tmp_path / "file" / "home")})
    assert done.code == 1
    assert "cannot be written" in done.sentence


# ---------------------------------------------------------------------------------------------------------------------
# stopping


@posix_only
def test_ctrl_c_stops_the_reply_and_keeps_what_was_said(files: Path) -> None:
    process = start("chat", "--target", files / "good.gguf", "--temperature", "3", "--seed", "1", "tell me")
    assert process.stdout is not None
    assert process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    line = err.decode().strip()
    assert process.returncode in (0, 130), err  # 0: the random model had ended by itself
    assert "Traceback" not in line
    assert line.endswith("stopped") is (process.returncode == 130)
    assert out
