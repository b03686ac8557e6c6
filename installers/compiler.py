"""What the compiler is told beside CMake's options: the way round one fault of GCC (see amx.h)."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from pathlib import Path

AMX_HEADER = Path(__file__).with_name("amx.h")


def needs_header() -> bool:
    """Whether the engine may be compiled by GCC for a processor with AMX."""
    return sys.platform.startswith("linux") and platform.machine() == "x86_64"


def build_environment() -> dict[str, str]:
    """This process's environment with the header in ``CXXFLAGS``; what the person has set there comes last."""
    if not needs_header():
        return dict(os.environ)
    flags = f"-include {shlex.quote(str(AMX_HEADER))} {os.environ.get('CXXFLAGS', '')}"
    return os.environ | {"CXXFLAGS": flags.strip()}


def fingerprint() -> str:
    """Changes when what is told to the compiler changes, wherever this checkout lies."""
    header = AMX_HEADER.read_text(encoding="utf-8") if needs_header() else ""
    return header + os.environ.get("CXXFLAGS", "")
