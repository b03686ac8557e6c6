"""The ``tandem`` command where the surroundings are hostile or unlucky: odd names, pipes, closed and full outputs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.e2e.terminal import COMMAND, PATIENCE, ROOT, environment, start, tandem
from tests.e2e.test_cli import posix_only, record
from tests.tiny import tiny_llama

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names and devices")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return tiny_llama(tmp_path / "good.gguf", n_ctx=1024)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as Tandem's models folder."""
    (folder := tmp_path / "models").mkdir()
    monkeypatch.setenv("TANDEM_MODELS_DIR", str(folder))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return folder


@linux_only
def test_a_file_name_that_is_no_text_is_a_name_like_others(good: Path, folder: Path) -> None:
    odd = os.fsencode(good.parent) + b"/caf\xe9.gguf"
    shutil.copy(os.fsencode(good), odd)
    record(tandem("chat", "--target", odd, "--draft", "none", "--max-tokens", "4", "--json", "hi"))
    assert tandem("models", "add", odd).code == 0
    for _ in range(2):  # once read, once out of the index
        listed = tandem("models", "list", "--json")
        states = {m["id"]: m["state"] for m in json.loads(listed.out)["models"]}
        assert states["caf"] == "installed", listed.err
    record(tandem("chat", "--target", "caf", "--draft", "none", "--max-tokens", "4", "--json", "hi"))


@posix_only
def test_whoever_ends_tandem_ends_its_window(folder: Path, tandem_home: Path) -> None:
    """No window and no engine stay behind without a parent."""
    started = subprocess.Popen(COMMAND, env=environment(QT_QPA_PLATFORM="offscreen"), cwd=ROOT)
    try:
        program = psutil.Process(started.pid)
        until(lambda: "desktop.app" in " ".join(program.cmdline()))
        until(lambda: any("backend.worker" in " ".join(child.cmdline()) for child in program.children()))
        everything = [program, *program.children(recursive=True)]
        started.send_signal(signal.SIGTERM)
        assert started.wait(PATIENCE) == 0
        assert psutil.wait_procs(everything, timeout=20)[1] == []
    finally:
        started.kill()


@linux_only
def test_a_display_that_does_not_answer_is_told_in_the_terminal(folder: Path, tandem_home: Path) -> None:
    done = tandem(env={"DISPLAY": ":4242", "QT_QPA_PLATFORM": "xcb"})
    assert done.code == 1
    first, *_, last = done.err.splitlines()
    assert "could not connect to display :4242" in first
    assert "'tandem chat' works in a terminal" in last
    assert "Fatal" not in done.err


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@linux_only
def test_a_file_name_cannot_steer_the_terminal(folder: Path) -> None:
    (folder / "\x1b[31mred\n.gguf").write_bytes(b"GGUF")
    done = tandem("models", "list")
    assert "cut off" in done.sentence
    assert "\x1b" not in done.out + done.err


@posix_only
@pytest.mark.parametrize("name", ["models.yaml", "library.json", "facts.json"])
def test_a_pipe_in_the_data_folder_does_not_hold_the_program(folder: Path, tandem_home: Path, name: str) -> None:
    tandem_home.mkdir()
    os.mkfifo(tandem_home / name)
    started = time.monotonic()
    assert tandem("models", "list").code == 0
    assert time.monotonic() - started < 20


@posix_only
def test_a_link_back_to_its_own_folder_lists_nothing_twice(good: Path, folder: Path) -> None:
    shutil.copy(good, folder)
    (folder / "self").symlink_to(".")
    (folder / "up").symlink_to("..")
    done = tandem("models", "list")
    assert sum(line.startswith("good") for line in done.out.splitlines()) == 2, done.out  # this one, and the one above


def test_an_index_that_cannot_be_kept_stops_nothing(good: Path, folder: Path, tandem_home: Path) -> None:
    shutil.copy(good, folder)
    (tandem_home / "facts.json" / "in the way").mkdir(parents=True)
    assert "good" in tandem("models", "list").out
    record(tandem("chat", "--target", "good", "--draft", "none", "--max-tokens", "4", "--json", "hi"))


@posix_only
@pytest.mark.parametrize("args", [["--version"], ["models", "list"], ["chat", "--max-tokens", "4", "hi"]])
@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_an_output_that_is_closed_from_the_start(good: Path, args: list[str], closed: str) -> None:
    if args[0] == "chat":
        args = [*args, "--target", str(good), "--draft", "none"]
    command = ["sh", "-c", f'"$@" {closed}', "sh", *COMMAND, *args]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        env=environment(),
        cwd=ROOT,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stdout or closed == ">&-"


@linux_only
def test_a_report_that_cannot_be_written_costs_no_figures(good: Path, tmp_path: Path) -> None:
    (prompts := tmp_path / "p.jsonl").write_text('{"prompt": "hi"}')
    done = tandem(
        *("bench", "--target", good, "--draft", "none", "--prompts", prompts, "--modes", "plain"),
        *("--max-tokens", "4", "--json", "/dev/full"),
    )
    assert done.code == 1
    announced, refused = done.err.splitlines()
    assert "the table follows" in announced
    assert "/dev/full cannot be written" in refused
    assert "plain" in done.out


@posix_only
@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_requantize_replaces_nothing_but_files(good: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    out.mkdir() if kind == "folder" else os.mkfifo(out)
    done = tandem("models", "requantize", good, "q8_0", out)
    assert done.code == 1
    assert "is not a file that can be replaced" in done.sentence
    assert not out.is_file()


def test_a_data_folder_that_cannot_be_used_is_said_once(good: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = tandem("chat", "--target", good, "--draft", "none", "hi", env={"TANDEM_HOME": str(tmp_path / "file")})
    assert done.code == 1
    assert "cannot be written" in done.sentence


def test_folders_named_from_here_are_the_same_for_the_engine(good: Path, folder: Path, tmp_path: Path) -> None:
    shutil.copy(good, folder / "here.gguf")
    env = {"TANDEM_HOME": "home", "TANDEM_MODELS_DIR": folder.name}
    args = ("chat", "--target", "here", "--draft", "none", "--max-tokens", "4", "--json", "hi")
    record(tandem(*args, env=env, cwd=tmp_path))
    assert (tmp_path / "home" / "logs" / "engine.log").is_file()


@posix_only
def test_ctrl_c_twice_leaves_an_engine_that_is_frozen(good: Path) -> None:
    # Greedy, this model says 792 tokens to "hi"; drawn at random it may end before it is frozen.
    process = start("chat", "--target", good, "--draft", "none", "--temperature", "0", "--max-tokens", "900", "hi")
    assert process.stdout is not None
    assert process.stdout.read(1)
    (worker,) = psutil.Process(process.pid).children()
    worker.suspend()
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"does not end by itself" in err
    assert b"Traceback" not in err
    assert not worker.is_running()
