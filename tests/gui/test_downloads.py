"""Downloads beside everything else that can go wrong or be chosen meanwhile; the hub is a real server."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from backend.library.paths import models_dir
from desktop.models import forecast
from desktop.models.fetching import Fetching
from desktop.start import Desktop
from desktop.words import EMPTY
from tests.gui.faults import buttons, try_again
from tests.gui.person import MakeDesktop
from tests.gui.scripted import ScriptedEngine
from tests.unit.library.server import Hub


@pytest.fixture
def desktop(hub: Hub, make_desktop: MakeDesktop, qtbot: QtBot) -> Desktop:
    made = make_desktop(ScriptedEngine())
    made.shelf.ask_drafts = lambda target: made.shelf.drafts.emit(target, [])  # type: ignore[method-assign]
    made.engine.start(load=False)
    made.shelf.refresh()
    qtbot.waitUntil(lambda: made.shelf.named("one") is not None, timeout=20_000)
    return made


@pytest.fixture
def fetching(hub: Hub, desktop: Desktop, qtbot: QtBot) -> Fetching:
    """A download that has come to its half and goes no further."""
    hub.stall_after = len(hub.content) // 2
    desktop.window.downloads.get(["one"])
    half_way(hub, desktop, qtbot)
    return desktop.shelf.fetching


@pytest.fixture
def second(hub: Hub, desktop: Desktop, fetching: Fetching, qtbot: QtBot) -> Fetching:
    """The first is paused at its half; another runs, and goes no further either."""
    fetching.pause("one")
    qtbot.waitUntil(lambda: fetching.items["one"].state == "paused", timeout=20_000)
    desktop.window.downloads.get(["two"], use="")
    qtbot.waitUntil(lambda: fetching.items["two"].done > 0, timeout=20_000)
    return fetching


def half_way(hub: Hub, desktop: Desktop, qtbot: QtBot) -> None:
    half = models_dir() / "org" / "one" / "one.gguf.part"
    there = lambda: half.is_file() and half.stat().st_size == len(hub.content) // 2  # noqa: E731
    qtbot.waitUntil(lambda: there() and desktop.shelf.fetching.items["one"].done > 0, timeout=20_000)


def over(desktop: Desktop, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not desktop.shelf.fetching.items, timeout=20_000)


def button(within: object, name: str) -> QAbstractButton:
    (found,) = [b for b in within.findChildren(QAbstractButton) if b.accessibleName() == name]  # type: ignore[attr-defined]
    assert isinstance(found, QAbstractButton)
    return found


def test_a_bad_file_added_meanwhile_does_not_end_the_download(
    desktop: Desktop, fetching: Fetching, qtbot: QtBot, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"no model at all")
    desktop.shelf.add(bad)
    qtbot.waitUntil(lambda: "not a model file" in desktop.window.page.notice.text, timeout=20_000)
    assert fetching.running is not None


def test_a_second_download_waits_for_its_turn(hub: Hub, desktop: Desktop, fetching: Fetching, qtbot: QtBot) -> None:
    desktop.window.models.choose_draft("\x00get:two")
    assert [(f.id, f.state) for f in fetching.items.values()] == [("one", "running"), ("two", "waiting")]
    hub.stall_after = None
    fetching.cancel("one")
    over(desktop, qtbot)
    qtbot.waitUntil(lambda: desktop.shelf.named("two").state == "installed", timeout=20_000)
    assert desktop.settings.now.draft == "two"


def test_the_status_bar_shows_a_download_and_pauses_it(
    hub: Hub, desktop: Desktop, fetching: Fetching, qtbot: QtBot, tmp_path: Path
) -> None:
    window = desktop.window
    transfer = window.downloads.transfer
    window.page.notice.show_notice(EMPTY)
    assert transfer.isVisible()
    assert transfer.text.startswith("Downloading ")
    qtbot.mouseClick(button(transfer, "Pause download"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: fetching.items["one"].state == "paused", timeout=20_000)
    assert not transfer.isVisible()
    assert EMPTY.title in window.page.notice.text
    assert buttons(desktop) == {}
    assert (tmp_path / "models" / "org" / "one" / "one.gguf.part").stat().st_size == len(hub.content) // 2
    hub.stall_after = None
    fetching.resume("one")
    over(desktop, qtbot)
    assert hub.gets[-1]["range"] == f"bytes={len(hub.content) // 2}-"
    qtbot.waitUntil(lambda: desktop.engine.target == "one", timeout=20_000)


def test_a_download_that_is_cancelled_leaves_nothing(
    desktop: Desktop, fetching: Fetching, qtbot: QtBot, tmp_path: Path
) -> None:
    fetching.cancel("one")
    over(desktop, qtbot)
    assert not (tmp_path / "models" / "org").exists()
    assert not desktop.window.downloads.transfer.isVisible()


def test_one_that_is_cancelled_just_before_the_end_leaves_nothing_too(
    desktop: Desktop, fetching: Fetching, tmp_path: Path
) -> None:
    fetching.cancel("one")
    desktop.shelf.close()
    assert not (tmp_path / "models" / "org").exists()


def test_one_that_was_whole_before_it_was_cancelled_leaves_nothing_and_is_not_loaded(
    hub: Hub, desktop: Desktop, fetching: Fetching, qtbot: QtBot, tmp_path: Path
) -> None:
    hub.stall_after = None
    file = tmp_path / "models" / "org" / "one" / "one.gguf"
    end = monotonic() + 20
    while not file.is_file() and monotonic() < end:  # no event of the window's comes between
        sleep(0.01)
    sleep(0.1)
    fetching.cancel("one")
    over(desktop, qtbot)
    qtbot.waitUntil(lambda: not file.exists(), timeout=20_000)
    assert desktop.engine.target is None


def test_what_is_paused_is_given_up_while_another_runs(second: Fetching, qtbot: QtBot, tmp_path: Path) -> None:
    second.cancel("one")
    qtbot.waitUntil(lambda: not (tmp_path / "models" / "org" / "one").exists(), timeout=20_000)
    assert [(f.id, f.state) for f in second.items.values()] == [("two", "running")]


def test_cancelling_on_the_page_costs_no_other_download(
    hub: Hub, desktop: Desktop, second: Fetching, qtbot: QtBot, tmp_path: Path
) -> None:
    buttons = desktop.window.page.welcome.findChildren(QAbstractButton)
    next(b for b in buttons if b.text() == "Cancel download").click()
    qtbot.waitUntil(lambda: "two" not in second.items, timeout=20_000)
    assert second.items["one"].state == "paused"
    assert (tmp_path / "models" / "org" / "one" / "one.gguf.part").stat().st_size == len(hub.content) // 2


def test_a_draft_is_not_loaded_for_a_target_that_was_given_up(
    hub: Hub, desktop: Desktop, fetching: Fetching, qtbot: QtBot
) -> None:
    desktop.window.downloads.get(["one", "two"])
    hub.stall_after = None
    fetching.cancel("one")
    over(desktop, qtbot)
    assert desktop.engine.target is None


def test_a_download_goes_on_after_a_restart(
    hub: Hub, make_desktop: MakeDesktop, desktop: Desktop, fetching: Fetching, qtbot: QtBot
) -> None:
    desktop.close()
    hub.stall_after = None
    again = make_desktop(ScriptedEngine())
    again.shelf.refresh()
    qtbot.waitUntil(lambda: again.shelf.named("one") is not None, timeout=20_000)
    assert again.shelf.named("one").fetched == len(hub.content) // 2
    again.window.downloads.get(["one"], use="")
    over(again, qtbot)
    assert hub.gets[-1]["range"] == f"bytes={len(hub.content) // 2}-"


@pytest.mark.parametrize("size", [(480, 360), (1100, 760)])
def test_a_download_fits_beside_the_figures(
    desktop: Desktop, fetching: Fetching, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window = desktop.window
    window.resize(*size)
    window.status.set_figures(
        rate="41.2 tok/s", speedup="≈ 1.84× plain", accepted="82 % accepted", per_pass="4.1 tokens/pass"
    )
    qtbot.wait(150)
    assert (window.width(), window.height()) == size
    transfer = window.downloads.transfer
    assert transfer.width() >= transfer.sizeHint().width()
    assert window.status._lead.width() > 60


def test_what_else_the_window_says_stays_when_a_download_ends(
    hub: Hub, desktop: Desktop, fetching: Fetching, qtbot: QtBot
) -> None:
    desktop.window.page.notice.show_notice(EMPTY)
    fetching.cancel("one")
    over(desktop, qtbot)
    assert desktop.window.page.notice.isVisible()


def test_what_a_download_says_goes_with_it(hub: Hub, desktop: Desktop, qtbot: QtBot) -> None:
    hub.breaks = [len(hub.content) // 2]
    hub.stall_after = None
    said: list[str] = []
    desktop.shelf.fetching.said.connect(said.append)
    desktop.window.downloads.get(["one"], use="")
    over(desktop, qtbot)
    assert len(said) == 1
    assert "broke off" in said[0]
    qtbot.waitUntil(lambda: not desktop.window.page.notice.isVisible())


def test_what_failed_can_be_tried_again(hub: Hub, desktop: Desktop, qtbot: QtBot) -> None:
    hub.status = 503
    desktop.window.downloads.get(["one"], use="")
    qtbot.waitUntil(lambda: "download failed" in desktop.window.page.notice.text, timeout=20_000)
    hub.status = 0
    try_again(desktop, qtbot)
    over(desktop, qtbot)
    assert desktop.shelf.fetching.running is None


def test_the_page_offers_to_go_on_with_the_starter(
    hub: Hub, desktop: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast, "free_main_memory", lambda: 0)  # nothing else of the catalogue fits
    welcome = desktop.window.page.welcome
    desktop.window.downloads.propose()
    qtbot.waitUntil(lambda: "Model One" in welcome._line.text(), timeout=20_000)
    assert "Download the pair" in welcome.start.text()
    assert "memory" not in welcome._line.text(), "nobody knows what it takes"
    assert not welcome.small.isVisible()
    hub.stall_after = len(hub.content) // 2
    welcome.start.click()
    half_way(hub, desktop, qtbot)
    assert button(welcome, "Pause download").isVisible()
    button(welcome, "Pause download").click()
    qtbot.waitUntil(lambda: not desktop.shelf.fetching.busy, timeout=20_000)
    qtbot.waitUntil(lambda: "Go on with the download" in welcome.start.text(), timeout=20_000)
