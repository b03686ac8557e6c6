"""The hub in the models window: search, gated models and their token, with a real server on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from backend.errors import EngineError, ErrorCode
from desktop.models.model_rows import HUB, SEARCH
from desktop.start import Desktop
from desktop.views.models_window import ModelsWindow
from desktop.views.token_dialog import TokenDialog
from tests.gui.models import opened, pressable, row, shown, started, values
from tests.gui.person import MakeDesktop
from tests.unit.library.server import Hub


@pytest.fixture
def desktop(hub: Hub, make_desktop: MakeDesktop, qtbot: QtBot) -> Desktop:
    return started(make_desktop, qtbot)


@pytest.fixture
def models(desktop: Desktop, qtbot: QtBot) -> ModelsWindow:
    return opened(desktop, qtbot)


def test_a_gated_model_leads_to_page_and_token(hub: Hub, desktop: Desktop, models: ModelsWindow, qtbot: QtBot) -> None:
    hub.token = "hf_right"
    models.select("one")
    models.detail.buttons["fetch"].click()
    problem = models.detail._problem
    qtbot.waitUntil(lambda: "https://huggingface.co/org/one" in problem.text(), timeout=20_000)
    pressable(models, "Token").click()
    (dialog,) = models.findChildren(TokenDialog)
    assert dialog.field.echoMode() is QLineEdit.EchoMode.Password
    qtbot.keyClicks(dialog.field, "hf_right")
    dialog.keep.click()
    qtbot.waitUntil(lambda: "as long as Tandem runs" in dialog.place.text(), timeout=20_000)
    assert dialog.field.text() == ""
    dialog.reject()
    models.detail.buttons["fetch"].click()
    qtbot.waitUntil(lambda: "use" in shown(models), timeout=20_000)


def test_a_token_that_was_entered_meanwhile_is_used_when_it_is_tried_again(
    hub: Hub, desktop: Desktop, models: ModelsWindow, qtbot: QtBot
) -> None:
    hub.token = "hf_right"
    fetching = desktop.shelf.fetching
    desktop.window.downloads.get(["one"], use="")
    qtbot.waitUntil(lambda: fetching.items["one"].state == "failed", timeout=20_000)
    pressable(models, "Token").click()
    (dialog,) = models.findChildren(TokenDialog)
    dialog.kept.emit("hf_right")
    qtbot.waitUntil(lambda: "as long as Tandem runs" in dialog.place.text(), timeout=20_000)
    dialog.reject()
    fetching.resume("one")
    qtbot.waitUntil(lambda: not fetching.items, timeout=20_000)


def test_a_token_is_tested(hub: Hub, desktop: Desktop, models: ModelsWindow, qtbot: QtBot) -> None:
    hub.token = "hf_right"
    pressable(models, "Token").click()
    (dialog,) = models.findChildren(TokenDialog)
    qtbot.waitUntil(lambda: "There is none" in dialog.place.text(), timeout=20_000)
    assert not dialog.test.isEnabled()
    qtbot.keyClicks(dialog.field, "hf_wrong")
    dialog.test.click()
    assert not dialog.test.isEnabled(), "one question at a time"
    qtbot.waitUntil(lambda: "the hub does not know it" in dialog.answer.text(), timeout=20_000)
    assert dialog.test.isEnabled()
    hub.json["/api/whoami-v2"] = {"name": "ada"}
    dialog.kept.emit("hf_right")
    dialog.field.clear()
    qtbot.waitUntil(lambda: "as long as Tandem runs" in dialog.place.text(), timeout=20_000)
    dialog.test.click()
    qtbot.waitUntil(lambda: "of the account ada" in dialog.answer.text(), timeout=20_000)
    sent = [headers["authorization"] for _, path, headers in hub.requests if path == "/api/whoami-v2"]
    assert sent == ["Bearer hf_wrong", "Bearer hf_right"]


def test_who_looks_around_is_not_told(hub: Hub, desktop: Desktop, models: ModelsWindow, qtbot: QtBot) -> None:
    hub.json["/api/models"] = []
    side = desktop.window.models.managing.hub
    side.search.set_token("hf_right")
    side.ask("new")
    asked = lambda: [headers for _, path, headers in hub.requests if path.startswith("/api/models")]  # noqa: E731
    qtbot.waitUntil(lambda: bool(asked()), timeout=20_000)
    assert not [headers for headers in asked() if "authorization" in headers]


def test_what_fails_with_the_token_is_said(desktop: Desktop, models: ModelsWindow) -> None:
    side = desktop.window.models.managing.hub
    side.search.failed.emit("", EngineError(ErrorCode.BUG, "The keyring broke."))
    assert models.note.text() == "The keyring broke."


def test_the_hub_is_searched_and_a_choice_downloaded(
    hub: Hub, desktop: Desktop, models: ModelsWindow, qtbot: QtBot, tandem_home: Path
) -> None:
    size = len(hub.content)
    hub.json["/api/models"] = [{"id": "someone/New-1B-GGUF", "downloads": 5, "tags": ["license:mit"]}]
    sibling = {"rfilename": "New-1B-Q4_0.gguf", "size": size}
    hub.json["/api/models/someone/New-1B-GGUF"] = {"id": "someone/New-1B-GGUF", "siblings": [sibling], "tags": []}
    qtbot.keyClicks(models.words, "new 1b")
    qtbot.keyClick(models.words, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: models.value == SEARCH)
    assert not [path for _, path, _ in hub.requests if "/api/" in path], "the hub is asked only when a person asks"
    qtbot.keyClick(models.rows, Qt.Key.Key_Return)
    repo = HUB + "someone/New-1B-GGUF"
    qtbot.waitUntil(lambda: repo in values(models), timeout=20_000)
    models.rows.select(repo)
    qtbot.waitUntil(lambda: models.hub.button.isEnabled(), timeout=20_000)
    models.hub.button.click()
    new = "someone.new-1b.q4_0"
    qtbot.waitUntil(lambda: models.value == new, timeout=20_000)
    qtbot.waitUntil(lambda: "use" in shown(models), timeout=20_000)
    assert json.loads((tandem_home / "found.json").read_text())["models"][0]["id"] == new


def test_a_hub_that_is_out_of_reach_is_said(
    models: ModelsWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    models.words.setText("zzz")
    qtbot.waitUntil(lambda: models.value == SEARCH)
    qtbot.keyClick(models.rows, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "cannot be reached" in models.note.text(), timeout=20_000)
    assert "again" in row(models, SEARCH)
