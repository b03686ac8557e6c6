"""A sideways scroll bar that is at hand while the text's own one is further down than the page shows."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QAbstractScrollArea, QScrollArea, QScrollBar, QWidget

from desktop.widgets.in_view import page_of


class LowBar(QScrollBar):
    """Stands at the lower edge of the page, as long as part of ``text`` is above that edge and its bar below.

    Args:
        text: what scrolls sideways, as tall as all its lines.
        frame: what it stands in, within a page that scrolls.
    """

    def __init__(self, text: QAbstractScrollArea, frame: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, frame)
        self.setObjectName("low")
        self.setLayoutDirection(text.layoutDirection())
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._text, self._frame = text, frame
        self._page: QScrollArea | None = None
        self.hide()
        own = text.horizontalScrollBar()
        own.rangeChanged.connect(self.place)
        own.valueChanged.connect(self.setValue)
        self.valueChanged.connect(own.setValue)
        frame.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            self._find_page()
        if event.type() in (QEvent.Type.Show, QEvent.Type.Resize, QEvent.Type.Move):
            self.place()
        return super().eventFilter(watched, event)

    def place(self) -> None:
        """Where it belongs now, if it is of use there."""
        own, page = self._text.horizontalScrollBar(), self._page
        if page is None or own.maximum() <= 0:
            self.hide()
            return
        port = page.viewport()
        edge = self._frame.mapFrom(port, QPoint(0, port.height())).y()
        top, bottom = self._text.y(), self._text.geometry().bottom() + 1
        height = own.sizeHint().height()
        self.setRange(own.minimum(), own.maximum())
        self.setPageStep(own.pageStep())
        self.setSingleStep(own.singleStep())
        self.setValue(own.value())
        self.setGeometry(self._text.x(), edge - height, self._text.width(), height)
        self.setVisible(top + 2 * height < edge < bottom)
        self.raise_()

    def _find_page(self) -> None:
        page = page_of(self._frame)
        if page is not None and page is not self._page:
            self._page = page
            page.verticalScrollBar().valueChanged.connect(self.place)
            page.verticalScrollBar().rangeChanged.connect(self.place)
