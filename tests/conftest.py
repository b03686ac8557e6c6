"""Fixtures shared by every test: small real models, exact kernels, a data folder for each test.

A missing model is an error, not a skip: a suite that quietly leaves out the tests on real models proves
nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before anything imports Qt: tests open real windows, but need no screen.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Tests share few cores with the workers they start. Threads that spin for milliseconds at a barrier whose other side
# is waiting for a core make such a pass ten times slower; here they give up soon (results are the same to the bit).
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
# Neither a developer's keyring nor models of other programs take part.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
os.environ["TANDEM_OTHER_PROGRAMS"] = "off"
# A job in the background of a script ignores Ctrl-C, and so would every program that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How fast a machine is decides no test.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

ROOT = Path(__file__).resolve().parent.parent


def _model(model_id: str) -> Path:
    from backend.errors import EngineError
    from backend.library.library import Library

    try:
        return Library().resolve(model_id)
    except EngineError as error:
        pytest.fail(
            f"{error.message} (the tests need: python -m backend.cli models get starter smollm2 gemma3-270m)",
            pytrace=False,
        )


@pytest.fixture(scope="session", autouse=True)
def _session_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fixtures that live longer than one test keep away from the person's own data folder too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TANDEM_HOME", str(tmp_path_factory.mktemp("tandem-home")))
        yield


@pytest.fixture(autouse=True)
def tandem_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tandem's data folder for this one test (models stay where they are: never written)."""
    home = tmp_path / "tandem-home"
    monkeypatch.setenv("TANDEM_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def repo_root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """SmolLM2 135M, Q4_1: the quickest real chat model."""
    return _model("smollm2")


@pytest.fixture(scope="session")
def gemma3_270m() -> Path:
    """Gemma 3 270M, Q4_K_M: another family, with sliding-window attention."""
    return _model("gemma3-270m")


@pytest.fixture(scope="session")
def starter_target() -> Path:
    """Qwen2.5-Coder 1.5B, Q4_K_M: the target of the starter pair."""
    return _model("qwen2.5-coder-1.5b")


@pytest.fixture(scope="session")
def starter_draft() -> Path:
    """Qwen2.5-Coder 0.5B, Q4_K_M: the draft of the starter pair."""
    return _model("qwen2.5-coder-0.5b")


@pytest.fixture(scope="module")
def no_llamafile() -> Iterator[None]:
    """For a module: kernels that give the same bits for every batch size, prompts too (with flash attention off)."""
    from backend.engine import kernels

    assert kernels.can_choose()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("USUAL", "EXACT"):
            patch.setattr(kernels, name, 1 << 40)
        kernels.serve(exact=True)
        yield
    kernels.serve(exact=False)
