"""The commands: first the set-up, then what was asked for."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from installers import backends, engine, system
from installers.environment import Environment
from installers.progress import SetupError, clock, say

ROOT = Path(__file__).resolve().parent.parent
STARTER = ("starter",)
TEST_MODELS = ("starter", "smollm2", "gemma3-270m")
CACHES = (".venv", ".tandem", *(f".{t}_cache" for t in ("mypy", "ruff", "pytest", "import_linter")), ".hypothesis")
SOURCES = ("backend", "desktop", "installers", "tests")


@dataclass(frozen=True)
class Step:
    """One check of ``test``: its name and what is run."""

    name: str
    command: Sequence[str]


def execute(command: str, arguments: Sequence[str]) -> int:
    """Set up and run ``command``; its exit code."""
    environment = Environment(ROOT)
    if command == "clean":
        return clean(ROOT)
    set_up(environment, command)
    if command == "run":
        return run_app(environment, arguments)
    if command == "test":
        return run_tests(environment, arguments)
    if command == "translations":
        return call([environment.python, "-m", "installers.translations", *arguments])
    return run_long(environment, command, arguments)


def set_up(environment: Environment, command: str) -> None:
    """Bring the system's packages, the environment and the engine into place."""
    started = time.monotonic()
    chosen = backends.choose(backends.survey(), os.environ.get("TANDEM_BACKEND"))
    system.ensure(command, environment.root / ".tandem" / "system-packages.log")
    build = engine.build_key(environment.engine_requirement(), chosen)
    if environment.is_current(build):
        say(f"Engine: {environment.read_stamp()['engine']}")
        return
    say(f"Setting up Tandem in {environment.folder} ({system.describe()}).")
    say(f"Building for {chosen.backend}: {chosen.reason}.")
    environment.create()
    found = _install_engine(environment, chosen)
    environment.install_project()
    environment.write_stamp(build, found)
    say(f"Engine: {found}")
    say(f"Set up in {clock(time.monotonic() - started)}.")


def _install_engine(environment: Environment, chosen: backends.Choice) -> str:
    try:
        return engine.install(environment, chosen)
    except SetupError as error:
        if chosen.backend == "cpu":
            raise
        if chosen.forced:
            text = (
                f"{error}\nComplete the tools for {chosen.backend}, or unset TANDEM_BACKEND: the set-up then chooses."
            )
            raise SetupError(text, error.exit_code) from error
        say(f"{error}\nThe build for {chosen.backend} failed; building for the CPU instead.")
        reason = f"the build for {chosen.backend} failed"
        return engine.install(environment, backends.Choice("cpu", reason, forced=False)) + f" ({reason})"


def get_models(environment: Environment, names: Sequence[str]) -> int:
    """Have the library fetch and verify models; 0 when all are there."""
    return call([environment.python, "-m", "backend.cli", "models", "get", *names])


# run


def way_to_start(environ: Mapping[str, str], platform_name: str, has_terminal: bool) -> str:
    """``window``, ``chat`` (no display) or ``demo`` (no terminal on stdin either)."""
    if system.has_display(environ, platform_name):
        return "window"
    return "chat" if has_terminal else "demo"


def run_app(environment: Environment, arguments: Sequence[str]) -> int:
    """Start Tandem the best way that this place allows."""
    way = way_to_start(os.environ, sys.platform, sys.stdin is not None and sys.stdin.isatty())
    code = get_models(environment, STARTER)
    if code != 0:
        if way != "window":
            return code
        say("The starter models are not complete; Tandem starts without them and can get them from its window.")
    if way == "window":
        return call([environment.python, "-m", "desktop.app", *arguments], interactive=True)
    if way == "chat":
        say("No display here: starting the chat in this terminal.")
    else:
        say("No display and no terminal here: running the demonstration.")
    return call([environment.python, "-m", "backend.cli", way, *arguments], interactive=True)


# test


def checks(environment: Environment, arguments: Sequence[str]) -> list[Step]:
    """Linters, types, contracts, tests; ``arguments`` go to pytest."""
    return [
        Step("ruff", [str(environment.tool("ruff")), "check", "."]),
        Step("mypy", [str(environment.tool("mypy"))]),
        Step("lint-imports", [str(environment.tool("lint-imports"))]),
        *tests(environment, arguments),
    ]


def tests(environment: Environment, arguments: Sequence[str]) -> list[Step]:
    """All of them: two at a time, then those that measure time. With ``arguments``, what they say, one at a time."""
    pytest = [str(environment.python), "-m", "pytest"]
    if arguments:
        return [Step("pytest", [*pytest, *arguments])]
    return [
        Step("pytest", [*pytest, "-m", "not alone", "--numprocesses", "2", "--dist", "worksteal"]),
        Step("pytest alone", [*pytest, "-m", "alone"]),
    ]


def run_tests(environment: Environment, arguments: Sequence[str]) -> int:
    """Everything that ``make test`` promises."""
    started = time.monotonic()
    code = get_models(environment, TEST_MODELS)
    if code != 0:
        say("The test models are not complete, and the tests cannot do without them.")
        return code
    code = run_steps(checks(environment, arguments))
    say(f"Total time: {clock(time.monotonic() - started)}.")
    return code


def run_steps(steps: Sequence[Step]) -> int:
    """Run every step, also after a failure.

    Returns:
        The exit code of the first step that failed, or 0.
    """
    outcomes: list[tuple[Step, int, float]] = []
    for step in steps:
        say(f"\n== {step.name}: {' '.join(step.command)}")
        started = time.monotonic()
        outcomes.append((step, call(step.command), time.monotonic() - started))
    say("")
    for step, code, seconds in outcomes:
        say(f"{step.name:14}{'ok' if code == 0 else f'FAILED (exit {code})'} in {clock(seconds)}")
    return next((code for _, code, _ in outcomes if code != 0), 0)


# the rest


def run_long(environment: Environment, command: str, arguments: Sequence[str]) -> int:
    """One of the long runs under tests/long, with the models that the tests use."""
    script = environment.root / "tests" / "long" / f"{command}.py"
    if not script.is_file():
        raise SetupError(f"{script} is not there: this version of Tandem has no '{command}' yet.", exit_code=2)
    code = get_models(environment, TEST_MODELS)
    return code or call([environment.python, script, *arguments])


def clean(root: Path) -> int:
    """Remove what the set-up and the tests made in this folder."""
    for name in CACHES:
        if (root / name).exists():
            say(f"removing {root / name}")
            shutil.rmtree(root / name)
    for folder in [found for part in SOURCES for found in (root / part).rglob("__pycache__")]:
        shutil.rmtree(folder)
    return 0


def call(command: Sequence[str | Path], interactive: bool = False) -> int:
    """Run in the foreground, with Tandem's folder as the working directory and on the import path.

    Ctrl-C reaches the program by itself (it is in the same terminal) and is its business: the chat stops a reply
    with it. So this waits for the program's own end.

    Args:
        command: program and arguments.
        interactive: the program may go on after Ctrl-C; otherwise Ctrl-C ends the set-up too.

    Returns:
        The exit code; 128 + n for a program that signal n ended.
    """
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    env.setdefault("PYTHONUTF8", "1")
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    try:
        code = subprocess.Popen([str(part) for part in command], cwd=ROOT, env=env).wait()
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupts and not interactive:
        raise KeyboardInterrupt
    return code if code >= 0 else 128 - code
