"""Scenes of the tour that need a program of their own: the first start, and a screen at another scale.

One alone, without a model: ``python -m tests.long.tour_apart welcome FOLDER``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.long.display import display

SCENES = ("welcome", "scaled")


def run_apart(scene: str, folder: Path) -> None:
    """Take the scene's pictures in another process, in which no model is found."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        env = os.environ | {
            "TANDEM_HOME": str(home),
            "TANDEM_MODELS_DIR": str(home / "models"),
            "HF_HUB_CACHE": str(home / "hub"),
            "TANDEM_OTHER_PROGRAMS": "off",
        }
        if scene == "scaled":
            env["QT_SCALE_FACTOR"] = "1.5"
        subprocess.run([sys.executable, "-m", "tests.long.tour_apart", scene, str(folder), "here"], env=env, check=True)


def take(scene: str, folder: Path) -> None:
    """The scene, in this process."""
    from tests.long.reading import MATHS, open_written
    from tests.long.tour import Tour

    tour = Tour(folder, choose=False)
    tour.desktop.theme.choose("light")
    tour.window.show()
    tour.desktop.begin()
    tour.until(lambda: tour.desktop.engine.mode == "up")
    if scene == "scaled":
        tour.window.resize(1000, 608)
        open_written(tour, "How much does a draft gain, in formulas and in code?", MATHS)
        tour.window.page.messages.verticalScrollBar().setValue(0)
    else:
        tour.until(tour.window.page.welcome.start.isVisible)
    tour.settle(1)
    tour.picture(scene)
    tour.dark(f"{scene}-dark")
    tour.window.close()
    tour.desktop.close()


def main() -> None:
    """One scene, here or in a process of its own."""
    scene, folder, *here = sys.argv[1:]
    if here:
        take(scene, Path(folder))
        return
    with display():
        run_apart(scene, Path(folder))


if __name__ == "__main__":
    main()
