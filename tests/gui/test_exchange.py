"""Export and import in the window: beside it, whole or not at all, and said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from desktop.models.chats import CHAT
from desktop.start import Desktop
from desktop.store import StoreError
from desktop.store.shapes import OneChat
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("A short answer.")


@pytest.fixture
def chat(desktop: Desktop, qtbot: QtBot) -> Desktop:
    send(desktop, qtbot, "What: is/a tide?")
    finished(desktop, qtbot)
    return desktop


def said(desktop: Desktop, qtbot: QtBot, words: str) -> None:
    qtbot.waitUntil(lambda: words in desktop.window.toast._text)


def test_a_chat_becomes_markdown(chat: Desktop, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proposed: list[str] = []

    def choose(_parent: object, _title: str, name: str, _kinds: str) -> tuple[str, str]:
        proposed.append(name)
        return str(tmp_path / "tide.md"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    side = chat.window.sidebar
    side.exported.emit(side.model.index(1).data(CHAT))
    said(chat, qtbot, "Exported to")
    assert proposed == ["What is a tide.md"]
    text = (tmp_path / "tide.md").read_text("utf-8")
    assert text.startswith("# What: is/a tide?\n\n**You**\n\nWhat: is/a tide?\n\n**big**\n\nA short answer.")
    assert sorted(p.name for p in tmp_path.iterdir() if "tide" in p.name) == ["tide.md"]


def test_all_chats_go_out_and_come_back(
    chat: Desktop, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "all.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    menu = chat.window.sidebar.more.menu()
    {a.text(): a for a in menu.actions()}["Export all chats…"].trigger()
    said(chat, qtbot, "Exported to")
    {a.text(): a for a in menu.actions()}["Import chats…"].trigger()
    said(chat, qtbot, "1 chat was imported")
    assert [c.title for c in chat.store.chats()] == ["What: is/a tide?"] * 2
    chat.window.open_chat(chat.store.chats()[0].id)
    assert [m.content for m in chat.conversation.messages] == ["What: is/a tide?", "A short answer."]


def test_what_cannot_be_read_or_written_is_said(chat: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    notice = chat.window.page.notice
    (tmp_path / "foreign.json").write_text("{}")
    chat.window.exchange.import_from(tmp_path / "foreign.json")
    qtbot.waitUntil(lambda: "Nothing was imported" in notice.text)
    assert "foreign.json is no file of Tandem's chats" in notice.text
    chat.window.exchange.export_to(tmp_path / "nowhere" / "x.json", None)
    qtbot.waitUntil(lambda: "The export failed" in notice.text)
    (tmp_path / "taken.md").mkdir()
    chat.window.exchange.export_to(tmp_path / "taken.md", chat.store.chats(), readable=True)
    qtbot.waitUntil(lambda: "taken.md" in notice.text)
    assert not list(tmp_path.glob(".*.part"))


def test_a_file_that_fails_half_way_leaves_nothing(
    chat: Desktop, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "all.json"
    chat.window.exchange.export_to(path, chat.store.chats() * 2)
    said(chat, qtbot, "Exported to")
    add, added = chat.store.add_whole, 0

    def failing(one: OneChat, **how: bool) -> Future[int]:
        nonlocal added
        added += 1
        if added == 2:
            chat.store._writer._db.execute("PRAGMA query_only = ON")  # from here on the disk refuses everything
        return add(one, **how)

    monkeypatch.setattr(chat.store, "add_whole", failing)
    chat.window.exchange.import_from(path)
    qtbot.waitUntil(lambda: "Nothing was imported" in chat.window.page.notice.text)
    assert "cannot be written" in chat.window.page.notice.text
    assert len(chat.store.chats()) == 1
    assert len(chat.store.search("tide")) == 1
    chat.store._writer._db.execute("PRAGMA query_only = OFF")


@pytest.mark.parametrize(("name", "kind", "made"), [("a", "Markdown, to be read (*.md)", "a.md"), ("b", "", "b.md")])
def test_a_name_without_an_end_gets_the_chosen_kinds(
    chat: Desktop, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str, made: str
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / name), kind))
    side = chat.window.sidebar
    side.exported.emit(side.model.index(1).data(CHAT))
    said(chat, qtbot, made)
    assert (tmp_path / made).read_text("utf-8").startswith("# ")


def test_a_chat_goes_out_with_its_settings(chat: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    """The list knows nothing of them."""
    path, conversation = tmp_path / "one.json", chat.conversation
    conversation.set_chat_settings(conversation.chat_settings.model_copy(update={"system_prompt": "Be brief."}))
    listed = chat.window.sidebar.model.index(1).data(CHAT)
    chat.window.exchange.export_to(path, [listed])
    said(chat, qtbot, "Exported to")
    assert '"system_prompt": "Be brief."' in path.read_text("utf-8")


def stored(desktop: Desktop) -> int:
    """Chats in the file, shown or not."""
    desktop.store.flush()
    return int(desktop.store._read("SELECT count(*) FROM chats", ())[0][0])


def test_what_is_never_shown_takes_no_room(
    chat: Desktop, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "all.json"
    chat.window.exchange.export_to(path, chat.store.chats() * 3)
    said(chat, qtbot, "Exported to")
    add, tried = chat.store.add_whole, []

    def full_at_the_third(one: OneChat, **how: bool) -> Future[int]:
        tried.append(one)
        if len(tried) < 3:
            return add(one, **how)
        refused: Future[int] = Future()
        refused.set_exception(StoreError("full", "There is no room."))
        return refused

    monkeypatch.setattr(chat.store, "add_whole", full_at_the_third)
    chat.window.exchange.import_from(path)
    qtbot.waitUntil(lambda: "Nothing was imported" in chat.window.page.notice.text)
    assert stored(chat) == 1


def test_closing_does_not_wait_for_all_of_an_import(chat: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    (path := tmp_path / "many.json").write_text(
        json.dumps({"format": "tandem-chats", "version": 2, "chats": [{"title": "x", "messages": []}] * 20_000})
    )
    chat.window.exchange.import_from(path)
    qtbot.waitUntil(lambda: stored(chat) > 1)
    chat.window.exchange.close()
    assert stored(chat) < 20_000
    assert len(chat.store.chats()) == 1, "what was given up is not shown, and goes at the next start"


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A disk of 100 kB."""
    (folder := tmp_path / "small").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_an_export_that_finds_no_room_names_its_file(chat: Desktop, qtbot: QtBot, full: Path) -> None:
    reply = chat.conversation.messages[-1]
    chat.store.update_message(reply.id, content="x" * 200_000).result()
    chat.window.exchange.export_to(full / "all.json", None)
    qtbot.waitUntil(lambda: "The export failed" in chat.window.page.notice.text)
    assert str(full / "all.json") in chat.window.page.notice.text
    assert list(full.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="pipes have no names in a folder there, and links need a right")
def test_what_a_link_leads_to_and_a_pipe_are_written_into(chat: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    """Putting a new file in their place would do away with the link, or with a device."""
    there, link, pipe = tmp_path / "there.json", tmp_path / "link.json", tmp_path / "pipe.json"
    there.write_text("old")
    link.symlink_to(there)
    chat.window.exchange.export_to(link, None)
    said(chat, qtbot, "link.json")
    assert link.is_symlink()
    assert "A short answer." in there.read_text("utf-8")
    os.mkfifo(pipe)
    chat.window.exchange.export_to(pipe, None)
    assert "A short answer." in pipe.read_text("utf-8")
    said(chat, qtbot, "pipe.json")
    assert pipe.is_fifo()
