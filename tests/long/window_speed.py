"""How quick the window is: each figure against its bar, the reply over the real protocol from a scripted worker.

usage: python -m tests.long.window_speed   (``make bench ARGS=window``)

Ten thousand chats lie in the data folder, one of them of a hundred thousand tokens. Nothing is drawn on a screen
(``QT_QPA_PLATFORM`` says otherwise): what a graphics driver takes is not measured. Files come from the system's cache.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.long import driven
from tests.long.scripted_worker import Script

if TYPE_CHECKING:
    from desktop.start import Desktop

CHATS, TOKENS = 10_000, 100_000
STARTS = 5
START_BAR = 1500.0
SCRIPT = Script(tokens=4000, rate=200.0)


@dataclass(frozen=True)
class Figure:
    """A measurement and its bar."""

    name: str
    value: float
    bar: float
    unit: str

    @property
    def met(self) -> bool:
        return self.value <= self.bar

    def __str__(self) -> str:
        verdict = "met" if self.met else "NOT met"
        return f"{self.name:58} {self.value:7.1f} {self.unit:2}  bar {self.bar:6.0f} {self.unit:2}  {verdict}"


def main(arguments: list[str]) -> int:
    if arguments:
        return driven.run({"paint": say_painted, "measure": say_figures}[arguments[0]])
    from tests.long.many_chats import fill

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fill(home / "chats.sqlite", CHATS, TOKENS)
        env = driven.surroundings(home, SCRIPT)
        figures = [Figure(f"start to first paint, median of {STARTS}", 1e3 * first_paint(env), START_BAR, "ms")]
        said, _ = start("measure", env).communicate()
    for line in said.splitlines():
        name, value, bar, unit = line.split("\t")
        figures.append(Figure(name, float(value), float(bar), unit))
    for figure in figures:
        print(figure)
    whole = figures[-1].name.startswith("idle")
    if not whole:
        print("the measurement broke off")
    return 0 if whole and all(figure.met for figure in figures) else 1


def start(what: str, env: dict[str, str]) -> subprocess.Popen[str]:
    """The program, in a process of its own."""
    command = [sys.executable, "-m", "tests.long.window_speed", what]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def first_paint(env: dict[str, str]) -> float:
    """Seconds from the start of a process until its window has been painted, with the list of all chats."""
    took = []
    for _ in range(STARTS):
        began = time.perf_counter()
        process = start("paint", env)
        assert process.stdout is not None
        process.stdout.readline()
        took.append(time.perf_counter() - began)
        process.communicate()
    return statistics.median(took)


def say_painted(_desktop: Desktop) -> None:
    print("painted", flush=True)


def say_figures(desktop: Desktop) -> None:
    from tests.long.window_script import Measuring

    for measured in Measuring(desktop, SCRIPT.tokens).run():
        print(*measured, sep="\t", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
