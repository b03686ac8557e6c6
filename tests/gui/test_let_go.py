"""What is closed is let go of: no part of a window that is gone is kept, and no theme dresses the next one."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.theme.theme import Theme
from tests.gui.conftest import end
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine
from tests.gui.windows import DIALOGS, dialogs


def let_go() -> None:
    """What Qt and Python do in time."""
    for _ in range(3):
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()


def used(desktop: Desktop, qtbot: QtBot) -> None:
    """All that can be opened in it was, once."""
    desktop.window.show()
    desktop.settings.change(draft="small")
    desktop.engine.start(load=False)
    send(desktop, qtbot)
    desktop.conversation.stop()
    finished(desktop, qtbot)
    desktop.window.actions_.by_id["panel"].trigger()
    for action in DIALOGS:
        for dialog in dialogs(desktop, action):
            assert dialog.isVisible()


def test_a_window_that_was_used_leaves_nothing(qapp: QApplication, qtbot: QtBot, tandem_home: Path) -> None:
    let_go()
    before = set(QApplication.topLevelWidgets())
    desktop = Desktop(qapp, tandem_home / "logs", make_client=ScriptedEngine)
    used(desktop, qtbot)
    kept = [weakref.ref(part) for part in (desktop.window, desktop.theme, desktop.conversation, desktop.engine)]
    desktop.window.deleteLater()
    end(desktop)
    del desktop
    let_go()
    assert [ref() is None for ref in kept] == [True] * len(kept)
    assert set(QApplication.topLevelWidgets()) == before


def test_a_theme_that_is_closed_dresses_nothing(qapp: QApplication) -> None:
    old = Theme(qapp)
    old.set_text_size(150)
    old.close()
    old.close()
    new = Theme(qapp)
    new.set_text_size(100)
    sheet = qapp.styleSheet()
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert qapp.styleSheet() == sheet
    new.close()
