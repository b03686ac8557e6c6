"""The process that reads one PDF: from stdin, page by page to stdout, one JSON object a line, and then it ends.

A PDF is a program of sorts, and a hostile one may loop, or unfold to any size. pypdf is pure Python, so it cannot be
made to run code of the file's; what it may use of time and memory is limited here, by the system where it can, and by
the parent (``backend.documents.pdf``), which ends this process when it has had enough.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

MEMORY = 1_500_000_000
"""Bytes of address space, of which Python and pypdf take some 200 MB."""
SECONDS = 60
_PAGE_CHARACTERS = 1_000_000


def main() -> int:
    """Read stdin's PDF."""
    _limit()
    out = sys.stdout.buffer
    for line in _lines(sys.stdin.buffer.read()):
        out.write(json.dumps(line).encode("ascii") + b"\n")
        out.flush()
    return 0


def _lines(data: bytes) -> Iterator[dict[str, Any]]:
    """``{"pages": n}``, ``{"text": …}`` for each page (None: it cannot be read), or ``{"error": kind}``."""
    logging.disable()  # it complains of every slip in a file
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError

    try:
        reader = PdfReader(io.BytesIO(data))
        yield {"pages": len(reader.pages)}
        for page in reader.pages:
            yield {"text": _text(page)}
    except (FileNotDecryptedError, DependencyError):  # the latter: encrypted with AES
        yield {"error": "encrypted"}
    except MemoryError:
        yield {"error": "memory"}
    except Exception:  # noqa: BLE001 - a broken file may raise anything
        yield {"error": "broken"}


def _text(page: Any) -> str | None:
    from pypdf.errors import DependencyError, FileNotDecryptedError

    try:
        return str(page.extract_text())[:_PAGE_CHARACTERS]
    except (FileNotDecryptedError, DependencyError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - one page's fault costs that page
        return None


def _limit() -> None:
    watchdog = threading.Timer(SECONDS + 5, os._exit, (1,))  # also where the parent is gone
    watchdog.daemon = True
    watchdog.start()
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no limits of this kind
        import resource

        for what, most in (
            (resource.RLIMIT_AS, MEMORY),
            (resource.RLIMIT_CPU, SECONDS),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    sys.exit(main())
