"""Monochrome icons: SVG files tinted with the ink of the widget that shows them, again whenever the palette changes."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from PySide6.QtCore import QByteArray, QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QKeySequence, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QToolButton, QWidget

from desktop.theme.tokens import tokens_now
from desktop.theme.units import lines

_FOR_LATER = 3.0
"""Pixels for a pixel, from which icons are scaled down on a screen that comes later."""

_DIRECTED = ("left", "right", "onward", "sidebar")
"""Drawn for what is read from left to right, and mirrored for what is not."""


def icon(name: str, color: QColor, disabled: QColor, side: int, *, mirrored: bool = False) -> QIcon:
    """The icon in one ink and so many pixels; on each screen that is there it has that screen's own."""
    made = QIcon()
    ratios = {screen.devicePixelRatio() for screen in QGuiApplication.screens()} | {_FOR_LATER}
    for mode, ink in ((QIcon.Mode.Normal, color), (QIcon.Mode.Disabled, disabled)):
        for size in sorted({(QSize(side, side) * ratio).width() for ratio in ratios}):
            made.addPixmap(_pixmap(name, ink, size, mirrored and name in _DIRECTED), mode)
    return made


def _pixmap(name: str, ink: QColor, size: int, mirrored: bool) -> QPixmap:
    """Drawn once; each message has the same few buttons."""
    key = f"tandem/{name}/{ink.name()}/{size}/{mirrored}"
    pixmap = QPixmap(size, size)
    if not QPixmapCache.find(key, pixmap):
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        if mirrored:
            painter.translate(size, 0)
            painter.scale(-1, 1)
        drawing = QByteArray(_drawing(name).replace("currentColor", ink.name()).encode())
        QSvgRenderer(drawing).render(painter, QRectF(0, 0, size, size))
        painter.end()
        QPixmapCache.insert(key, pixmap)
    return pixmap


@cache
def _drawing(name: str) -> str:
    return (files("desktop.resources") / "icons" / f"{name}.svg").read_text("utf-8")


class IconButton(QToolButton):
    """A flat button with an icon and always a name: what assistive technology reads and the tooltip shows.

    Args:
        icon_name: file name in ``resources/icons`` without ending.
        label: what a press does, sentence case.
        text: also show the label beside the icon.
        size: of the icon, in heights of a line.
    """

    def __init__(
        self,
        icon_name: str,
        label: str,
        parent: QWidget | None = None,
        *,
        text: bool = False,
        shortcut: str = "",
        size: float = 1.05,
    ) -> None:
        super().__init__(parent)
        self._size = size
        self._icon_name = icon_name
        self._tinted: tuple[str, str, str, int, bool] | None = None
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if text else Qt.ToolButtonStyle.ToolButtonIconOnly
        self.setToolButtonStyle(style)
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.set_label(label, shortcut)
        self._fit()

    def set_label(self, label: str, shortcut: str = "") -> None:
        """Change what the button says of itself."""
        self.setText(label)
        self.setAccessibleName(label)
        keys = QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText) if shortcut else ""
        self.setToolTip(f"{label} ({keys})" if keys else label)

    def set_icon(self, name: str) -> None:
        """Another icon from the same set."""
        self._icon_name = name
        self._tint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange, QEvent.Type.LayoutDirectionChange):
            self._tint()
        elif event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        """As large as the letters beside it."""
        side = lines(self, self._size)
        self.setIconSize(QSize(side, side))
        self._tint()

    def _tint(self) -> None:
        tokens = tokens_now()
        ink = tokens.on_accent if self.property("primary") else tokens.subtle
        side = self.iconSize().width()
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        wanted = (self._icon_name, ink.name(), tokens.faint.name(), side, mirrored)
        if wanted != self._tinted:  # a button hears of its style several times before it is shown
            self._tinted = wanted
            self.setIcon(icon(self._icon_name, ink, tokens.faint, side, mirrored=mirrored))
