"""The window in a process of its own, since a scale is read once: says whether what it draws has the screen's pixels.

Run as ``python -m tests.gui.scaled_window FOLDER`` with ``QT_SCALE_FACTOR`` set; prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSizeF
from PySide6.QtGui import QColor, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop.maths.typeset import Drawing
from desktop.start import Desktop
from desktop.theme import icons
from desktop.widgets import formula
from tests.gui.scripted import ScriptedEngine

SCRIPT = "Here is $x^2$ and\n\n$$\n\\sum_{n=1}^k n\n$$\n\nwith its end."


def until(done: Callable[[], object]) -> None:
    """Whoever runs this ends it when that never is."""
    while not done():
        QTest.qWait(10)


def noted() -> list[float]:
    """The ratios of formulas' pixmaps, as they are made."""
    ratios: list[float] = []
    make = formula._pixmap

    def making(drawing: Drawing, size: QSizeF, ink: QColor, ratio: float) -> QPixmap:
        pixmap = make(drawing, size, ink, ratio)
        ratios.append(pixmap.devicePixelRatio())
        return pixmap

    formula._pixmap = making
    return ratios


def with_a_reply(desktop: Desktop) -> None:
    desktop.window.resize(1200, 800)
    desktop.window.show()
    desktop.settings.change(draft="small")
    desktop.shelf.ask_drafts = lambda target: desktop.shelf.drafts.emit(target, [])  # type: ignore[method-assign]
    desktop.engine.start(load=False)
    desktop.engine.choose_target("big")
    until(lambda: desktop.engine.state.target is not None and desktop.engine.mode == "up")
    desktop.conversation.send("Write it")
    until(lambda: not desktop.conversation.running and not desktop.conversation.unsaved.writing)


def sharp(button: icons.IconButton) -> bool:
    """Whether its icon is drawn for just the pixels that it takes, and not scaled from others."""
    assert button._tinted is not None
    name, ink = button._tinted[:2]
    ratio = button.devicePixelRatioF()
    pixmap = button.icon().pixmap(button.iconSize(), ratio)
    size = (button.iconSize() * ratio).width()
    expected = icons._pixmap(name, QColor(ink), size, mirrored=False)
    return pixmap.devicePixelRatio() == ratio and pixmap.toImage() == expected.toImage()


def point_ratio(desktop: Desktop) -> float:
    """Of the plots' only pixmap: the point that stands for the reply; all else is drawn by lines."""
    desktop.window.actions_.by_id["panel"].trigger()
    panel = desktop.window.panel
    assert panel is not None
    panel.equation.show_reply(0.8, 4, 3.4, "")
    panel.equation.grab()
    return float(panel.equation._point.scatter.fragmentAtlas.devicePixelRatio())


def main() -> None:
    app = QApplication([])
    formulas = noted()
    desktop = Desktop(app, Path(sys.argv[1]), make_client=lambda: ScriptedEngine(SCRIPT))
    with_a_reply(desktop)
    until(lambda: len(formulas) >= 2)
    seen = {
        "ratio": desktop.window.devicePixelRatioF(),
        "formulas": formulas,
        "point": point_ratio(desktop),
        "icons": [sharp(b) for b in desktop.window.findChildren(icons.IconButton) if b.isVisible()],
    }
    desktop.window.close()
    desktop.close()
    sys.stdout.write(f"{json.dumps(seen)}\n")


if __name__ == "__main__":
    main()
