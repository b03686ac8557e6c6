"""The ``tandem`` command as a person runs it: a process, its output, its exit code.

The worker and the models are real. Where what a model says does not matter, tiny ones with random weights answer: they
load in moments.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.terminal import COMMAND, PATIENCE, ROOT, Done, environment, start, tandem
from tests.tiny import tiny_eagle, tiny_gemma3, tiny_llama, tiny_mmproj
from tests.tiny_recurrent import tiny_nemotron

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and terminals")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small model files, good and bad."""
    folder = tmp_path_factory.mktemp("models")
    good = tiny_llama(folder / "good.gguf", n_ctx=1024)
    tiny_llama(folder / "draft.gguf", n_layer=1)
    tiny_llama(folder / "large.gguf", n_layer=3)
    tiny_llama(folder / "swapped.gguf", swap_token=(20, 21))
    tiny_gemma3(folder / "other.gguf")
    tiny_mmproj(folder / "mmproj.gguf")
    tiny_eagle(folder / "eagle.gguf")
    (folder / "short.gguf").write_bytes(good.read_bytes()[:-4096])
    (folder / "text.gguf").write_text("this is not a model" * 100)
    return folder


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


def test_an_unwritable_data_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = tandem("chat", "--target", "smollm2", "hi", env={"TANDEM_HOME": str(tmp_path / "file" / "home")})
    assert done.code == 1
    assert "cannot be written" in done.sentence


# ---------------------------------------------------------------------------------------------------------------------
# stopping, and the conversation


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


class Terminal:
    """A command in a pseudo-terminal."""

    def __init__(self, *args: str | Path) -> None:
        import pty

        pid, self._fd = pty.fork()
        if pid == 0:
            os.chdir(ROOT)
            os.execvpe(sys.executable, [*COMMAND, *map(str, args)], environment(TERM="dumb"))
        self._pid = pid
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a read may end inside a character
        self.seen = ""

    def send(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def expect(self, pattern: str) -> str:
        """Wait for ``pattern``; what came up to its end is taken away and returned."""
        until = time.monotonic() + PATIENCE
        while (match := re.search(pattern, self.seen)) is None:
            assert time.monotonic() < until, f"{pattern!r} did not come in:\n{self.seen}"
            if select.select([self._fd], [], [], 0.2)[0]:
                try:
                    self.seen += self._decoder.decode(os.read(self._fd, 65536))
                except OSError:
                    pytest.fail(f"ended before {pattern!r} came:\n{self.seen}")
        text, self.seen = self.seen[: match.end()], self.seen[match.end() :]
        return text

    def end(self, again: str = "") -> int:
        """Wait for the end; the exit code. ``again`` is pressed every five seconds, as a person would."""
        until = time.monotonic() + PATIENCE
        press = time.monotonic() + 5
        while time.monotonic() < until:
            if again and time.monotonic() > press:
                self.send(again)
                press += 5
            done, status = os.waitpid(self._pid, os.WNOHANG)
            if done:
                os.close(self._fd)
                return os.waitstatus_to_exitcode(status)
            if select.select([self._fd], [], [], 0.1)[0]:
                try:
                    os.read(self._fd, 65536)
                except OSError:
                    time.sleep(0.05)
        os.kill(self._pid, signal.SIGKILL)
        pytest.fail("the program does not end")


@pytest.fixture
def conversation(files: Path) -> Iterator[Terminal]:
    if os.name != "posix":
        pytest.skip("needs a POSIX terminal")
    terminal = Terminal(
        *("chat", "--target", files / "good.gguf", "--draft", files / "draft.gguf"),
        *("--temperature", "1", "--seed", "5", "--max-tokens", "900"),
    )
    terminal.expect("answers, .* drafts")
    terminal.expect("› ")
    yield terminal
    terminal.send("/quit\n")
    assert terminal.end() == 0


@posix_only
def test_a_conversation_with_every_command(conversation: Terminal) -> None:
    t = conversation
    for line, answer in [
        ("/help", "/speculation on|off".replace("|", r"\|")),
        ("/stats", "no reply yet"),
        ("/nosuch", "not a command"),
        ("/seed 7", "Seed 7"),
        ("/seed x", r"\^63"),
        ("/speculation off", "Speculation is off"),
        ("/speculation maybe", "on or"),
        ("/draft nosuch-model", "No model is called"),
        ("/draft some/file.gguf", "models add"),
        ("/draft lookup", "speculation is off"),  # what was switched off stays off
        ("/speculation on", "Speculation is on"),
        ("/draft lookup", "prompt lookup drafts"),
        ("/draft draft", "tiny llama drafts"),
        ("/draft none", "speculation is off"),
        ("/draft draft", "tiny llama drafts"),
        ("/new", "new conversation"),
    ]:
        t.send(line + "\n")
        t.expect(answer)
        t.expect("› ")
    t.send("hello\n")
    t.expect(r"\d+ tokens · ")
    t.expect("› ")
    t.send("/stats\n")
    assert "0 kept from before" in t.expect("seed +7")
    t.expect("› ")


@posix_only
def test_the_next_question_finds_the_last_answer_still_in_memory(smollm2: Path) -> None:
    t = Terminal("chat", "--target", smollm2, "--temperature", "0", "--max-tokens", "12")
    figures = []
    for question in ("What is rain?", "And snow?"):
        t.expect("› ")
        t.send(question + "\n")
        t.expect(r"12 tokens · ")
        t.expect("› ")
        t.send("/stats\n")
        found = re.search(r"prompt +(\d+) tokens in .* ms, (\d+) kept", t.expect("seed +"))
        assert found is not None
        figures.append((int(found[1]), int(found[2])))
    (first, nothing), (_, kept) = figures
    assert nothing == 0
    assert kept >= first + 11  # the question and its answer, but for the token that was never decoded
    t.send("/quit\n")
    assert t.end() == 0


@posix_only
def test_ctrl_c_at_the_prompt_leaves(files: Path) -> None:
    terminal = Terminal("chat", "--target", files / "good.gguf")
    terminal.expect("› ")
    terminal.send("\x03")
    # Python's readline waits for ever if the signal comes between the prompt and its select(): the next one is heard
    assert terminal.end(again="\x03") == 0


@posix_only
def test_ctrl_c_in_a_reply_comes_back_to_the_prompt(smollm2: Path) -> None:
    terminal = Terminal("chat", "--target", smollm2, "--temperature", "0")
    terminal.expect("› ")
    terminal.send("Write a very long story about the sea and all its ships.\n")
    terminal.expect(r"(\w+ ){8}\w+.*\n?.*(\w+ ){4}")
    terminal.send("\x03")
    terminal.expect("stopped")
    terminal.expect("› ")
    terminal.send("/quit\n")
    assert terminal.end() == 0


# ---------------------------------------------------------------------------------------------------------------------
# bench, demo, doctor


def test_bench_measures_modes_side_by_side(files: Path, tmp_path: Path) -> None:
    prompts, out = tmp_path / "p.jsonl", tmp_path / "out.json"
    prompts.write_text('{"id": "a", "category": "x", "turns": ["hello", "no"]}\n{"id": "b", "prompt": "again again"}\n')
    done = tandem(
        *("bench", "--target", files / "good.gguf", "--draft", files / "draft.gguf", "--prompts", prompts),
        *("--max-tokens", "6", "--modes", "plain,plain#2,auto,fixed:3", "--repeats", "2", "--ignore-eos"),
        *("--json", out),
    )
    assert done.code == 0, done.err
    report = json.loads(out.read_text("utf-8"))
    runs = report["runs"]
    assert len(runs) == 4 * 2 * 2
    assert "tandem: 16 replies; the table follows at the end." in done.err.splitlines()
    assert {r["predicted_n"] for r in runs} == {6}
    assert all(r["prompt_n"] > 5 for r in runs)  # read anew each time
    plain = {(r["prompt_id"], r["repeat"]): r for r in runs if r["mode"] == "plain"}
    for r in runs:
        if r["mode"] == "plain#2":  # the same passes over the same tokens
            assert r["tokens"] == plain[r["prompt_id"], r["repeat"]]["tokens"]
    assert all(r["passes"] == 5 and r["draft_n"] == 0 for r in plain.values())
    assert all(r["draft_n"] > 0 for r in runs if r["mode"] == "fixed:3")
    assert [r["mode"] for r in runs[:4]] != [r["mode"] for r in runs[4:8]]
    assert report["meta"]["engine"].startswith("llama.cpp")
    assert {row["category"] for row in report["summary"]} == {"x", "all"}
    assert re.search(r"^x +plain#2 +", done.out, re.MULTILINE)
    assert "Best possible by foresight" in done.out
    assert {b["category"] for b in report["bounds"]} == {"x", "all"}
    assert all(b["bound"] >= 1.0 and b["auto"] for b in report["bounds"])


@posix_only
def test_bench_and_tune_tell_a_terminal_how_far_they_are(files: Path, tmp_path: Path) -> None:
    prompts = tmp_path / "p.jsonl"
    prompts.write_text('{"id": "a", "prompt": "hello"}\n{"id": "b", "prompt": "again"}\n')
    common = ("--target", files / "good.gguf", "--prompts", prompts, "--max-tokens", "4")
    bench = Terminal("bench", *common, "--modes", "plain", "--ignore-eos")
    bench.expect("warming up, then 2 replies")
    bench.expect("1/2 a plain")
    bench.expect("tok/s")
    assert bench.end() == 0
    tune = Terminal("tune", *common, "--drafts", files / "draft.gguf")
    for step in ("1/2", "2/2", "speed-up"):
        tune.expect(step)
    assert tune.end() == 0


def test_bench_refuses_before_it_measures(files: Path, tmp_path: Path) -> None:
    prompts = tmp_path / "p.jsonl"
    prompts.write_text('{"id": "a", "prompt": "hello"}\n')
    base = ("bench", "--target", files / "good.gguf", "--prompts")
    assert "cannot be read" in tandem(*base, tmp_path / "none").sentence
    assert "'fast'" in tandem(*base, prompts, "--modes", "fast").sentence
    assert "--draft" in tandem(*base, prompts, "--modes", "draft").sentence
    assert "cannot be written" in tandem(*base, prompts, "--json", tmp_path / "no" / "o.json").sentence
    assert "name of its own" in tandem(*base, prompts, "--peer", "plain=http://127.0.0.1:9").sentence


def test_demo_shows_three_prompts_both_ways(smollm2: Path) -> None:
    done = tandem("demo", "--target", smollm2, "--max-tokens", "12")
    assert done.code == 0, done.err
    assert done.out.startswith("Loading the models…\n")
    assert re.search(r"both ways in turn, about \d+ (seconds|minutes)\.", done.out)
    for title in ("edit this code", "explain this", "tell a story"):
        assert f"\n{title}\n" in done.out
    assert len(re.findall(r"whole request +[\d.]+×", done.out)) == 3
    assert len(re.findall(r"generation +[\d.]+×", done.out)) == 3
    assert len(re.findall(r"source: ", done.out)) == 3
    assert len(re.findall(r"text +(identical|first difference at token \d+: .*margin)", done.out)) == 3
    # which of them depends on the clock; test_terminal_words.py has each
    assert any(words in done.out for words in ("An edit repeats its input", "gained little", "came out slower"))


@posix_only
def test_demo_names_a_prompt_before_it_is_answered(smollm2: Path) -> None:
    process = start("demo", "--target", smollm2)
    assert process.stdout is not None
    while line := process.stdout.readline():
        if line == b"edit this code\n":
            break
    process.send_signal(signal.SIGINT)
    rest, err = process.communicate(timeout=PATIENCE)
    assert line, err
    assert process.returncode == 130, err
    assert b"whole request" not in rest


def test_doctor_finds_that_a_reply_can_be_made(smollm2: Path, tmp_path: Path) -> None:
    (tmp_path / smollm2.name).symlink_to(smollm2)
    env = {"TANDEM_MODELS_DIR": str(tmp_path), "HF_HUB_CACHE": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
    done = tandem("doctor", env=env)
    assert done.code == 0, done.out + done.err
    assert re.search(r"smollm2 +0\.10 GB, not verified yet", done.out)
    assert re.search(r"Self-test +smollm2: \d+ tokens in 1 s\n", done.out), "no speed: it is of one tiny model"
    assert "HF_HUB_OFFLINE" in done.out
    assert re.search(r"llama\.cpp +llama\.cpp ", done.out)


def test_doctor_without_models_says_what_to_do(tmp_path: Path) -> None:
    env = {"TANDEM_MODELS_DIR": str(tmp_path), "HF_HUB_CACHE": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
    done = tandem("doctor", env=env)
    assert done.code == 1
    assert "tandem models get starter" in done.out
    assert "Traceback" not in done.err
