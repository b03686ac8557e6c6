"""The small window that says why Tandem cannot start here, and what to do. Nothing is changed on disk."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QVBoxLayout

from desktop.language import tr


class Refusal(QDialog):
    """One sentence and one button."""

    def __init__(self, message: str) -> None:
        super().__init__()
        self.setWindowTitle(tr("Tandem cannot start"))
        self.label = QLabel(message)
        self.label.setWordWrap(True)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setAccessibleDescription(message)
        close = QPushButton(tr("Close"))
        close.clicked.connect(self.accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 20, 20, 16)
        layout.setSpacing(16)
        layout.addWidget(self.label)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        self.resize(460, 160)
