"""Why a worker process died, told from its exit code, its last lines and its crash file."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Sequence

from backend.errors import EngineError, ErrorCode
from backend.library.paths import log_dir

_LAST_LINES = 30
"""Only these many lines of stderr are the last words; older ones are of faults that the worker survived."""
_SIGNS = {
    "oom": ("failed to allocate", "out of memory", "outofdevicememory", "cannot allocate memory", "memoryerror"),
    "backend": ("cuda error", "device lost", "vk::", "hip error", "metal error", "illegal memory access"),
    "heap": ("malloc(): ", "free(): ", "double free", "corrupted size", "heap corruption"),
    "assert": ("ggml_assert(", "ggml_abort", "assertion"),
}
"""What the last words of a worker contain, by kind; the first match counts."""
_AGAIN = "try again, and if it happens again, get the model file anew or choose another"
_WHY = {
    "oom": "it ran out of memory; choose a smaller model, a shorter context or fewer GPU layers",
    "backend": "the graphics driver reported a fault; restart it, or load the model with fewer GPU layers",
    "heap": f"its memory was corrupted; {_AGAIN}",
    "assert": f"it stopped itself at an internal check; {_AGAIN}",
    "segfault": f"it accessed memory that is not its own; {_AGAIN}",
    "killed": "it was killed, by a person or by the system for want of memory; "
    "if it happens again, choose a smaller model or a shorter context",
    "stopped": "it was stopped",
    "exit": f"it ended by itself; {_AGAIN}",
}
_WINDOWS_CODES = {0xC0000005: "segfault", 0xC0000409: "assert", 0xC0000374: "heap", 0xC0000017: "oom"}
_WINDOWS_ABORT = 3


def classify(code: int, last_words: str) -> str:
    """The kind of a worker's death, from its exit code (negative: a signal) and what it left behind."""
    low = last_words.lower()
    sign = next((kind for kind, words in _SIGNS.items() if any(word in low for word in words)), None)
    if code == 0:
        return "exit"
    if code < 0:
        by_signal = {signal.SIGSEGV: "segfault", getattr(signal, "SIGBUS", signal.SIGSEGV): "segfault"}
        if code == -getattr(signal, "SIGKILL", 9):
            return sign if sign == "oom" else "killed"
        if code == -signal.SIGTERM:
            return "stopped"
        return sign or by_signal.get(signal.Signals(-code), "assert" if code == -signal.SIGABRT else "exit")
    return sign or _WINDOWS_CODES.get(code & 0xFFFFFFFF, "assert" if code == _WINDOWS_ABORT else "exit")


def obituary(code: int, pid: int, stderr: Sequence[str], *, stopped: bool) -> EngineError:
    """The error for a worker that is gone.

    Args:
        code: exit code; negative: killed by that signal.
        pid: of the worker, which names its crash file.
        stderr: its last lines.
        stopped: this program ended it.
    """
    crash = crash_text(pid)
    said = "\n".join(stderr[-_LAST_LINES:])
    kind = "stopped" if stopped else classify(code, f"{said}\n{crash}")
    details = {"kind": kind, "exit_code": code, "crash": crash[-8000:], "stderr": said[-4000:]}
    return EngineError(ErrorCode.WORKER_GONE, f"The engine ended: {_WHY[kind]}.", details)


def crash_text(pid: int) -> str:
    """What the worker wrote as it died: ggml's abort text, then Python's stacks. An empty file is removed."""
    with contextlib.suppress(OSError, EngineError):
        path = log_dir() / f"crash-{pid}.log"
        text = path.read_text("utf-8", "replace")
        if not text:
            path.unlink()
        return text
    return ""
