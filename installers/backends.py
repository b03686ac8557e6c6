"""Which hardware llama.cpp is built for: seen from tool chains *and* devices, overridden by ``TANDEM_BACKEND``."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from installers.progress import SetupError

CMAKE_FLAGS = {
    "cpu": (),
    "cuda": ("-DGGML_CUDA=on",),
    "metal": ("-DGGML_METAL=on",),
    "rocm": ("-DGGML_HIP=on",),
    "vulkan": ("-DGGML_VULKAN=on",),
}
TOOLS = {
    "cuda": "nvcc (CUDA toolkit)",
    "rocm": "hipcc (ROCm)",
    "metal": "an Apple silicon Mac",
    "vulkan": "glslc and the Vulkan headers",
}


@dataclass(frozen=True)
class Chain:
    """One GPU backend on this machine: can it be compiled, and is there a device to run it?"""

    backend: str
    has_tools: bool
    no_device: str | None  # why there is none; None: there is one


@dataclass(frozen=True)
class Choice:
    """The backend to build, why, and whether a person asked for it."""

    backend: str
    reason: str
    forced: bool

    @property
    def cmake_args(self) -> str:
        """For the CMAKE_ARGS variable; what the person has set there comes last and wins."""
        flags = [
            "-DLLAVA_BUILD=OFF",
            *CMAKE_FLAGS[self.backend],
        ]  # images are not used: half of the compile time
        return " ".join([*flags, os.environ.get("CMAKE_ARGS", "")]).strip()


def _no_nvidia_device() -> str | None:
    """Asks the driver itself: a tool kit without a card is common on build machines."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        driver = ctypes.CDLL(name)
    except OSError:
        return f"no NVIDIA driver ({name} cannot be loaded)"
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return "the NVIDIA driver does not start"
    return None if count.value else "no NVIDIA device"


def _no_vulkan_device() -> str | None:
    if sys.platform == "linux" and not list(Path("/dev/dri").glob("renderD*")):
        return "no graphics device (/dev/dri/renderD*)"
    return None


def _has_vulkan_tools() -> bool:
    roots = [Path("/usr/include"), Path("/usr/local/include")]
    sdk = os.environ.get("VULKAN_SDK")
    if sdk:
        roots += [Path(sdk) / "include", Path(sdk) / "Include"]
    return shutil.which("glslc") is not None and any((root / "vulkan" / "vulkan.h").is_file() for root in roots)


def survey() -> list[Chain]:
    """The GPU backends in order of preference."""
    apple = sys.platform == "darwin" and platform.machine() == "arm64"
    kfd = sys.platform == "win32" or Path("/dev/kfd").exists()
    return [
        Chain("cuda", shutil.which("nvcc") is not None, _no_nvidia_device()),
        Chain("rocm", shutil.which("hipcc") is not None, None if kfd else "no AMD compute device (/dev/kfd)"),
        Chain("metal", apple, None if apple else "not an Apple silicon Mac"),
        Chain("vulkan", _has_vulkan_tools(), _no_vulkan_device()),
    ]


def choose(chains: list[Chain], wanted: str | None) -> Choice:
    """The backend to build.

    Raises:
        SetupError: ``wanted`` (``TANDEM_BACKEND``) is no backend, or its tool chain is not here (exit 2).
    """
    if wanted:
        return _forced(chains, wanted)
    for chain in chains:
        if chain.has_tools and chain.no_device is None:
            return Choice(chain.backend, f"{TOOLS[chain.backend]} and a device were found", forced=False)
    notes = [f"{TOOLS[c.backend]} is here but {c.no_device}" for c in chains if c.has_tools]
    notes += [
        f"a device for {c.backend} may be here but {TOOLS[c.backend]} is not"
        for c in chains
        if not c.has_tools and c.no_device is None and c.backend == "cuda"
    ]
    return Choice("cpu", "; ".join(notes) or "no GPU tool chain was found", forced=False)


def _forced(chains: list[Chain], wanted: str) -> Choice:
    if wanted not in CMAKE_FLAGS:
        names = ", ".join(CMAKE_FLAGS)
        raise SetupError(f"TANDEM_BACKEND={wanted} is not known: choose one of {names}, or unset it.", exit_code=2)
    missing = [c for c in chains if c.backend == wanted and not c.has_tools]
    if missing:
        text = f"TANDEM_BACKEND={wanted} needs {TOOLS[wanted]}, not all found here: install them, or unset it."
        raise SetupError(text, exit_code=2)
    return Choice(wanted, f"TANDEM_BACKEND={wanted}", forced=True)
