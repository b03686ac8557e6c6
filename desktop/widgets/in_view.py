"""What a person writes within a page that scrolls stays in view: all of it when it is begun or grows, else its caret.

Nothing moves while that is seen already.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QTimer
from PySide6.QtWidgets import QPlainTextEdit, QScrollArea, QWidget


class InView(QObject):
    """Scrolls the page that a text field stands in, while the field has the keyboard.

    Args:
        whole: the field and what belongs to it, within the page.
        edit: the field.
    """

    def __init__(self, whole: QWidget, edit: QPlainTextEdit) -> None:
        super().__init__(whole)
        self._whole, self._edit = whole, edit
        self._show, self._follow = (QTimer(self, singleShot=True, interval=0) for _ in range(2))
        self._show.timeout.connect(self._show_whole)  # later: the page and the field are laid out then
        self._follow.timeout.connect(self._show_caret)
        edit.cursorPositionChanged.connect(self._follow.start)
        whole.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._show.start()
        return super().eventFilter(watched, event)

    def _show_whole(self) -> None:
        page = self._page()
        if page is None:
            return
        self._edit.ensureCursorVisible()
        if self._whole.height() <= page.viewport().height():
            page.ensureWidgetVisible(self._whole, 0, 0)
        else:
            self._show_caret()

    def _show_caret(self) -> None:
        page = self._page()
        if page is None:
            return
        caret, height = self._edit.cursorRect(), self._edit.viewport().height()
        line = QPoint(caret.center().x(), min(max(caret.center().y(), 0), height))
        inside = page.widget()
        assert inside is not None
        at = self._edit.viewport().mapTo(inside, line)
        page.ensureVisible(at.x(), at.y(), 0, caret.height())

    def _page(self) -> QScrollArea | None:
        """Where it stands, while a person writes in it."""
        writes = self._edit.window().focusWidget() is self._edit  # now, or when the window is in front again
        return page_of(self._whole) if writes else None


def page_of(widget: QWidget) -> QScrollArea | None:
    """The page that a widget scrolls with; None = it stands in none."""
    above = widget.parentWidget()
    while above is not None and not isinstance(above, QScrollArea):
        above = above.parentWidget()
    return above


def written_in(page: QWidget) -> bool:
    """Whether what is typed goes into a text of that page."""
    at = page.window().focusWidget()
    return isinstance(at, QPlainTextEdit) and not at.isReadOnly() and page.isAncestorOf(at)
