"""One block of Markdown as a read-only document that is exactly as tall as its text.

Models write links and images of their own; nothing is ever fetched or opened from disk for them, and only plain web
and mail links can be followed. Formulas are drawn when they are known, and copied as they were written.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, QUrl
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

from desktop.language import tr
from desktop.maths.find import Piece
from desktop.maths.typeset import Drawing
from desktop.maths.typesetter import Typesetter
from desktop.theme.tokens import Tokens, tokens_now
from desktop.theme.units import lines
from desktop.widgets.inline_maths import InlineMaths, as_written, hide, source_of
from desktop.widgets.markdown_lines import BREAK, broken
from desktop.widgets.prose_style import dress, dress_tables, may_follow
from desktop.widgets.wrapping import wrap_mode

_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_LINE = "\u2028"
INDENT = 1.4
"""Of one level of a list, in lines."""
_BY_KEY = frozenset({Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason})


class Prose(QTextBrowser):
    """Markdown without fenced code. ``set_markdown`` may be called as often as the text grows.

    Args:
        maths: draws formulas; without it their source is shown.
    """

    def __init__(self, parent: QWidget | None = None, maths: Typesetter | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("prose")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setOpenLinks(False)
        self.setAccessibleName(tr("Text of the message"))
        self.anchorClicked.connect(self.follow)
        self.document().setDocumentMargin(0)
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self.document().setDefaultTextOption(option)
        self._markdown = ""
        self._depth = 0
        self._plain = self._grows = self._by_key = False
        self._look: tuple[Tokens, QFont] | None = None
        """What it was dressed in."""
        self._maths = maths
        self._formulas: InlineMaths | None = None
        self._missing: list[Piece] = []
        """Formulas that are not drawn yet."""
        if maths is not None:
            maths.ready.connect(self._draw_missing)

    def set_markdown(self, text: str, *, grows: bool = False, depth: int = 0) -> None:
        """Show ``text``, which may still grow, and stands in so many list items."""
        if (text, grows, depth) != (self._markdown, self._grows, self._depth) or self._plain:
            self._markdown, self._grows, self._depth, self._plain = text, grows, depth, False
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

    def createMimeDataFromSelection(self) -> QMimeData:
        """What is copied: formulas as they were written."""
        source = source_of(self.textCursor())
        if source is None:
            return super().createMimeDataFromSelection()
        data = QMimeData()
        data.setText(source)
        return data

    def _render(self) -> None:
        document = self.document()
        self._look = (tokens_now(), self.font())
        self._missing = []
        hidden = hide("" if self._plain else self._markdown, self._grows)
        document.setIndentWidth(lines(self, INDENT))
        whole = QTextCursor(document)
        self._wrap()
        whole.beginEditBlock()  # laid out once, and only when no image is left in it
        if self._plain:
            document.setPlainText(self._markdown)
        else:
            lay_out(document, hidden.markdown)
        dress(document, *self._look, typed=self._plain, depth=self._depth)
        if hidden.formulas:
            self._formulas = self._formulas or InlineMaths(document)
            self._formulas.put(document, hidden, self._drawing)
        whole.endEditBlock()
        said = as_written(document) if hidden.formulas else ""
        dress_tables(document, tokens_now())  # Python's hold on the document ends with its frames', so this comes last
        if said != self.accessibleDescription():  # the text itself has a sign without a name in a formula's place
            self.setAccessibleDescription(said)
        self._fit()

    def _wrap(self) -> None:
        option, mode = self.document().defaultTextOption(), wrap_mode(self._markdown)
        if option.wrapMode() != mode:
            option.setWrapMode(mode)
            self.document().setDefaultTextOption(option)

    def _drawing(self, piece: Piece) -> Drawing | None:
        if self._maths is None:
            return None
        drawing = self._maths.drawing(piece.latex, piece.kind == "display")
        if drawing is None and self._maths.waits(piece.latex, piece.kind == "display"):
            self._missing.append(piece)
        return drawing

    def _draw_missing(self) -> None:
        if self._maths and not all(self._maths.waits(piece.latex, piece.kind == "display") for piece in self._missing):
            self._render()

    def _fit(self) -> None:
        document = self.document()
        document.setTextWidth(max(self.viewport().width(), 50))
        self.setFixedHeight(max(round(document.size().height() + 0.5), self.fontMetrics().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    def changeEvent(self, event: QEvent) -> None:
        # to a zoomed window each theme brings dozens of these, at which Qt lays out all anew in the font that it has
        if event.type() != QEvent.Type.FontChange or self.document().defaultFont() != self.font():
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


def lay_out(document: QTextDocument, markdown: str) -> None:
    """Make ``markdown`` the document's content, with the lines of a paragraph as they were written."""
    document.setMarkdown(broken(markdown), _FEATURES)
    place = document.find(BREAK)
    while not place.isNull():
        place.insertText(_LINE, place.charFormat())
        place = document.find(BREAK, place)


def _nothing() -> QImage:
    """One transparent pixel."""
    image = QImage(1, 1, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    return image
