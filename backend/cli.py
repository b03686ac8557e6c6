"""The ``tandem`` command: a front end over the same worker that the window uses.

A command's module is imported when that command is asked for, so that ``tandem --help`` and a typing error answer at
once; without a command the window is started, as a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from backend.errors import EngineError, ErrorCode
from backend.text import one_line

_COMMANDS = {
    "chat": ("backend.cli_chat", "chat in this terminal, or answer one prompt"),
    "bench": ("backend.cli_bench", "measure ways of decoding side by side"),
    "tune": ("backend.cli_tune", "which draft pays on prompts like yours"),
    "plan": ("backend.cli_plan", "where a pair would lie in memory, and how fast it would be"),
    "demo": ("backend.cli_demo", "three prompts with and without speculation"),
    "models": ("backend.cli_models", "list, get, add, requantize, delete and remove models"),
    "doctor": ("backend.cli_doctor", "what works here and what does not"),
}
_USAGE, _FAILED, _INTERRUPTED = 2, 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        The exit code: 0, 1 for a fault (one sentence on stderr), 2 for wrong usage, 130 when interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    _mend_streams()
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except EngineError as error:
        hint = " (--load-anyway does that.)" if error.details.get("anyway") else ""
        complain(error.message + hint)
        return _INTERRUPTED if error.code is ErrorCode.CANCELLED else _FAILED
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader has gone (| head); nothing may be written any more, also not at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        complain(f"A file or the output cannot be used: {error.strerror or error}{where}; make room or name another.")
        return _FAILED


def complain(sentence: str) -> None:
    """One sentence on stderr; what it quotes of a file cannot steer the terminal."""
    with contextlib.suppress(OSError):  # nobody is left to hear it
        print(f"tandem: {one_line(sentence)}", file=sys.stderr, flush=True)


def progress(text: str) -> None:
    """A line of a terminal that the next one takes the place of; an empty one clears it."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _mend_streams() -> None:
    """What a terminal cannot show must not end a reply, nor must an output that was closed before the start (``>&-``).

    The first file opened later would take the number of a closed output, and would be written into.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for the whole process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def app_command() -> list[str]:
    """The argv that starts the window, from a checkout or an installation and from a frozen application."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--window"]
    return [sys.executable, "-m", "desktop.app"]


def _run(arguments: list[str]) -> int:
    parser = _Parser(prog="tandem", description="Local chat with speculative decoding that pays.")
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.add_argument(
        "--language", default="", metavar="XX", help="the window's language (en, de, …; or a translation's .qm file)"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="without a command, the window starts")
    chosen = next((word for word in arguments if word in _COMMANDS), None)
    for name, (module, summary) in _COMMANDS.items():
        if name == chosen:
            importlib.import_module(module).add_parser(commands)
        else:
            commands.add_parser(name, help=summary)
    try:
        args, rest = parser.parse_known_args(arguments)
        if rest:
            _refuse(chosen, rest)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else _USAGE
    if args.version:
        print(f"tandem {version()}")
        return 0
    if args.command is None:
        return _window(["--language", args.language] if args.language else [])
    if args.language:
        raise EngineError(
            ErrorCode.BAD_REQUEST,
            f"--language is the window's: leave it out, or start the window without '{args.command}'.",
        )
    code: int = args.run(args)
    return code


def _refuse(command: str | None, rest: Sequence[str]) -> NoReturn:
    """What nothing takes; several words are most often a prompt without its quotes."""
    words = command == "chat" and not any(word.startswith("-") for word in rest)
    hint = "; put the prompt in quotes" if words else ""
    program = f"tandem {command}" if command in _COMMANDS else "tandem"
    _Parser(prog=program).error(f"unrecognized arguments: {' '.join(rest)}{hint}")


def version() -> str:
    """Tandem's version, where it is installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as of

    try:
        return of("tandem-chat")
    except PackageNotFoundError:
        return "run from its source"


def _window(arguments: list[str]) -> int:
    if not has_display():
        raise EngineError(
            ErrorCode.BAD_REQUEST, "There is no display here for the window; 'tandem chat' works in this terminal."
        )
    root = str(Path(__file__).resolve().parent.parent)
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))}
    command = [*app_command(), *arguments]
    if os.name == "posix":  # in place of this process: whoever ends it ends the window
        os.execve(command[0], command, env)
    return subprocess.run(command, env=env, check=False).returncode


def has_display() -> bool:
    """Whether a window could open here (on Linux: whether a display server is named)."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


class _Parser(argparse.ArgumentParser):
    """Wrong usage is one sentence too."""

    def error(self, message: str) -> NoReturn:
        self.exit(_USAGE, f"{self.prog}: {message.removeprefix('argument ')}; see '{self.prog} --help'.\n")


if __name__ == "__main__":
    sys.exit(main())
