"""What the compiler is told beside CMake's options: what GCC and ggml get wrong (see x86.h)."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from pathlib import Path

HEADER = Path(__file__).with_name("x86.h")


def needs_header() -> bool:
    """Whether the engine is compiled for a processor that the header is about."""
    return sys.platform.startswith("linux") and platform.machine() == "x86_64"


def build_environment() -> dict[str, str]:
    """This process's environment with the header in ``CXXFLAGS``; what the person has set there comes last."""
    if not needs_header():
        return dict(os.environ)
    flags = f"-include {shlex.quote(str(HEADER))} {os.environ.get('CXXFLAGS', '')}"
    return os.environ | {"CXXFLAGS": flags.strip()}


def fingerprint() -> str:
    """Changes when what is told to the compiler changes, wherever this checkout lies."""
    header = HEADER.read_text(encoding="utf-8") if needs_header() else ""
    return header + os.environ.get("CXXFLAGS", "")
