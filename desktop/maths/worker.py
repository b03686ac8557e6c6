"""The process that draws formulas: ``python -m desktop.maths.worker``, started by ``desktop.maths.typesetter``.

A line of JSON in, a line of JSON out, until stdin closes. Drawing is Python's work, some milliseconds of it, and what
a model writes can make it take for ever: in a process of its own it stops neither the window's thread nor the program,
and can be ended.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import sys
from dataclasses import asdict

from desktop.maths.typeset import RefusedError, typeset

_MEMORY = 1 << 30
"""Bytes that it may ever use, where the system can hold it to that."""
_SECONDS = 10
"""For one formula. The parent is less patient; this is for when there is no parent any more."""


def main() -> int:
    """Draw what is asked for. The first line out says that it can begin; ``{}`` = the formula is refused."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        typeset("x", display=False)  # the library and its font
        _say({})
        for line in sys.stdin:
            latex, display = json.loads(line)
            faulthandler.dump_traceback_later(_SECONDS, exit=True)
            try:
                answer = asdict(typeset(latex, display))
            except RefusedError:
                answer = {}
            faulthandler.cancel_dump_traceback_later()
            _say(answer)
    return 0


def _say(answer: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
