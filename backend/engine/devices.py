"""Compute devices, as the engine's own library sees them, and what the engine was built with."""

from __future__ import annotations

import ctypes
import os
from typing import Literal

import llama_cpp
import psutil

from backend.engine import native
from backend.plan.free import free_main_memory
from backend.protocol import DeviceInfo

_KINDS: dict[int, Literal["cpu", "gpu", "igpu", "accel"]] = {0: "cpu", 1: "gpu", 2: "igpu", 3: "accel"}
_HELD = ("RssAnon", "RssShmem", "VmLck")


def devices() -> list[DeviceInfo]:
    """All devices with their free and total memory in bytes."""
    found = []
    for i in range(native.dev_count()):
        device = native.dev_get(i)
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        native.dev_memory(device, ctypes.byref(free), ctypes.byref(total))
        found.append(
            DeviceInfo(
                name=native.dev_name(device).decode("utf-8", "replace"),
                description=native.dev_description(device).decode("utf-8", "replace"),
                kind=_KINDS.get(native.dev_type(device), "accel"),
                free=free.value,
                total=total.value,
            )
        )
    return found


def has_gpu() -> bool:
    """Whether layers can be offloaded at all."""
    return bool(llama_cpp.llama_supports_gpu_offload()) and any(d.kind in ("gpu", "igpu") for d in devices())


def engine_line() -> str:
    """One line: llama.cpp's build, back ends and CPU features in use."""
    info = llama_cpp.llama_print_system_info().decode("utf-8", "replace")
    on = [part.split("=")[0].strip() for part in info.replace(":", "|").split("|") if part.strip().endswith("= 1")]
    names = ", ".join(dict.fromkeys(d.name for d in devices()))
    version = llama_cpp.llama_version().decode("utf-8", "replace")
    return f"llama.cpp {version} on {names or 'CPU'} ({' '.join(on)})"


def free_memory() -> int:
    """Bytes that can be allocated wherever a model may lie: main memory, and the GPUs' where there are any."""
    gpus = [d.free for d in devices() if d.kind in ("gpu", "igpu")]
    return min([free_main_memory(), *([sum(gpus)] if gpus else [])])


def default_threads() -> int:
    """Physical cores this process may use: hyper-threads only slow a pass that waits for memory."""
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return max(1, min(physical, allowed))


def memory_used() -> int:
    """Bytes this process holds beyond what the system could drop: anonymous and shared memory, and locked pages.

    Layers that stay in memory while others are read from disk lie in shared memory.
    """
    process = psutil.Process()
    status = f"/proc/{process.pid}/status"
    if os.path.exists(status):  # noqa: PTH110 - a fixed path, asked many times a second
        fields = {}
        with open(status, encoding="ascii", errors="replace") as lines:  # noqa: PTH123
            for line in lines:
                name, _, value = line.partition(":")
                fields[name] = value
        return sum(int(fields[name].split()[0]) * 1024 for name in _HELD if name in fields)
    return int(getattr(process.memory_info(), "private", process.memory_info().rss))
