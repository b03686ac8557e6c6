"""What the operating system must bring: venv, a C++ compiler, Qt's libraries; for the tour a screen and fonts."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from installers.progress import SetupError, run_logged, say

# Shared libraries of Qt's widgets and its xcb plug-in, and Debian's package for each. Checked on a
# bare Debian 12: libxcb-shape0 and libglib2.0-0 are easily forgotten, nothing else here pulls the former in.
QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
}

# A sample of each script that the tour shows: fontconfig's query and Debian's package.
TOUR_FONTS = {
    ":lang=zh-cn": "fonts-noto-cjk",
    ":lang=ar": "fonts-noto-core",
    "Noto Color Emoji": "fonts-noto-color-emoji",
}


@dataclass(frozen=True)
class Need:
    """One thing that must be there, how to see whether it is, and Debian's package for it."""

    name: str
    package: str
    present: Callable[[], bool]


def library(soname: str, package: str) -> Need:
    """The need for a shared library that the dynamic loader can find."""
    return Need(soname, package, partial(_loads, soname))


def _loads(soname: str) -> bool:
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def _venv_works() -> bool:
    return all(importlib.util.find_spec(name) for name in ("venv", "ensurepip"))


def _compiler_found() -> bool:
    if sys.platform == "win32":
        return _visual_studio_found() or any(map(shutil.which, ("cl", "g++", "clang++")))
    if sys.platform == "darwin":  # /usr/bin/c++ is there even without the tools; it only offers to install them
        return subprocess.run(["xcode-select", "-p"], capture_output=True, check=False).returncode == 0
    return any(map(shutil.which, filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++"))))


def _visual_studio_found() -> bool:
    base = os.environ.get("ProgramFiles(x86)", r"C:\Program Files (x86)")  # noqa: SIM112 (its own spelling)
    vswhere = Path(base) / "Microsoft Visual Studio" / "Installer" / "vswhere.exe"
    if not vswhere.is_file():
        return False
    component = "Microsoft.VisualStudio.Component.VC.Tools.x86.x64"
    command = [str(vswhere), "-products", "*", "-requires", component, "-property", "installationPath"]
    return bool(subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip())


def _font_found(query: str) -> bool:
    if not shutil.which("fc-list"):
        return False
    return bool(subprocess.run(["fc-list", query], capture_output=True, text=True, check=False).stdout.strip())


def needs(command: str, platform_name: str = sys.platform) -> list[Need]:
    """Everything that ``command`` needs from the system."""
    found = [
        Need("Python's venv and ensurepip", "python3-venv", _venv_works),
        Need("a C++ compiler", "g++", _compiler_found),
    ]
    if platform_name == "linux":
        found += [library(soname, package) for soname, package in QT_LIBRARIES.items()]
        if command == "tour":
            found.append(Need("Xvfb", "xvfb", lambda: shutil.which("Xvfb") is not None))
            found.append(Need("fontconfig", "fontconfig", lambda: shutil.which("fc-list") is not None))
            found += [Need(f"a font for {q}", package, partial(_font_found, q)) for q, package in TOUR_FONTS.items()]
    return found


def advice(missing: Sequence[Need], platform_name: str, debian: bool) -> str:
    """One sentence on what is missing and the one line that brings it."""
    names = ", ".join(need.name for need in missing)
    packages = " ".join(sorted({need.package for need in missing}))
    if debian:
        how = f"Run this, then try again:\n  sudo apt-get install -y {packages}"
    elif platform_name == "darwin":
        how = "Run this, then try again:\n  xcode-select --install"
    elif platform_name == "win32":
        how = (
            "Run this, then try again:\n  winget install Microsoft.VisualStudio.2022.BuildTools --override "
            '"--passive --add Microsoft.VisualStudio.Workload.VCTools --includeRecommended"'
        )
    else:
        how = f"Install what your system calls these Debian packages, then try again:\n  {packages}"
    return f"Tandem's set-up needs what is not on this machine: {names}.\n{how}"


def _is_debian() -> bool:
    return sys.platform == "linux" and shutil.which("apt-get") is not None


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _install(packages: Sequence[str], log: Path) -> None:
    say(f"Installing with apt-get: {' '.join(packages)}")
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        run_logged(["apt-get", "update"], "Package lists", log, env=env)
    except SetupError:  # one unreachable source of many is no reason to stop: the install will tell
        say("Some package lists could not be read; going on with those that are here.")
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    run_logged(command, "System packages", log, env=env)


def ensure(command: str, log: Path) -> None:
    """Make sure that the system has what ``command`` needs; as root on Debian install what is missing.

    Raises:
        SetupError: something is missing (exit 2, with the one line to run) or could not be installed.
    """
    missing = [need for need in needs(command) if not need.present()]
    if not missing:
        return
    if _is_debian() and _is_root():
        _install(sorted({need.package for need in missing}), log)
        importlib.invalidate_caches()
        missing = [need for need in missing if not need.present()]
    if missing:
        raise SetupError(advice(missing, sys.platform, _is_debian()), exit_code=2)


def has_display(environ: Mapping[str, str], platform_name: str = sys.platform) -> bool:
    """Whether a window can be shown."""
    if platform_name in ("win32", "darwin"):
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def describe() -> str:
    """The machine in a few words."""
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
