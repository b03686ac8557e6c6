"""A formula on screen: in the colour and at the size of the text it stands in, drawn once and then copied."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer

from desktop.maths.typeset import Drawing

_X_HEIGHT = 0.47
"""Of the formulas' font, in em."""
_MOST_PIXELS = 2_000_000
"""Larger ones are drawn each time: they would push all others out of the cache."""


def em_of(font: QFont) -> float:
    """Pixels of a formula's em beside text in this font: small letters are equally tall."""
    pixels = QFontInfo(font).pixelSize()
    return min(max(QFontMetricsF(font).xHeight() / _X_HEIGHT, pixels), 1.25 * pixels)


def size_of(drawing: Drawing, em: float) -> QSizeF:
    """Of the whole formula, in pixels."""
    return QSizeF(drawing.width * em, (drawing.ascent + drawing.descent) * em)


def paint(painter: QPainter, baseline: QPointF, drawing: Drawing, em: float, ink: QColor) -> None:
    """Draw with the left end of the baseline there."""
    size = size_of(drawing, em)
    ratio = painter.device().devicePixelRatio()
    left, top = baseline.x(), baseline.y() - drawing.ascent * em
    if size.width() * size.height() * ratio * ratio > _MOST_PIXELS:
        _renderer(drawing, ink).render(painter, QRectF(left, top, size.width(), size.height()))
        return
    key = f"maths/{hash(drawing.svg)}/{len(drawing.svg)}/{em:.2f}/{ink.name()}/{ratio}"
    pixmap = QPixmap()
    if not QPixmapCache.find(key, pixmap):
        pixmap = _pixmap(drawing, size, ink, ratio)
        QPixmapCache.insert(key, pixmap)
    painter.drawPixmap(QPointF(round(left * ratio) / ratio - 1, round(top * ratio) / ratio - 1), pixmap)


def _pixmap(drawing: Drawing, size: QSizeF, ink: QColor, ratio: float) -> QPixmap:
    """With a pixel around it: letters may lean out of their box."""
    pixmap = QPixmap(round((size.width() + 2) * ratio) + 1, round((size.height() + 2) * ratio) + 1)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _renderer(drawing, ink).render(painter, QRectF(1, 1, size.width(), size.height()))
    painter.end()
    return pixmap


def _renderer(drawing: Drawing, ink: QColor) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(drawing.svg.replace("currentColor", ink.name()).encode()))
