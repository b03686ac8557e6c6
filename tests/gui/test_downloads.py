"""Downloads beside everything else that can go wrong or be chosen meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from backend.errors import EngineError, ErrorCode
from desktop.start import Desktop
from desktop.words import EMPTY
from tests.gui.faults import buttons, try_again
from tests.gui.person import MakeDesktop
from tests.gui.scripted import ScriptedEngine


class Fetch:
    """Stands in for the network: what was asked for."""

    def __init__(self, desktop: Desktop) -> None:
        self.asked: list[list[str]] = []
        self.shelf = desktop.shelf
        desktop.shelf.download = self.asked.append  # type: ignore[method-assign]

    def progress(self, done: int) -> None:
        self.shelf.progress.emit("Qwen3 0.6B", (done, 400_000_000, 20e6))


@pytest.fixture
def desktop(make_desktop: MakeDesktop) -> Desktop:
    made = make_desktop(ScriptedEngine())
    made.shelf.ask_drafts = lambda target: made.shelf.drafts.emit(target, [])  # type: ignore[method-assign]
    made.engine.start(load=False)
    return made


@pytest.fixture
def fetch(desktop: Desktop) -> Fetch:
    made = Fetch(desktop)
    desktop.window.downloads.get(["qwen3-0.6b"])
    return made


def test_a_bad_file_added_meanwhile_does_not_end_the_download(
    desktop: Desktop, fetch: Fetch, qtbot: QtBot, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"no model at all")
    desktop.shelf.add(bad)
    qtbot.waitUntil(lambda: "not a model file" in desktop.window.page.notice.text, timeout=20_000)
    assert desktop.window.downloads.running
    assert fetch.asked == [["qwen3-0.6b"]]


def test_a_second_download_is_refused_in_words(desktop: Desktop, fetch: Fetch) -> None:
    desktop.window.models.choose_target("\x00get:other")
    assert fetch.asked == [["qwen3-0.6b"]]
    assert "Another download" in desktop.window.page.notice.text


def test_the_status_bar_shows_a_download_and_stops_it(desktop: Desktop, fetch: Fetch, qtbot: QtBot) -> None:
    window = desktop.window
    transfer = window.downloads.transfer
    assert transfer.text == "Downloading…"
    assert "0.0 GB" not in window.page.welcome._progress.text()
    window.page.notice.show_notice(EMPTY)
    fetch.progress(100_000_000)
    assert transfer.text == "Downloading 25 %"
    assert transfer.isVisible()
    assert EMPTY.title in window.page.notice.text
    (cancel,) = [b for b in transfer.findChildren(QAbstractButton) if b.accessibleName() == "Cancel download"]
    qtbot.mouseClick(cancel, Qt.MouseButton.LeftButton)
    assert desktop.shelf._flag.is_set()
    desktop.shelf.download_failed.emit(EngineError(ErrorCode.CANCELLED, "Stopped."))
    assert not transfer.isVisible()
    assert buttons(desktop) == {}


@pytest.mark.parametrize("size", [(480, 360), (1100, 760)])
def test_a_download_fits_beside_the_figures(
    desktop: Desktop, fetch: Fetch, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window = desktop.window
    window.resize(*size)
    window.status.set_figures(
        rate="41.2 tok/s", speedup="≈ 1.84× plain", accepted="82 % accepted", per_pass="4.1 tokens/pass"
    )
    fetch.progress(100_000_000)
    qtbot.wait(150)
    assert (window.width(), window.height()) == size
    transfer = window.downloads.transfer
    assert transfer.width() >= transfer.sizeHint().width()
    assert window.status._lead.width() > 60


def test_what_else_the_window_says_stays_when_a_download_ends(desktop: Desktop, fetch: Fetch, qtbot: QtBot) -> None:
    window = desktop.window
    window.page.notice.show_notice(EMPTY)
    desktop.shelf.downloaded.emit(["qwen3-0.6b"])
    assert window.page.notice.isVisible()
    assert not window.downloads.transfer.isVisible()
    qtbot.waitUntil(lambda: desktop.engine.state.target is not None)


def test_what_a_download_says_goes_with_it(desktop: Desktop, fetch: Fetch) -> None:
    desktop.shelf.said.emit("The model hub does not answer; taking the mirror's copy instead.")
    assert desktop.window.page.notice.isVisible()
    desktop.shelf.downloaded.emit(["qwen3-0.6b"])
    assert not desktop.window.page.notice.isVisible()


def test_what_failed_can_be_tried_again(desktop: Desktop, fetch: Fetch, qtbot: QtBot) -> None:
    desktop.shelf.download_failed.emit(EngineError(ErrorCode.NO_NETWORK, "The hub does not answer."))
    assert "network" in desktop.window.page.notice.text
    try_again(desktop, qtbot)
    assert fetch.asked == [["qwen3-0.6b"]] * 2
