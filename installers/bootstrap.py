#!/usr/bin/env python3
"""Set Tandem up and start it: ``python3 installers/bootstrap.py run|test|soak|bench|tour|translations|clean``.

Standard library only; the same on Linux, macOS and Windows. A second call finds everything in place and goes
straight to the command.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = (3, 11)

COMMANDS = {
    "run": "set up, get the starter models, start Tandem (window, terminal chat or demonstration)",
    "test": "set up, get the test models, run linters, types, contracts and all tests",
    "soak": "set up, then the long endurance run",
    "bench": "set up, then the benchmarks",
    "tour": "set up, then the screenshots",
    "translations": "set up, then bring the translators' files up to date with the window's texts",
    "clean": "remove the environment and all caches in this folder (models and chats stay)",
}


def python_problem(version: tuple[int, ...]) -> str | None:
    """Why this Python cannot be used, or None."""
    if version[:2] >= OLDEST_PYTHON:
        return None
    found, wanted = (".".join(map(str, v[:2])) for v in (version, OLDEST_PYTHON))
    return f"Tandem needs Python {wanted} or newer and this is {found}: start it with a newer python3."


def usage() -> str:
    """The commands, one a line."""
    lines = [f"  {name:12} {text}" for name, text in COMMANDS.items()]
    return "usage: python3 installers/bootstrap.py COMMAND [ARGUMENTS]\n" + "\n".join(lines)


def main(argv: list[str]) -> int:
    """Run one command; its exit code (2: something must be installed or called differently first)."""
    problem = python_problem(sys.version_info[:3])
    if problem:
        print(problem, file=sys.stderr)
        return 2
    if not argv or argv[0] not in COMMANDS:
        print(usage(), file=sys.stderr)
        return 2
    sys.path.insert(0, str(ROOT))
    from installers import commands
    from installers.progress import SetupError

    try:
        return commands.execute(argv[0], argv[1:])
    except SetupError as error:
        print(f"\n{error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
