"""A whole desktop around an engine that the test decides: real store, real window, real threads."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.models import attempt
from desktop.start import Desktop
from tests.gui.person import MakeDesktop
from tests.gui.scripted import LONG, ScriptedEngine
from tests.tiny import tiny_llama
from tests.unit.library.server import Hub, serving

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What the offscreen platform says of itself is no fault of a window."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """What a test's windows leave is collected here, as by ``desktop.garbage``, and not by a thread that allocates."""
    if HERE not in item.path.parents:  # it is asked of every test
        return (yield)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect(0)  # all of this test: nothing was collected meanwhile
        gc.enable()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the disk is, what was written can be looked at at once; the tests of slow disks do not wait."""
    monkeypatch.setattr(attempt, "PATIENCE_S", 30.0)


def end(desktop: Desktop) -> None:
    """Close it, and let go of it: its parts tell its views things, and views hold on to the parts that they show."""
    desktop.theme.set_text_size(100)  # a test's size of text is its own
    desktop.window.close()
    desktop.close()
    for part in (desktop.conversation, desktop.comparing, desktop.engine, desktop.shelf, desktop.bridge):
        shiboken6.delete(part)
    for last in (desktop.settings, desktop.maths, desktop.theme):  # others tell them things
        shiboken6.delete(last)


@pytest.fixture
def make_desktop(qtbot: QtBot, tandem_home: Path) -> Iterator[MakeDesktop]:
    """Start a desktop around an engine; closed at the end."""
    started: list[Desktop] = []

    def make(engine: ScriptedEngine) -> Desktop:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        desktop = Desktop(app, tandem_home / "logs", make_client=lambda: engine)
        started.append(desktop)
        qtbot.addWidget(desktop.window)
        desktop.window.show()
        return desktop

    yield make
    for desktop in started:
        end(desktop)


@pytest.fixture
def tiny_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a tiny target and two smaller drafts, as all the models that there are."""
    (folder := tmp_path / "models").mkdir()
    monkeypatch.setenv("TANDEM_MODELS_DIR", str(folder))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    tiny_llama(folder / "target.gguf", n_ctx=1024)
    tiny_llama(folder / "near.gguf", n_layer=1)
    tiny_llama(folder / "other.gguf", n_layer=1, seed=1)
    return folder


@pytest.fixture
def real(qtbot: QtBot, tandem_home: Path, tiny_models: Path) -> Iterator[Callable[[], Desktop]]:
    """Starts a desktop around a real worker with the tiny target; closed at the end."""
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    started: list[Desktop] = []

    def make() -> Desktop:
        desktop = Desktop(app, tandem_home / "logs")
        started.append(desktop)
        qtbot.addWidget(desktop.window)
        if desktop.settings.now.target is None:
            options = desktop.settings.now.load.model_copy(update={"n_ctx": 512, "threads": 1, "strict": False})
            desktop.settings.change(draft="near", target="target", load=options)
        desktop.window.show()
        desktop.shelf.refresh()
        desktop.engine.start(load=True)
        qtbot.waitUntil(lambda: desktop.engine.state.draft is not None and not desktop.engine.busy, timeout=60_000)
        return desktop

    yield make
    for desktop in started:
        end(desktop)


OWN = """
starter: {target: one, draft: two}
models:
- {id: one, name: Model One, family: own, repo: org/one, drafts: [two],
   licence: {name: MIT, link: "https://example.org/licence"},
   variants: [{quant: F32, files: [{name: one.gguf, size: SIZE}]}]}
- {id: two, name: Model Two, family: own, repo: org/two, roles: [draft],
   variants: [{quant: F32, files: [{name: two.gguf, size: SIZE}]}]}
"""


@pytest.fixture
def hub(tandem_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A model hub on this machine, with two small models that the catalogue knows; none is here yet."""
    from backend.library import hub as module

    monkeypatch.setenv("TANDEM_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(module, "PAUSE", 0.01)
    content = tiny_llama(tmp_path / "content.gguf").read_bytes()
    tandem_home.mkdir(exist_ok=True)
    (tandem_home / "models.yaml").write_text(OWN.replace("SIZE", str(len(content))))
    with serving(Hub(content)) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        yield made


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(LONG)


@pytest.fixture
def desktop(make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot) -> Desktop:
    """A desktop with a loaded pair (the models themselves are the script's)."""
    made = make_desktop(engine)
    made.settings.change(draft="small")
    made.shelf.ask_drafts = lambda target: made.shelf.drafts.emit(target, [])  # type: ignore[method-assign]
    made.engine.start(load=False)
    made.engine.choose_target("big")
    qtbot.waitUntil(lambda: made.engine.state.target is not None and made.engine.mode == "up")
    return made


@pytest.fixture
def in_front(desktop: Desktop, qtbot: QtBot) -> None:
    """The window has the focus, as keys need it."""
    desktop.window.activateWindow()
    qtbot.waitUntil(desktop.window.isActiveWindow)
