"""The text of a PDF, by a process of its own that is ended when it takes too long or too much, or is not wanted."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import IO, Any, BinaryIO

import psutil

from backend.documents.limits import MOST_CHARACTERS, DocumentError
from backend.documents.pdf_child import MEMORY, SECONDS

_ROOT = Path(__file__).resolve().parent.parent.parent
_LONGEST_LINE = 20_000_000
_LOOK_S = 0.1
_LOOKS_AT_THE_END = 100


def pdf_command() -> list[str]:
    """The argv that reads a PDF, from a checkout or an installation and from a frozen application."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--pdf-text"]
    return [sys.executable, "-m", "backend.documents.pdf_child"]


@dataclass
class _Found:
    pages: int = 0
    texts: list[str | None] = field(default_factory=list)
    characters: int = 0
    stopped: str = ""
    """Why it ended early."""


def read_pdf(
    file: BinaryIO,
    name: str,
    cancelled: threading.Event,
    tell: Callable[[int, int], None],
    *,
    command: Sequence[str] | None = None,
    seconds: float = SECONDS,
    memory: int = MEMORY,
) -> tuple[str, str, str]:
    """The text, what of the file it is ("" = all), and what else to know.

    Args:
        file: open; it is read from its beginning.
        name: for the sentences.
        cancelled: set = give it up.
        tell: pages read, of so many.
        command: instead of :func:`pdf_command`.
        seconds: for all of it; what was read by then is kept.
        memory: bytes that the process may hold.

    Raises:
        DocumentError: encrypted, broken, without text, too slow or too large before its first text; or cancelled.
    """
    os.lseek(file.fileno(), 0, os.SEEK_SET)  # the child has the system's place in the file, not the buffer's
    options: dict[str, Any] = {}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NO_WINDOW}
    process = subprocess.Popen(
        command or pdf_command(), stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=_ROOT, **options
    )
    lines: queue.Queue[bytes] = queue.Queue(64)
    assert process.stdout is not None
    pump = threading.Thread(target=_pump, args=(process.stdout, lines), name="pdf-pipe", daemon=True)
    pump.start()
    try:
        found = _follow(process, lines, cancelled, tell, monotonic() + seconds, memory)
    finally:
        process.kill()
        process.wait()
        _drain(lines, pump)
    if cancelled.is_set():
        raise DocumentError(f"{name} was not read to its end.")
    return _result(found, name)


def _pump(pipe: IO[bytes], lines: queue.Queue[bytes]) -> None:
    with pipe:
        while line := pipe.readline(_LONGEST_LINE):
            lines.put(line)
    lines.put(b"")


def _drain(lines: queue.Queue[bytes], pump: threading.Thread) -> None:
    """Let the pump come to its end, which closes the pipe."""
    for _ in range(_LOOKS_AT_THE_END):
        with contextlib.suppress(queue.Empty):
            lines.get_nowait()
        pump.join(_LOOK_S if lines.empty() else 0)
        if not pump.is_alive():
            break


def _follow(
    process: subprocess.Popen[bytes],
    lines: queue.Queue[bytes],
    cancelled: threading.Event,
    tell: Callable[[int, int], None],
    end: float,
    memory: int,
) -> _Found:
    found = _Found()
    while not cancelled.is_set():
        if monotonic() > end:
            found.stopped = "time"
            break
        if _memory_of(process) > memory:
            found.stopped = "memory"
            break
        try:
            line = lines.get(timeout=_LOOK_S)
        except queue.Empty:
            continue
        if not line or not _take(found, line):
            break
        tell(len(found.texts), found.pages)
    return found


def _take(found: _Found, line: bytes) -> bool:
    """One line of the child's; False = it is enough. What it says is not trusted."""
    try:
        said = json.loads(line)
        if "error" in said:
            found.stopped = str(said["error"])
        elif "pages" in said:
            found.pages = int(said["pages"])
        else:
            text = said["text"]
            found.texts.append(None if text is None else str(text))
            found.characters += len(text or "")
    except (ValueError, TypeError, KeyError):
        found.stopped = "broken"
    if found.characters > MOST_CHARACTERS:
        found.stopped = "long"
    return not found.stopped


def _memory_of(process: subprocess.Popen[bytes]) -> int:
    try:
        return int(psutil.Process(process.pid).memory_info().rss)
    except psutil.Error:
        return 0  # it has ended


_ENDS = {
    "encrypted": "is protected by a password or encrypted. Save a copy without protection, and attach that.",
    "broken": "is damaged, or not really a PDF. Open it in a PDF viewer and save it anew.",
    "memory": "needs more memory than a file may take here. Attach a PDF with the pages that matter.",
    "time": "took longer than a minute to read. Attach a PDF with the pages that matter.",
    "scan": "holds no text, only pictures of it (a scan). Have its text recognised (OCR) first, and attach that.",
}


def _result(found: _Found, name: str) -> tuple[str, str, str]:
    pages = [text for text in found.texts if text and not text.isspace()]
    whole = len(found.texts) >= found.pages and not found.stopped
    if not pages:
        ended = found.stopped or ("scan" if whole and found.pages and None not in found.texts else "broken")
        raise DocumentError(f"{name} {_ENDS.get(ended, _ENDS['broken'])}")
    text = "\n\n".join(page.strip("\n") for page in pages).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    part = "" if whole else f"the text of its first {len(found.texts):,} of {found.pages:,} pages"
    missing = sum(not page or page.isspace() for page in found.texts)
    note = f"{missing:,} of {found.pages:,} pages have no text that could be read" if missing else ""
    return text[:MOST_CHARACTERS], part, note
