"""A display for what is drawn on a screen: the one that is there, or a virtual one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from installers.system import has_display


@contextmanager
def display() -> Iterator[None]:
    """The display that is there, or a virtual one."""
    if has_display(os.environ):
        yield
        return
    said, say = os.pipe()
    command = ["Xvfb", "-displayfd", str(say), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[say], stderr=subprocess.DEVNULL) as server:
        os.close(say)
        try:
            with os.fdopen(said) as answer:
                os.environ["DISPLAY"] = f":{answer.readline().strip()}"
            yield
        finally:
            server.terminate()
