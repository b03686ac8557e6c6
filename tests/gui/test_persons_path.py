"""The person's path: one window, the real worker, the real starter pair, from the first message to the next start."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from backend.protocol import Comparison
from desktop.figures import MISSING
from desktop.settings import NONE
from desktop.start import Desktop
from desktop.store import Message
from tests.gui.person import finished, pick

pytestmark = pytest.mark.starter
TARGET, DRAFT = "qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"
PROMPT = "Write a Python function that returns the larger of two numbers, with type hints. Only the code."
MINUTES = 60_000


def settings(desktop: Desktop, *, tokens: int, qtbot: QtBot) -> None:
    """Seed 7 and a short reply, in the chat-settings dialog."""
    desktop.window.top.settings.click()
    dialog = desktop.window.findChild(QDialog)
    assert dialog is not None
    for field, value in ((dialog.seed, 7), (dialog.longest, tokens)):  # type: ignore[attr-defined]
        field.edit.clear()
        qtbot.keyClicks(field.edit, str(value))
    dialog.accept()
    qtbot.waitUntil(lambda: desktop.window.findChild(QDialog) is None)


def send(desktop: Desktop, text: str, qtbot: QtBot) -> None:
    composer = desktop.window.page.composer
    composer.set_text(text)
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert desktop.conversation.running


def reply(desktop: Desktop, text: str, qtbot: QtBot) -> Message:
    """Send, wait, and give the reply."""
    send(desktop, text, qtbot)
    finished(desktop, qtbot, 2 * MINUTES)
    made = desktop.conversation.messages[-1]
    assert made.state == "complete", desktop.window.page.notice.text
    return made


@pytest.mark.timeout(600)
@pytest.mark.alone
def test_the_persons_path(qtbot: QtBot, tandem_home: Path, starter_target: Path, starter_draft: Path) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    desktop = Desktop(app, tandem_home / "logs")
    window, status = desktop.window, desktop.window.status
    qtbot.addWidget(window)
    desktop.settings.change(draft=NONE)
    window.show()
    desktop.begin()
    try:
        # start: choose the target in its list and see it load
        qtbot.waitUntil(lambda: any(r.value == TARGET for r in window.top.target.rows), timeout=MINUTES)
        pick(window.top.target, TARGET, qtbot)
        qtbot.waitUntil(lambda: status.lead.startswith("Loading target"), timeout=MINUTES)
        qtbot.waitUntil(
            lambda: desktop.engine.mode == "up" and desktop.engine.state.target is not None, timeout=3 * MINUTES
        )
        assert desktop.engine.state.draft is None

        # send, and watch it stream
        settings(desktop, tokens=64, qtbot=qtbot)
        send(desktop, "Count from one to thirty in words.", qtbot)
        lengths: set[int] = set()

        def watched() -> bool:
            lengths.add(len(window.page.messages.widgets[-1].message.content))
            return not desktop.conversation.running

        qtbot.waitUntil(watched, timeout=MINUTES)
        first = desktop.conversation.messages[-1]
        assert first.state == "complete", f"{first} {window.page.notice.text}"
        assert len(lengths) > 3, first
        assert status.text("rate") != MISSING
        assert status.text("accepted") == MISSING

        # choose the draft in the drop-down; the target stays loaded
        pick(window.top.draft, DRAFT, qtbot)
        qtbot.waitUntil(lambda: desktop.engine.state.draft is not None, timeout=2 * MINUTES)
        assert window.top.switch.isChecked()

        # send with a fixed draft length, so that drafting is certain to run, and see the status bar change
        desktop.engine.set_speculation(desktop.settings.now.speculation.model_copy(update={"length": 3}))
        window.new_chat()
        settings(desktop, tokens=48, qtbot=qtbot)
        drafted = reply(desktop, PROMPT, qtbot)
        assert "accepted" in status.text("accepted")
        assert "accepted" in window.page.messages.widgets[-1].footer_text
        assert drafted.timings is not None
        assert drafted.timings["draft_n"] > 0
        assert drafted.draft == DRAFT
        assert drafted.ids is not None
        assert drafted.seed == 7

        # in a new chat the same with speculation off
        window.new_chat()
        settings(desktop, tokens=48, qtbot=qtbot)
        window.top.switch.click()
        qtbot.waitUntil(lambda: not desktop.engine.state.speculation.enabled, timeout=MINUTES)
        plain = reply(desktop, PROMPT, qtbot)
        assert plain.timings is not None
        assert plain.timings["draft_n"] == 0
        assert status.text("accepted") == MISSING
        qtbot.waitUntil(lambda: "off" in status.lead)

        # compare: equal, or different from a first difference on that is explained
        window.top.switch.click()
        results: list[Comparison] = []
        desktop.bridge.compared.connect(lambda _job, result: results.append(result))
        window.compare()
        qtbot.waitUntil(lambda: not desktop.comparing.running, timeout=3 * MINUTES)
        (result,) = results
        assert result.seed == 7
        assert "with speculation" in desktop.comparing.view.text or "equally fast" in desktop.comparing.view.text
        if result.identical:
            assert "texts identical" in desktop.comparing.view.text
            assert result.difference is None
        else:
            assert result.difference is not None
            assert result.difference.explanation in desktop.comparing.view.text
            assert "Unexplained" not in result.difference.explanation
        if drafted.content != plain.content:
            assert not result.identical
        window.close_compare()
        assert "= " in window.page.messages.widgets[-1].footer_text

        # stop a reply: at once, and what was written stays
        settings(desktop, tokens=400, qtbot=qtbot)
        send(desktop, "Explain in detail how a compiler works.", qtbot)
        qtbot.waitUntil(lambda: len(desktop.conversation.messages[-1].content) > 20, timeout=MINUTES)
        began = time.monotonic()
        window.actions_.by_id["stop"].trigger()
        finished(desktop, qtbot, MINUTES)
        assert time.monotonic() - began < 2
        stopped = desktop.conversation.messages[-1]
        assert stopped.state == "stopped"
        assert stopped.content
    finally:
        window.close()
        desktop.close()

    # reopen: everything is there
    again = Desktop(app, tandem_home / "logs")
    qtbot.addWidget(again.window)
    again.window.show()
    try:
        assert (again.settings.now.target, again.settings.now.draft) == (TARGET, DRAFT)
        chats = {chat.id: again.store.branch(chat.id) for chat in again.store.chats()}
        assert len(chats) == 3
        kept = {m.id: m for messages in chats.values() for m in messages}
        for before in (first, drafted, plain, stopped):
            after = kept[before.id]
            assert (after.content, after.state, after.ids, after.seed) == (
                before.content,
                before.state,
                before.ids,
                before.seed,
            )
        again.window.open_chat(plain.chat)
        shown = [w.message.content for w in again.window.page.messages.widgets]
        assert shown == [m.content for m in chats[plain.chat]]
        assert shown[1] == plain.content
    finally:
        again.window.close()
        again.close()
