"""A system prompt being written, with the library of named ones at hand: taken from there, or kept there."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QSignalBlocker, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from desktop.language import tr
from desktop.models.named import Named
from desktop.models.titles import title_from
from desktop.presets import Prompt
from desktop.theme.icons import IconButton

_LINES = 5


class PromptEdit(QWidget):
    """What is taken from the library is a copy; the text field's undo brings back what it replaced."""

    edited = Signal()

    def __init__(self, name: str, prompts: Named[Prompt] | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._prompts = prompts
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.edit = QPlainTextEdit()
        self.edit.setObjectName("field")
        self.edit.setTabChangesFocus(True)
        self.edit.setPlaceholderText(tr("For example: Answer briefly, and say when you are not sure."))
        self.edit.setAccessibleName(name)
        self.edit.textChanged.connect(self.edited)
        self.setFocusProxy(self.edit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.edit)
        self._fit()
        if prompts is not None:
            self.library = IconButton("chevron", tr("Prompts"), text=True)
            self.library.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
            self._menu = QMenu(self)
            self._menu.aboutToShow.connect(self._fill)
            self.library.setMenu(self._menu)
            row = QHBoxLayout()
            row.addWidget(self.library)
            row.addStretch(1)
            layout.addLayout(row)

    @property
    def text(self) -> str:
        """What is written."""
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Show a text from outside, which is no edit."""
        with QSignalBlocker(self.edit):
            self.edit.setPlainText(text)

    def take(self, text: str) -> None:
        """Put a text in place of what is written."""
        cursor = self.edit.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "edit"):
            self._fit()

    def _fit(self) -> None:
        self.edit.setFixedHeight(self.edit.fontMetrics().lineSpacing() * _LINES + 16)

    def _fill(self) -> None:
        assert self._prompts is not None
        self._menu.clear()
        for prompt in self._prompts.all.values():
            self._menu.addAction(prompt.name.replace("&", "&&"), partial(self.take, prompt.text))
        if not self._prompts.all:
            self._menu.addAction(tr("No prompts are kept yet")).setEnabled(False)
        self._menu.addSeparator()
        keep = self._menu.addAction(tr("Keep this one"), self._keep)
        keep.setEnabled(bool(self.text.strip()))

    def _keep(self) -> None:
        assert self._prompts is not None
        self._prompts.add(Prompt(name=title_from(self.text), text=self.text))
