"""Before there is a window: what can be read of damaged chats is saved, with a word about it where that takes long."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLabel, QProgressBar, QVBoxLayout

from desktop.language import counted, tr
from desktop.models.titles import title_from
from desktop.store.salvage import Saved, salvage
from desktop.words import Notice

_UNSEEN_S = 0.3
"""What is quicker needs no window."""


class Salvaging(QDialog):
    """Shown while it lasts; closing it gives it up."""

    _ended = Signal()

    def __init__(self, work: Future[Saved]) -> None:
        super().__init__()
        self.setWindowTitle("Tandem")
        label = QLabel(tr("The chats on the disk are damaged. What can be read of them is being saved in a new file."))
        label.setWordWrap(True)
        bar = QProgressBar()
        bar.setRange(0, 0)
        bar.setAccessibleName(tr("Saving chats"))
        self.setAccessibleDescription(label.text())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 20, 20, 16)
        layout.setSpacing(16)
        layout.addWidget(label)
        layout.addWidget(bar)
        self.resize(460, 120)
        self._ended.connect(self.accept, Qt.ConnectionType.QueuedConnection)  # not before it is shown
        work.add_done_callback(lambda _: self._ended.emit())


def save(path: Path) -> Saved:
    """Save what can be read of ``path``, which nobody has open. Needs an application.

    Raises:
        StoreError: it cannot be done; UnwantedError: the person closed the window. The chats are as they were.
    """
    unwanted = threading.Event()
    with ThreadPoolExecutor(1, thread_name_prefix="salvage") as pool:
        work = pool.submit(salvage, path, title_from, unwanted.is_set)
        try:
            return work.result(timeout=_UNSEEN_S)
        except TimeoutError:
            if not work.done() and Salvaging(work).exec() == QDialog.DialogCode.Rejected:
                unwanted.set()
            return work.result()


def told(saved: Saved) -> Notice:
    """What came of it."""
    kept = tr("The damaged file is kept as {name}.", name=saved.kept.name)
    if not saved.messages:
        why = tr("No chat could be read, so the list is empty.")
    elif not saved.known:
        why = counted("%n message was saved.", "%n messages were saved.", saved.messages)
    else:
        why = counted(
            "{chats} of {known} chats and %n message were saved.",
            "{chats} of {known} chats and %n messages were saved.",
            saved.messages,
            chats=saved.chats,
            known=saved.known,
        )
    torn = counted("Parts of %n chat are missing.", "Parts of %n chats are missing.", saved.torn) if saved.torn else ""
    return Notice(tr("The chats on the disk were damaged"), " ".join(filter(None, (why, torn, kept))), ("log",))
