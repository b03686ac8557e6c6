"""The bar above the composer: what happened, why, and what to do about it. It never covers or clears what was typed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from desktop.language import tr
from desktop.theme.icons import IconButton
from desktop.words import LABELS, Action, Notice

_OWN = ("retry", "anyway", "less_context", "without_draft", "attach", "paste", "first_part", "cancel")


class NoticeBar(QFrame):
    """Shows one notice at a time; a new one replaces the old."""

    acted = Signal(str)
    """An action's id (see :data:`desktop.words.Action`), but for the notice's own, which are done here."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self._title = QLabel()
        self._title.setObjectName("title")
        self._detail = QLabel()
        for label in (self._title, self._detail):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._shown = Notice("")
        self._buttons = QHBoxLayout()
        self._buttons.addStretch(1)
        close = IconButton("close", tr("Close this notice"))
        close.clicked.connect(self.hide)
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 6, 12, 10)  # left as right: a layout does not mirror its margins
        layout.setSpacing(6)
        self._buttons.setSpacing(8)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        layout.addLayout(head)
        layout.addWidget(self._detail)
        layout.addLayout(self._buttons)
        self.hide()

    @property
    def text(self) -> str:
        """All that it says (tests, assistive technology)."""
        return f"{self._title.text()} {self._detail.text()}".strip()

    def show_notice(self, notice: Notice) -> None:
        """Say this now, unless what is shown says the same and more (and can be tried again as well)."""
        same = notice.title == self._shown.title and self._shown.detail.startswith(notice.detail)
        if self.isVisible() and same and notice.retry is None and not notice.does:
            return
        self._shown = notice
        self._title.setText(notice.title)
        self._detail.setText(notice.detail)
        self._detail.setVisible(bool(notice.detail))
        self.setProperty("mild", notice.mild)
        self.style().polish(self)
        while (item := self._buttons.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for action in notice.actions:
            if action in _OWN and _own(notice, action) is None:
                continue
            button = QPushButton(tr(LABELS[action]))
            button.setAccessibleName(tr(LABELS[action]))
            button.clicked.connect(lambda _=False, chosen=action: self._act(chosen))
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)
        self.setAccessibleName(self.text)
        self.show()
        self._fit()
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def withdraw(self, notice: Notice) -> None:
        """This is no longer so."""
        if self._shown == notice:
            self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Wrapped text must never be cut, however narrow the window."""
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(max(layout.heightForWidth(self.width()), 0))

    def _act(self, action: Action) -> None:
        self.hide()
        if action in _OWN:
            if (call := _own(self._shown, action)) is not None:
                call()
        else:
            self.acted.emit(action)


def _own(notice: Notice, action: Action) -> Callable[[], object] | None:
    return notice.does.get(action, notice.retry if action in ("retry", "anyway") else None)
