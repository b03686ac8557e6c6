"""The main window: puts the parts together and carries signals between them. What they do, they do themselves."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QCloseEvent, QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from desktop.bridge import EngineBridge
from desktop.language import tr
from desktop.models.choices import label
from desktop.models.conversation import Conversation
from desktop.models.engine import Engine
from desktop.models.outlooks import Outlooks
from desktop.models.parts import by_hand
from desktop.models.sampling import SamplingOf
from desktop.models.shelf import Shelf
from desktop.models.unsent import Unsent
from desktop.settings import SettingsFile
from desktop.shortcuts import key_text
from desktop.store import Hit, Message, Store
from desktop.theme.theme import Theme
from desktop.views.actions import Actions
from desktop.views.applied import Applied, Zoom
from desktop.views.attachments import Attachments
from desktop.views.benchmarking import Benchmarking
from desktop.views.beside import Beside
from desktop.views.chat_changes import ChatChanges
from desktop.views.chat_page import ChatPage
from desktop.views.comparing import Comparing
from desktop.views.downloads import Downloads
from desktop.views.exchange import Exchange
from desktop.views.habits import Habits
from desktop.views.model_choice import ModelChoice
from desktop.views.modelless import Modelless
from desktop.views.origins import Origins
from desktop.views.sending import Sending
from desktop.views.settings.dialog import ENGINE
from desktop.views.settings.opening import SettingsOpening
from desktop.views.sidebar import Sidebar
from desktop.views.status_line import StatusLine
from desktop.views.token_count import TokenCount
from desktop.views.top_bar import TopBar
from desktop.views.trying import DraftTrial
from desktop.views.unseen import Unseen
from desktop.widgets.divided import Divided
from desktop.widgets.status_bar import StatusBar
from desktop.widgets.toast import Toast
from desktop.words import YOURS, Notice

if TYPE_CHECKING:
    from desktop.views.panel import Panel


class MainWindow(QMainWindow):
    """The window.

    Args:
        bridge: to the engine.
        store: the chats.
        engine: choices and state of the engine.
        shelf: the model library.
        sampling: what a chat's settings come to.
        conversation: the chat on screen.
        settings: what a person has chosen.
        theme: light, dark or the system's.
        logs: folder that "Open log" opens.
    """

    def __init__(
        self,
        bridge: EngineBridge,
        store: Store,
        engine: Engine,
        shelf: Shelf,
        sampling: SamplingOf,
        conversation: Conversation,
        comparing: Comparing,
        settings: SettingsFile,
        theme: Theme,
        logs: Path,
    ) -> None:
        super().__init__()
        self.store, self.engine, self.shelf, self.sampling = store, engine, shelf, sampling
        self.conversation, self.comparing, self.settings, self.theme = conversation, comparing, settings, theme
        self.logs, self.bridge = logs, bridge
        self._leaving: Notice | None = None
        self._build()
        self._connect()
        self.changes = ChatChanges(self)
        self.exchange = Exchange(self, partial(self._author, "You", "Assistant"))  # files stay in English
        self.attachments = Attachments(self, bridge)
        self.origins = Origins(self.page.messages, bridge, settings)
        self.benchmarking = Benchmarking(bridge, engine, settings, conversation, comparing, self)
        self.zoom = Zoom(self.page, settings, self.toast)
        self.dialogs = SettingsOpening(self)
        self.beside = Beside(self, self._split)
        self.actions_ = Actions(self)
        self.trying = DraftTrial(bridge, store, engine, shelf, conversation, comparing, self)
        self.unsent = Unsent(self.page.composer, self.page.messages, conversation, store)
        self._parts = (
            StatusLine(self.status, engine, conversation, comparing),
            Sending(self.page, bridge, engine, conversation),
            TokenCount(self.page.composer, bridge, engine, conversation),
            Applied(self.page, settings, theme),
            Modelless(self.page.notice, bridge, engine, conversation),
            Unseen(self, conversation),
        )
        self.outlooks = Outlooks(self)
        self.downloads = Downloads(shelf, self.outlooks, self.page.welcome, self.page.notice, self.status, engine, self)
        self.models = ModelChoice(self)
        self.setMinimumSize(480, 360)
        self.resize(1100, 760)
        self.habits = Habits(self, conversation, settings)
        self._title()
        self.sidebar.refresh()

    # -- parts ----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.sidebar = Sidebar(self.store)
        self.top = TopBar()
        self.page = ChatPage(self.conversation, partial(self._author, tr("You"), tr("Assistant")), self.comparing.maths)
        self.status = StatusBar(key_text("panel"))
        self.stack = QStackedWidget()
        self.stack.addWidget(self.page)
        self.stack.addWidget(self.comparing.view)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top)
        column.addWidget(self.stack, 1)
        self._split = Divided("chats", 230, 870, 320)
        self._split.setHandleWidth(1)
        self._split.addWidget(self.sidebar)
        self._split.addWidget(right)
        self._split.setStretchFactor(1, 1)
        whole = QWidget()
        rows = QVBoxLayout(whole)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self._split, 1)
        rows.addWidget(self.status)
        self.setCentralWidget(whole)
        self.toast = Toast(whole, key_text("undo_delete"))

    def _connect(self) -> None:
        self.sidebar.new_chat.connect(self.new_chat)
        self.sidebar.opened.connect(self.open_chat)
        self.sidebar.found.connect(self._found)
        self.sidebar.noticed.connect(self.page.notice.show_notice)
        self.top.switched.connect(self.engine.set_enabled)
        self.engine.noticed.connect(self.page.notice.show_notice)
        self.engine.withdrawn.connect(self.page.notice.withdraw)
        self.settings.noticed.connect(self.page.notice.show_notice)
        self.conversation.opened.connect(self._opened)
        self.conversation.chat_changed.connect(self._chat_changed)
        self.conversation.withdrawn.connect(self._look_at_unsaved)
        self.page.messages.compare.connect(self.compare)
        self.page.notice.acted.connect(self._act)
        self.comparing.opened.connect(lambda: self.stack.setCurrentWidget(self.comparing.view))
        self.comparing.view.closed.connect(self.close_compare)

    @property
    def panel(self) -> Panel | None:
        """The speculation panel, once it was wanted."""
        return self.beside.panel

    # -- chats ----------------------------------------------------------------------------------------------------

    def new_chat(self) -> None:
        """An empty page."""
        self.close_compare()
        self.conversation.new()

    def open_chat(self, chat: int) -> None:
        """Show a chat."""
        self.close_compare()
        self.conversation.open(chat)

    def _found(self, hit: Hit, words: str) -> None:
        self.close_compare()
        if hit.message is not None:
            self.conversation.find(hit.chat.id, hit.message, words)

    def _opened(self, messages: list[Message]) -> None:
        self._title()
        self.sidebar.mark(self.conversation.chat.id if self.conversation.chat else None)

    def _chat_changed(self, chat: int) -> None:
        self.sidebar.refresh(chat)
        self.sidebar.mark(self.conversation.chat.id if self.conversation.chat else None)
        self._title()

    def _title(self) -> None:
        chat = self.conversation.chat
        self.setWindowTitle(tr("{chat} – Tandem", chat=chat.title) if chat else "Tandem")

    def _author(self, you: str, assistant: str, message: Message) -> str:
        if message.role == "user":
            return you
        model = self.shelf.named(message.target)
        return label(model) if model is not None else (message.target or assistant)

    # -- commands -------------------------------------------------------------------------------------------------

    def compare(self, message: Message | None = None) -> None:
        """Compare a reply, the last one by default."""
        replies = [m for m in self.conversation.messages if m.role == "assistant" and m.state != "streaming"]
        chosen = message or (replies[-1] if replies else None)
        if chosen is not None and by_hand(chosen):
            self.page.notice.show_notice(YOURS)
        elif chosen is not None and not self.conversation.running:
            self.comparing.begin(chosen)

    def close_compare(self) -> None:
        """Back to the chat; a comparison that still runs is stopped."""
        self.comparing.stop()
        self.stack.setCurrentWidget(self.page)
        self.page.composer.setFocus()

    def stop(self) -> None:
        """Esc: stop what runs, else leave the comparison."""
        if self.stack.currentWidget() is self.comparing.view:
            self.close_compare()
        else:
            self.conversation.stop()

    def edit_settings(self, page: str = "") -> None:
        """The program's settings, at the page of that key."""
        self.dialogs.open(page)

    def edit_chat_settings(self) -> None:
        """The settings of the chat on screen."""
        self.dialogs.open_chat()

    def open_logs(self) -> None:
        """The folder with the logs, in the system's file manager."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.logs)))

    def _act(self, action: str) -> None:
        acts = {
            "restart": self.engine.restart,
            "log": self.open_logs,
            "settings": lambda: self.edit_settings(ENGINE),
            "new_chat": self.new_chat,
            "models": self.models.manage,
        }
        self.page.composer.setFocus()  # the notice is gone, and its button with it
        acts[action]()

    # -- window ---------------------------------------------------------------------------------------------------

    def raise_to_front(self) -> None:
        """Another start was asked for: this is the window."""
        self.setWindowState((self.windowState() & ~Qt.WindowState.WindowMinimized) | Qt.WindowState.WindowActive)
        self.show()
        self.raise_()
        self.activateWindow()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.sidebar.make_room(event.size().width())
        self.toast.place()

    def _look_at_unsaved(self) -> None:
        if self._leaving is not None and not self.conversation.unsaved.problem:
            self.page.notice.withdraw(self._leaving)
            self._leaving = None

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.conversation.unsaved.problem and self._leaving is None:
            unsaved = self.conversation.unsaved
            why = tr("{problem} Close Tandem again to leave without what is not saved.", problem=unsaved.problem)
            self._leaving = Notice(tr("A reply is not saved yet"), why, ("retry",), retry=unsaved.retry)
            self.close_compare()  # it lies over the notices
            self.page.notice.show_notice(self._leaving)
            event.ignore()
            return
        self.conversation.stop()
        self.unsent.finish()
        self.dialogs.finish()
        self.habits.keep()
        self.benchmarking.leave()
        QTimer.singleShot(0, self, self.close_compare)
        super().closeEvent(event)
