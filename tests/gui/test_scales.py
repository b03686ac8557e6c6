"""Screens of several scales: pictures have the pixels of their screen, and are sharp wherever they stand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from desktop.maths.typeset import Drawing
from desktop.widgets import formula

ROOT = Path(__file__).parents[2]
TRIANGLE = Drawing(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10">'
    '<path d="M1 1 L9 3 L5 9 Z" fill="currentColor"/></svg>',
    width=1.3,
    ascent=1.0,
    descent=0.3,
)


@pytest.mark.parametrize("scale", [1.25, 1.5, 2.0])
def test_icons_formulas_and_plots_have_their_screens_pixels(tandem_home: Path, scale: float) -> None:
    of = {"QT_SCALE_FACTOR": str(scale), "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.gui.scaled_window", str(tandem_home / "logs")]
    run = subprocess.run(command, env=os.environ | of, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout.splitlines()[-1])
    assert seen["ratio"] == seen["point"] == scale
    assert set(seen["formulas"]) == {scale}
    assert len(seen["icons"]) > 10
    assert all(seen["icons"])


def inked(image: QImage) -> QImage:
    """The part that is not empty."""
    image = image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(1)
    places = [(x, y) for x in range(image.width()) for y in range(image.height()) if image.pixelColor(x, y).alpha()]
    left, right = min(x for x, _ in places), max(x for x, _ in places)
    upper, lower = min(y for _, y in places), max(y for _, y in places)
    return image.copy(QRect(left, upper, right - left + 1, lower - upper + 1))


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
def test_a_formula_is_as_sharp_wherever_it_stands(ratio: float) -> None:
    em, black = 24.0, QColor("black")
    drawn = inked(formula._pixmap(TRIANGLE, formula.size_of(TRIANGLE, em), black, ratio).toImage())
    for shift in (0.0, 0.2, 0.45, 0.6, 0.93):
        image = QImage(160, 160, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(ratio)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        painter.translate(3 + shift, 4 + shift)
        formula.paint(painter, QPointF(10 + shift, 40 - shift), TRIANGLE, em, black)
        painter.end()
        assert inked(image) == drawn, shift
