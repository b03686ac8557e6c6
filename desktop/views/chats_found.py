"""How the chats were found at the start: damaged, or where nothing can be written; said in the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.language import tr
from desktop.models.attempt import Attempts, Steps
from desktop.store import Store
from desktop.store.damage import Checkup
from desktop.words import Notice

if TYPE_CHECKING:
    from desktop.store.salvage import Saved
    from desktop.views.main_window import MainWindow


class ChatsFound(QObject):
    """Of one window and its store."""

    _damaged = Signal()

    def __init__(self, store: Store, window: MainWindow) -> None:
        super().__init__(window)
        self._store, self._window = store, window
        self._checkup: Checkup | None = None
        self._attempts = Attempts(self)
        self._attempts.noticed.connect(window.page.notice.show_notice)
        self._attempts.withdrawn.connect(window.page.notice.withdraw)
        self._damaged.connect(self._tell_damage)

    def tell(self, saved: Saved | None, *, check: bool) -> None:
        """Say what there is to say.

        Args:
            saved: what came of damaged chats.
            check: look for damage, beside the window: the last run did not end, and perhaps the power did.
        """
        if saved is not None:
            from desktop.views.salvaging import told

            self._window.page.notice.show_notice(told(saved))
        elif (problem := self._store.problem) is not None:
            title = tr("Chats can be read, but not saved")
            again = Notice(title, problem.message, ("retry", "log"), retry=lambda: self._attempts.run(self._try))
            self._window.page.notice.show_notice(again)
        elif check:
            self._checkup = Checkup(self._store.path, self._damaged.emit)

    def close(self) -> None:
        """Give up what is not looked at yet."""
        if self._checkup is not None:
            self._checkup.close()

    def _try(self) -> Steps:
        yield self._store.try_writing()
        self._window.sidebar.refresh()

    def _tell_damage(self) -> None:
        why = tr(
            "When Tandem starts next, what can be read of them is saved in a new file; the damaged one is kept. Until "
            "then chats or parts of them may be missing."
        )
        self._window.page.notice.show_notice(Notice(tr("The chats on the disk are damaged"), why, ("log",)))
