"""One block of Markdown as a read-only document that is exactly as tall as its text.

Models write links and images of their own; nothing is ever fetched or opened from disk for them, and only plain web
and mail links can be followed.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QFocusEvent,
    QFont,
    QImage,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from desktop.theme.tokens import Tokens, tokens_now
from desktop.theme.units import lines
from desktop.widgets.prose_style import dress, may_follow
from desktop.widgets.wrapping import wrap_mode

_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_BY_KEY = frozenset({Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason})


class Prose(QTextBrowser):
    """Markdown without fenced code. ``set_markdown`` may be called as often as the text grows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("prose")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setOpenLinks(False)
        self.setAccessibleName("Text of the message")
        self.anchorClicked.connect(self.follow)
        self.document().setDocumentMargin(0)
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self.document().setDefaultTextOption(option)
        self._markdown = ""
        self._plain = False
        self._look: tuple[Tokens, QFont] | None = None
        """What it was dressed in."""
        self._by_key = False

    def set_markdown(self, text: str) -> None:
        """Show ``text``."""
        if text != self._markdown or self._plain:
            self._markdown, self._plain = text, False
            self._render()

    def set_plain(self, text: str) -> None:
        """Show ``text`` as typed (a person's own message)."""
        self._markdown, self._plain = text, True
        self._render()

    def follow(self, url: QUrl) -> bool:
        """Open a link in the system's browser if its scheme is on the list; says whether it was."""
        return may_follow(url.toString()) and QDesktopServices.openUrl(url)

    def loadResource(self, kind: int, url: QUrl | str) -> Any:
        """Never load anything that a model wrote an address of. Qt opens the file itself unless it gets something."""
        return _nothing()

    def _render(self) -> None:
        document = self.document()
        self._look = (tokens_now(), self.font())
        document.setIndentWidth(lines(self, 1.4))
        whole = QTextCursor(document)
        self._wrap()
        whole.beginEditBlock()  # laid out once, and only when no image is left in it
        if self._plain:
            document.setPlainText(self._markdown)
        else:
            document.setMarkdown(self._markdown, _FEATURES)
        dress(document, *self._look, typed=self._plain)
        whole.endEditBlock()
        self._fit()

    def _wrap(self) -> None:
        option, mode = self.document().defaultTextOption(), wrap_mode(self._markdown)
        if option.wrapMode() != mode:
            option.setWrapMode(mode)
            self.document().setDefaultTextOption(option)

    def _fit(self) -> None:
        document = self.document()
        document.setTextWidth(max(self.viewport().width(), 50))
        self.setFixedHeight(max(round(document.size().height() + 0.5), self.fontMetrics().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        heard = event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_look")
        if heard and self._look not in (None, (tokens_now(), self.font())):  # told several times until it is shown
            self._render()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._by_key = event.reason() in _BY_KEY
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._by_key and self.hasFocus():
            painter = QPainter(self.viewport())
            painter.setPen(tokens_now().accent)
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the conversation scrolls, not the block

    def minimumSizeHint(self) -> QSize:
        return QSize(50, super().minimumSizeHint().height())


def _nothing() -> QImage:
    """One transparent pixel."""
    image = QImage(1, 1, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    return image
