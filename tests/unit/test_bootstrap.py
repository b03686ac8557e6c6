"""The set-up: what it finds, what it says, what it runs; on real files and processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from installers import bootstrap, commands, kernels, progress, system
from installers.backends import Chain, Choice, choose
from installers.commands import Step
from installers.engine import build_key, installed, source_archive
from installers.environment import Environment
from installers.progress import SetupError

PYPROJECT = """
[project]
dependencies = ["llama-cpp-python==0.3.36", "numpy>=2.0"]
[project.scripts]
tandem = "backend.cli:main"
[dependency-groups]
dev = ["pytest>=9.0"]
"""

NO_GPU = [
    Chain("cuda", has_tools=False, no_device="no NVIDIA driver"),
    Chain("rocm", has_tools=False, no_device="no AMD compute device"),
    Chain("metal", has_tools=False, no_device="not an Apple silicon Mac"),
    Chain("vulkan", has_tools=False, no_device="no graphics device"),
]


def chains(**changes: tuple[bool, str | None]) -> list[Chain]:
    return [Chain(c.backend, *changes[c.backend]) if c.backend in changes else c for c in NO_GPU]


def run_bootstrap(root: Path, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "installers" / "bootstrap.py"), *args]
    return subprocess.run(command, env=os.environ | environ, capture_output=True, text=True, timeout=60, check=False)


# the command line


@pytest.mark.parametrize("args", [(), ("fly",)])
def test_without_a_known_command_it_lists_the_commands(repo_root: Path, args: tuple[str, ...]) -> None:
    done = run_bootstrap(repo_root, *args)
    assert done.returncode == 2
    assert all(f"\n  {name} " in done.stderr for name in ("run", "test", "soak", "bench", "tour", "clean"))


def test_an_unknown_backend_is_refused_before_anything_is_touched(repo_root: Path) -> None:
    done = run_bootstrap(repo_root, "run", TANDEM_BACKEND="quantum")
    assert done.returncode == 2
    assert "TANDEM_BACKEND=quantum is not known" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_old_python_is_told_so() -> None:
    assert bootstrap.python_problem((3, 11, 0)) is None
    assert bootstrap.python_problem((3, 14, 2)) is None
    problem = bootstrap.python_problem((3, 9, 2))
    assert problem is not None
    assert "3.11" in problem
    assert "3.9" in problem


@pytest.mark.skipif(shutil.which("make") is None, reason="without make the wrappers are not in use")
def test_make_and_ci_are_thin_wrappers(repo_root: Path) -> None:
    assert "make test" in (repo_root / ".ci" / "run").read_text()
    listed = subprocess.run(
        ["make", "-n", "run", "test", "soak", "bench", "tour", "clean"],
        cwd=repo_root,
        capture_output=True,
        text=True,
        check=True,
        env={k: v for k, v in os.environ.items() if k != "ARGS" and not k.startswith("MAKE")},  # it may run under it
    ).stdout
    wanted = [f"python3 installers/bootstrap.py {name}" for name in ("run", "test", "soak", "bench", "tour", "clean")]
    assert [line.strip() for line in listed.splitlines()] == wanted


# the system


def test_a_missing_library_is_seen_and_a_present_one_too() -> None:
    assert not system.library("libtandem-has-no-such.so.9", "nothing").present()
    present = {"linux": "libc.so.6", "darwin": "libSystem.dylib", "win32": "kernel32.dll"}[sys.platform]
    assert system.library(present, "libc6").present()


def test_this_machine_has_what_the_tests_need() -> None:
    assert [need.name for need in system.needs("test") if not need.present()] == []


def test_advice_is_one_line_to_run() -> None:
    missing = [
        system.library("libEGL.so.1", "libegl1"),
        system.library("libGL.so.1", "libgl1"),
        system.library("libEGL_x.so.1", "libegl1"),
    ]
    text = system.advice(missing, "linux", debian=True)
    assert text.splitlines()[-1].strip() == "sudo apt-get install -y libegl1 libgl1"
    assert "libEGL.so.1" in text
    assert "xcode-select --install" in system.advice(missing, "darwin", debian=False)
    assert "winget install" in system.advice(missing, "win32", debian=False)
    assert "libegl1 libgl1" in system.advice(missing, "linux", debian=False)


def test_only_the_tour_needs_a_virtual_screen_and_fonts() -> None:
    packages = {name: {need.package for need in system.needs(name, "linux")} for name in ("run", "tour")}
    assert packages["run"] < packages["tour"]
    assert packages["tour"] - packages["run"] == {
        "xvfb",
        "fontconfig",
        "fonts-noto-cjk",
        "fonts-noto-core",
        "fonts-noto-color-emoji",
    }
    assert not any(need.package.startswith("lib") for need in system.needs("run", "darwin"))


# the backend


def test_no_gpu_means_cpu() -> None:
    assert choose(NO_GPU, None).backend == "cpu"


def test_a_tool_kit_without_a_device_is_not_chosen_and_the_reason_is_said() -> None:
    choice = choose(chains(cuda=(True, "no NVIDIA driver (libcuda.so.1 cannot be loaded)")), None)
    assert choice.backend == "cpu"
    assert "nvcc" in choice.reason
    assert "no NVIDIA driver" in choice.reason


def test_a_card_without_a_tool_kit_is_said() -> None:
    choice = choose(chains(cuda=(False, None)), None)
    assert choice.backend == "cpu"
    assert "nvcc" in choice.reason


@pytest.mark.parametrize("backend", ["cuda", "rocm", "metal", "vulkan"])
def test_tools_and_a_device_are_chosen(backend: str) -> None:
    assert choose(chains(**{backend: (True, None)}), None).backend == backend


def test_cuda_goes_before_vulkan() -> None:
    assert choose(chains(vulkan=(True, None), cuda=(True, None)), None).backend == "cuda"


def test_the_person_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CMAKE_ARGS", "-DMINE=1")
    working = chains(cuda=(True, None))
    assert choose(working, "cpu").backend == "cpu"
    forced = choose(chains(cuda=(True, "no NVIDIA driver")), "cuda")
    assert forced.forced
    assert "-DGGML_CUDA=on" in forced.cmake_args.split()
    assert forced.cmake_args.endswith("-DMINE=1")
    with pytest.raises(SetupError, match="hipcc") as caught:
        choose(working, "rocm")
    assert caught.value.exit_code == 2


def test_a_build_for_another_backend_is_another_build() -> None:
    cpu, cuda = choose(NO_GPU, "cpu"), choose(chains(cuda=(True, None)), None)
    assert build_key("e==1", cpu) == build_key("e==1", cpu)
    assert len({build_key("e==1", cpu), build_key("e==2", cpu), build_key("e==1", cuda)}) == 3


# the environment


@pytest.fixture
def made(tmp_path: Path) -> Environment:
    """An environment that a set-up for the CPU has just finished."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    environment = Environment(tmp_path)
    environment.scripts.mkdir(parents=True)
    environment.python.write_bytes(b"")
    environment.write_stamp("cpu", "llama.cpp for cpu")
    return environment


def rewrite(environment: Environment, old: str, new: str) -> None:
    file = environment.root / "pyproject.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_a_finished_set_up_is_current(made: Environment) -> None:
    assert made.is_current("cpu")
    assert made.read_stamp()["engine"] == "llama.cpp for cpu"


@pytest.mark.parametrize(
    ("old", "new"),
    [("numpy>=2.0", "numpy>=2.1"), ("pytest>=9.0", "pytest>=9.1"), ("backend.cli:main", "backend.cli:x")],
)
def test_other_dependencies_make_it_stale(made: Environment, old: str, new: str) -> None:
    rewrite(made, old, new)
    assert not made.is_current("cpu")


def test_what_is_not_installed_does_not_make_it_stale(made: Environment) -> None:
    rewrite(made, "[project]", "# a comment\n[tool.ruff]\nline-length = 99\n[project]")
    assert made.is_current("cpu")


def test_another_backend_or_wheel_index_makes_it_stale(made: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not made.is_current("cuda")
    monkeypatch.setenv("TANDEM_WHEEL_INDEX", "file:///wheels")
    assert not made.is_current("cpu")


def test_a_damaged_stamp_or_a_lost_python_makes_it_stale(made: Environment) -> None:
    stamp = made.folder / "tandem-stamp.json"
    good = stamp.read_text()
    stamp.write_text(good[: len(good) // 2])
    assert not made.is_current("cpu")
    stamp.write_text(good)
    made.python.unlink()
    assert not made.is_current("cpu")


def test_the_engine_is_pinned_exactly_once(made: Environment, repo_root: Path) -> None:
    assert made.engine_requirement() == "llama-cpp-python==0.3.36"
    assert Environment(repo_root).engine_requirement().startswith("llama-cpp-python==")
    rewrite(made, "llama-cpp-python==", "llama-cpp-python>=")
    with pytest.raises(SetupError, match="pin"):
        made.engine_requirement()


def test_the_installed_engine_is_told_from_its_files(made: Environment) -> None:
    assert installed(made) is None
    lib = made.site_packages() / "llama_cpp" / "lib"
    lib.mkdir(parents=True)
    (made.site_packages() / "llama_cpp_python-0.3.36.dist-info").mkdir()
    (lib / "libllama.so").touch()
    assert installed(made) == ("0.3.36", "cpu")
    (lib / "libggml-cuda.so").touch()
    assert installed(made) == ("0.3.36", "cuda")


def test_the_engine_in_use_is_the_pinned_one(repo_root: Path) -> None:
    environment = Environment(repo_root)
    if Path(sys.prefix) != environment.folder:
        environment.folder = Path(sys.prefix)
    found = installed(environment)
    assert found is not None
    assert f"llama-cpp-python=={found[0]}" == environment.engine_requirement()


# progress


def test_steps_are_read_from_real_output() -> None:
    assert progress.build_step("  [12/140] /usr/bin/c++ -DGGML -o x.o") == "[12/140]"
    assert progress.build_step("  *** Building project with Ninja...") is None
    assert progress.pip_step("Collecting numpy>=2.0 (from tandem)") == "collecting numpy>=2.0"
    assert progress.pip_step("  Downloading numpy-2.3.0.whl (16 MB)") == "downloading numpy-2.3.0.whl"
    assert progress.pip_step("[3/9] cc") == "[3/9]"
    assert progress.clock(59.9) == "59 s"
    assert progress.clock(188) == "3 min 08 s"


def test_a_long_command_is_logged_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "deep" / "setup.log"
    seen: list[str] = []

    def step(line: str) -> str | None:
        seen.append(line)
        return progress.build_step(line)

    code = "print('[1/2] one'); print('naïve'); print('[2/2] two')"
    progress.run_logged([sys.executable, "-X", "utf8", "-c", code], "Work", log, step=step)
    assert [line.rstrip("\n") for line in seen] == ["[1/2] one", "naïve", "[2/2] two"]
    assert "naïve" in log.read_text(encoding="utf-8")
    assert "Work: done in" in capsys.readouterr().out


def test_a_failed_command_shows_its_last_words_and_the_log(tmp_path: Path) -> None:
    log = tmp_path / "setup.log"
    code = "import sys; [print(i) for i in range(100)]; print('no space left', file=sys.stderr); sys.exit(3)"
    with pytest.raises(SetupError) as caught:
        progress.run_logged([sys.executable, "-c", code], "Work", log)
    text = str(caught.value)
    assert "no space left" in text
    assert "exit 3" in text
    assert str(log) in text
    assert "\n50\n" not in text
    assert "first errors" not in text


def test_the_first_errors_of_a_long_output_are_shown(tmp_path: Path) -> None:
    code = (
        "import sys; print('-- Check -Werror: done'); print('CMake Error at CMakeLists.txt:9 (message):'); "
        "print('  Unable to find cublas_v2.h'); [print('line', i) for i in range(100)]; sys.exit(1)"
    )
    with pytest.raises(SetupError) as caught:
        progress.run_logged([sys.executable, "-c", code], "Work", tmp_path / "setup.log")
    assert "Its first errors:\nCMake Error at CMakeLists.txt:9 (message):\n  Unable to find" in str(caught.value)
    assert "-Werror" not in str(caught.value)


def test_a_backend_that_was_asked_for_and_does_not_build_can_be_given_up(
    made: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> str:
        raise SetupError("it does not compile", 1)

    monkeypatch.setattr(commands.engine, "install", fails)
    with pytest.raises(SetupError, match="unset TANDEM_BACKEND"):
        commands._install_engine(made, Choice("cuda", "", forced=True))


# what is run


def test_every_check_runs_and_the_first_failure_counts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def step(name: str, code: int) -> Step:
        body = f"import pathlib, sys; pathlib.Path({str(tmp_path / name)!r}).touch(); sys.exit({code})"
        return Step(name, [sys.executable, "-c", body])

    assert commands.run_steps([step("a", 0), step("b", 5), step("c", 7), step("d", 0)]) == 5
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["a", "b", "c", "d"]
    printed = capfd.readouterr().out
    assert "FAILED (exit 5)" in printed
    assert "FAILED (exit 7)" in printed
    assert commands.run_steps([step("e", 0)]) == 0


CHAT = """
import sys, time
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("stopped a reply", flush=True)
sys.exit(4)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="process groups and SIGINT are POSIX")
@pytest.mark.parametrize(("interactive", "code"), [(True, 4), (False, 130)])
def test_ctrl_c_belongs_to_the_program_that_was_started(repo_root: Path, interactive: bool, code: int) -> None:
    call = f"commands.call([sys.executable, '-c', {CHAT!r}], interactive={interactive})"
    body = f"try:\n    sys.exit({call})\nexcept KeyboardInterrupt:\n    sys.exit(130)"
    outer = [sys.executable, "-c", f"import sys\nfrom installers import commands\n{body}"]
    with subprocess.Popen(outer, cwd=repo_root, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout.read() == "stopped a reply\n"
        assert process.wait(timeout=20) == code


def test_a_program_that_a_signal_ended_is_a_failure() -> None:
    assert commands.call([sys.executable, "-c", "import os; os.abort()"]) != 0


def test_checks_are_linters_types_contracts_and_tests(repo_root: Path) -> None:
    steps = commands.checks(Environment(repo_root), ["-x"])
    assert [step.name for step in steps] == ["ruff", "mypy", "lint-imports", "pytest"]
    assert steps[-1].command[-1] == "-x"


def test_every_test_runs_once(repo_root: Path) -> None:
    beside, alone = commands.tests(Environment(repo_root), [])
    assert [step.command[step.command.index("-m", 3) + 1] for step in (beside, alone)] == ["not alone", "alone"]


@pytest.mark.parametrize(
    ("environ", "platform", "terminal", "way"),
    [
        ({"DISPLAY": ":0"}, "linux", False, "window"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True, "window"),
        ({"DISPLAY": ""}, "linux", True, "chat"),
        ({}, "linux", False, "demo"),
        ({}, "darwin", False, "window"),
        ({}, "win32", True, "window"),
    ],
)
def test_the_way_to_start(environ: dict[str, str], platform: str, terminal: bool, way: str) -> None:
    assert commands.way_to_start(environ, platform, terminal) == way


def test_clean_removes_caches_and_nothing_else(tmp_path: Path) -> None:
    for name in (".venv/bin", ".mypy_cache/3.11", "backend/__pycache__", "backend/engine/__pycache__", "docs", ".git"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").touch()
    assert commands.clean(tmp_path) == 0
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert left == [".git/file", "docs/file"]


# the engine's source


def test_one_line_of_the_engine_is_changed(repo_root: Path, tmp_path: Path) -> None:
    """Which stands there once; another llama.cpp is refused."""
    source = kernels.unpack(source_archive(Environment(repo_root)), tmp_path)
    text = (source / kernels.FILE).read_text(encoding="utf-8")
    assert text.count(kernels.AFTER) == 1
    assert text.index(kernels.VARIABLE.strip()) < text.index(kernels.FUNCTION)
    with pytest.raises(SetupError, match="not the one"):
        kernels.change(source / kernels.FILE)
