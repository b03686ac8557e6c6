"""Makes the application and its parts, shows the window, and only then does what takes time."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from PySide6.QtCore import QMessageLogContext, QObject, QTimer, QtMsgType, Signal, qInstallMessageHandler
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from backend.client import EngineClient, own_engine
from backend.errors import EngineError, ErrorCode
from backend.library.paths import chats_file, config_path, data_path
from desktop.bridge import EngineBridge
from desktop.early import keep_last_crash
from desktop.garbage import Garbage
from desktop.interrupts import Interrupts
from desktop.language import marked, tr
from desktop.languages import speak, wanted_of
from desktop.maths.typesetter import Typesetter
from desktop.models.conversation import Conversation
from desktop.models.engine import Engine
from desktop.models.sampling import SamplingOf
from desktop.models.shelf import Shelf
from desktop.settings import SettingsFile
from desktop.single import SingleInstance
from desktop.store import Store, StoreError, damage
from desktop.store.damage import UnwantedError
from desktop.theme.theme import Theme
from desktop.views.chats_found import ChatsFound
from desktop.views.comparing import Comparing
from desktop.views.main_window import MainWindow
from desktop.views.refusal import Refusal
from desktop.words import Notice, notice

if TYPE_CHECKING:
    from desktop.store.salvage import Saved

APP_ID = "io.github.tandem_chat.Tandem"
BUSY = marked("Tandem is open already, or still closing, and does not answer. Wait a little and start it again.")
log = logging.getLogger(__name__)
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class Desktop:
    """All parts of a running program; ``close`` ends them in order.

    Args:
        app: the Qt application.
        logs: folder that "Open log" opens.
        make_client: the engine's client; None = a worker of our own.
        saved: what came of damaged chats.

    Raises:
        StoreError: the chats cannot be opened.
    """

    def __init__(
        self,
        app: QApplication,
        logs: Path,
        make_client: Callable[[], EngineClient] | None = None,
        saved: Saved | None = None,
    ) -> None:
        self.saved = saved
        self.settings = SettingsFile(config_path() / "settings.json")
        self.theme = Theme(app)
        self.theme.set_text_size(self.settings.now.text_size)
        self.theme.choose(self.settings.now.theme)
        self.store = Store(chats_file())
        self.bridge = EngineBridge(make_client or own_engine)
        self.shelf = Shelf()
        self.engine = Engine(self.bridge, self.shelf, self.settings)
        self.sampling = SamplingOf(self.settings, self.engine, self.shelf)
        self.conversation = Conversation(self.store, self.bridge, self.settings, self.sampling)
        self.maths = Typesetter()
        self.comparing = Comparing(self.bridge, self.conversation, self.maths)
        self.window = MainWindow(
            self.bridge,
            self.store,
            self.engine,
            self.shelf,
            self.sampling,
            self.conversation,
            self.comparing,
            self.settings,
            self.theme,
            logs,
        )
        self.chats_found = ChatsFound(self.store, self.window)

    def begin(self) -> None:
        """After the first paint: library, worker, and unless the last run ended badly the last pair or the starter."""
        clean = self.settings.now.clean_exit
        self.settings.change(clean_exit=False)
        if clean and not self.settings.now.target:
            self.shelf.changed.connect(self._load_starter)
        self.shelf.refresh()
        self.engine.start(load=clean)
        problem = self.settings.problem
        if not clean:
            why = f"{tr('No model was loaded by itself. Your chats are all here.')} {problem}".strip()
            said = Notice(tr("Tandem did not end properly last time"), why, ("models", "log"), mild=True)
            self.window.page.notice.show_notice(said)
        elif problem:
            self.window.page.notice.show_notice(Notice(tr("Some settings could not be read"), problem, mild=True))
        self.chats_found.tell(self.saved, check=not clean)

    def _load_starter(self) -> None:
        """Nothing was ever chosen: the starter target, if it is here (otherwise its download is proposed)."""
        self.shelf.changed.disconnect(self._load_starter)
        starter = self.shelf.starter
        model = self.shelf.named(starter.target) if starter is not None else None
        if model is not None and model.state == "installed" and self.engine.target is None:
            self.engine.choose_target(model.id)

    def close(self) -> None:
        """Stop what runs, write what is left, end the worker."""
        self.chats_found.close()
        self.maths.close()
        self.bridge.close()
        self.conversation.finish()
        self.window.exchange.close()
        self.window.benchmarking.close()
        self.window.sidebar.finder.close()
        self.settings.change(clean_exit=True)
        self.store.close()
        self.window.attachments.close()
        self.window.models.managing.close()
        self.shelf.close()
        self.theme.close()


class _Faults(QObject, logging.Handler):
    """Uncaught exceptions in slots: Qt goes on, so the window must say that something went wrong."""

    happened = Signal(str)

    def __init__(self) -> None:
        QObject.__init__(self)
        logging.Handler.__init__(self, logging.CRITICAL)

    def emit(self, record: logging.LogRecord) -> None:  # type: ignore[override]
        self.happened.emit(repr(record.exc_info[1]) if record.exc_info else record.getMessage())


def run(arguments: list[str], logs: Path | None, problem: EngineError | None) -> int:
    """Run the application to its end."""
    wanted = wanted_of(arguments)  # --help needs no display
    app = make_app(arguments)
    if unknown := speak(app, wanted):
        return _refuse(app, unknown)
    if problem is not None or logs is None:
        return _refuse(app, problem.message if problem else tr("The log folder cannot be used."))
    single = SingleInstance(data_path())
    if single.answered:
        _say("Tandem is open already; its window was asked to come to the front.", sys.stdout)
        return 0
    if not single.first:
        return _refuse(app, tr(BUSY))
    keep_last_crash(logs)
    garbage = Garbage()
    try:
        desktop = _desktop(app, logs)
    except StoreError as error:
        return _refuse(app, error.message)
    except UnwantedError:
        return 1
    faults = _Faults()
    logging.getLogger().addHandler(faults)
    faults.happened.connect(
        lambda text: desktop.window.page.notice.show_notice(
            notice(EngineError(ErrorCode.BUG, f"{text}. {tr('What you wrote is safe; the log has the details.')}"))
        )
    )
    single.raised.connect(desktop.window.raise_to_front)
    interrupts = Interrupts()
    interrupts.asked.connect(desktop.window.close)
    desktop.window.show()
    QTimer.singleShot(0, desktop.begin)
    code = app.exec()
    single.stop_listening()
    logging.getLogger().removeHandler(faults)
    desktop.close()
    interrupts.close()
    single.close()
    garbage.close()
    return code


def _desktop(app: QApplication, logs: Path) -> Desktop:
    """With what can be read of the chats in a new file where they are damaged, whenever that was found."""
    path = chats_file()
    saved = None if path.exists() else _saved(path)
    if damage.noted(path) and path.exists() and saved is None:
        with contextlib.suppress(StoreError):  # no room for another file: as it is, as far as it can be read
            saved = _saved(path)
    try:
        return Desktop(app, logs, saved=saved)
    except StoreError as error:
        if error.kind != "damaged":
            raise
    return Desktop(app, logs, saved=_saved(path))


def _saved(path: Path) -> Saved | None:
    """What came of it; imported here, for a start is to be quick."""
    from desktop.store.salvage import finish
    from desktop.views.salvaging import save

    return save(path) if path.exists() else finish(path)


def make_app(arguments: list[str]) -> QApplication:
    """The QApplication with its identity set."""
    qInstallMessageHandler(_qt_message)
    QApplication.setApplicationName("tandem")
    QApplication.setApplicationDisplayName("Tandem")
    QApplication.setDesktopFileName(APP_ID)
    _claim_taskbar()
    app = QApplication(arguments)
    app.setWindowIcon(QIcon(str(Path(__file__).parent / "resources" / "tandem.svg")))
    return app


def _refuse(app: QApplication, message: str) -> int:
    """Say why there is no window, in a window and on stderr."""
    log.error("%s", message)
    _say(message, sys.stderr)
    theme = Theme(app)
    theme.choose("system")
    refusal = Refusal(message)
    refusal.show()
    app.exec()
    return 1


def _qt_message(kind: QtMsgType, _context: QMessageLogContext, text: str | None) -> None:
    logging.getLogger("qt").log(_LEVELS.get(kind, logging.WARNING), "%s", text)
    if QApplication.startingUp():
        _say_in_terminal(kind, text)


def _say_in_terminal(kind: QtMsgType, text: str | None) -> None:
    """Qt ends a program that it can open no window for, so there is nowhere else to say it."""
    if kind in (QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg):
        _say(text or "", sys.stderr)
    if kind == QtMsgType.QtFatalMsg:
        _say("Tandem's window cannot open here; 'tandem chat' works in a terminal.", sys.stderr)
        os._exit(1)  # rather than Qt's abort, which looks like a crash


def _say(text: str, stream: TextIO | None) -> None:
    """A line in the terminal, where there is one: a program started by a click on Windows has none."""
    if stream is not None:
        stream.write(f"{text}\n")


def _claim_taskbar() -> None:
    if sys.platform == "win32":  # otherwise Windows groups the window under Python
        import ctypes

        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(APP_ID)
