"""The desktop program: early checks, then the window, then everything slow."""

from __future__ import annotations

import importlib
import sys


def main(argv: list[str] | None = None) -> int:
    """Start Tandem; gives the exit code."""
    arguments = list(sys.argv if argv is None else argv)
    if "--engine-worker" in arguments[1:2]:  # a frozen program is its own worker: before anything of Qt
        # by name: the desktop imports nothing of the engine (frozen builds list backend.worker as a hidden import)
        run_worker = importlib.import_module("backend.worker").main
        return int(run_worker())
    if "--pdf-text" in arguments[1:2]:
        from backend.documents.pdf_child import main as read_pdf

        return read_pdf()
    if "--maths-worker" in arguments[1:2]:  # and the process that draws formulas
        from desktop.maths.worker import main as draw

        return draw()
    from desktop.early import prepare

    logs, problem = prepare()
    from desktop.start import run

    return run(arguments, logs, problem)


if __name__ == "__main__":
    sys.exit(main())
