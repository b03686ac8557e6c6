"""The page of where everything lies, and of chats going out and coming in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from backend.library.paths import data_path, models_dir
from desktop.language import marked, tr
from desktop.widgets.form import Form, quiet
from desktop.widgets.tips import plain

_MOVED = marked(
    "Tandem's folders are moved with the environment variables TANDEM_HOME and, for models, TANDEM_MODELS_DIR, set "
    "before it starts. Nothing is moved by itself: take what lies in the old folder along."
)


class DataPage(Form):
    """Shows folders and opens them.

    Args:
        settings: the file of the settings.
        logs: the folder of the logs.
        actions: what can be done with chats: a button's text, and what it does.
    """

    def __init__(self, settings: Path, logs: Path, actions: Mapping[str, Callable[[], object]]) -> None:
        super().__init__()
        from backend.library.places import hub_cache_dir  # its libraries take a while to load

        self.heading(tr("Folders"))
        self.folders = {
            marked("Chats"): Folder(data_path(), tr("Folder of chats"), tr("Open the folder of chats")),
            marked("Settings"): Folder(settings.parent, tr("Folder of settings"), tr("Open the folder of settings")),
            marked("Models"): Folder(models_dir(), tr("Folder of models"), tr("Open the folder of models")),
            marked("Hub's own cache"): Folder(
                hub_cache_dir(), tr("Folder of the hub's own cache"), tr("Open the folder of the hub's own cache")
            ),
            marked("Logs"): Folder(logs, tr("Folder of logs"), tr("Open the folder of logs")),
        }
        for label, folder in self.folders.items():
            self.row(tr(label), folder)
        self.note(tr(_MOVED))
        self.heading(tr("Chats"))
        for text, act in actions.items():
            button = QPushButton(text)
            button.clicked.connect(lambda _=False, act=act: act())
            button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            self.wide(button)


class Folder(QWidget):
    """Its path, to be read and copied, and a button that shows it in the system's file manager.

    Args:
        path: of the folder.
        name: what the path is called, for assistive technology.
        opening: the same of the button.
    """

    def __init__(self, path: Path, name: str, opening: str) -> None:
        super().__init__()
        self.path = path
        shown = QLineEdit(str(path))
        shown.setObjectName("field")
        shown.setReadOnly(True)
        shown.setCursorPosition(0)
        shown.setToolTip(plain(str(path)))
        shown.setAccessibleName(name)
        self.open = QPushButton(tr("Open"))
        self.open.setAccessibleName(opening)
        self.open.clicked.connect(self._open)
        self.words = quiet("")
        self.words.hide()
        row = QHBoxLayout()
        row.addWidget(shown, 1)
        row.addWidget(self.open)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(row)
        layout.addWidget(self.words)

    def _open(self) -> None:
        if not self.path.is_dir():
            self._say(tr("This folder is not there yet: it is made when something is put into it."))
        elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.path))):
            self._say(tr("The system has no program that shows folders. The path can be selected and copied."))
        else:
            self._say("")

    def _say(self, text: str) -> None:
        self.words.setText(text)
        self.words.setVisible(bool(text))
