"""``tandem doctor``: what works here and what does not, one line each."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

from backend.bench.runner import new_job
from backend.cli import version
from backend.cli_session import Session
from backend.errors import EngineError, ErrorCode
from backend.library.hashes import Hashes
from backend.library.hub import expected_hash
from backend.library.library import Library, LibraryModel
from backend.library.paths import config_dir, data_dir, log_dir, models_dir
from backend.protocol import Delta, Finished, LoadOptions, LoadRequest, Message, ReplyRequest, Sampling, State

_PACKAGES = ("llama-cpp-python", "PySide6-Essentials", "huggingface-hub", "numpy", "pydantic")
_SELF_TEST_SECONDS = 1.0
_HUB_SECONDS = 4.0


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``doctor``."""
    doctor = subparsers.add_parser("doctor", help="what works here and what does not")
    doctor.set_defaults(run=run)


def run(_args: argparse.Namespace) -> int:
    """The command; 0 if a reply can be made here."""
    _section("Versions", _versions())
    _section("Folders", _folders())
    library = Library()
    models = _models(library)
    _section("Models", _model_lines(models))
    _line("Network", _hub())
    with Session() as session:
        try:
            return 0 if _engine(session, _tested(library, models)) else 1
        except EngineError as error:
            if error.code is ErrorCode.CANCELLED:
                raise
            _line("Engine", f"✗ {error.message}")
            return 1


def _versions() -> Iterator[tuple[str, str]]:
    yield "tandem", version()
    yield "python", f"{platform.python_version()} on {platform.platform()}"
    for package in _PACKAGES:
        try:
            yield package, installed(package)
        except PackageNotFoundError:
            yield package, "✗ not installed; run the set-up again"


def _folders() -> Iterator[tuple[str, str]]:
    folders: list[tuple[str, Callable[[], Path]]] = [
        ("data", data_dir),
        ("settings", config_dir),
        ("logs", log_dir),
        ("models", models_dir),
    ]
    for name, folder in folders:
        try:
            yield name, _folder(folder())
        except EngineError as error:
            yield name, f"✗ {error.message}"


def _folder(path: Path) -> str:
    there = path
    while not there.exists() and there != there.parent:
        there = there.parent
    free = f"{shutil.disk_usage(there).free / 1e9:.1f} GB free"
    if not os.access(there, os.W_OK | os.X_OK):
        return f"✗ {path}: cannot be written; {free}"
    return f"{path}: {free}" + ("" if path.exists() else ", not made yet")


def _models(library: Library) -> list[LibraryModel]:
    if library.problem is not None:
        _line("Catalogue", f"✗ {library.problem.message}")
    return [model for model in library.models(test_only=True) if model.state != "available"]


def _model_lines(models: list[LibraryModel]) -> Iterator[tuple[str, str]]:
    if not models:
        yield "none", "run 'tandem models get starter'"
    hashes = Hashes()
    for model in models:
        size = f"{(model.size or 0) / 1e9:.2f} GB"
        yield model.id, f"✗ {model.problem.message}" if model.problem else f"{size}, {_verified(model, hashes)}"


def _verified(model: LibraryModel, hashes: Hashes) -> str:
    """What is known about the files' hashes; nothing is read for it, as that takes seconds a gigabyte."""
    if model.entry is None or model.variant is None:
        return "your own file, no published hash"
    for file, path in zip(model.variant.files, model.files, strict=True):
        expected, found = expected_hash(model.entry, file, hashes, path), hashes.known(path)
        if expected is None:
            return "no published hash"
        if found is None:
            return f"not verified yet; 'tandem models get {model.id}' does"
        if found != expected:
            return f"✗ not the published file; 'tandem models get {model.id}' replaces it"
    return "verified"


def _hub() -> str:
    from huggingface_hub import constants

    if constants.is_offline_mode():
        return "the model hub is switched off by HF_HUB_OFFLINE"
    return asyncio.run(_ask_hub(constants.ENDPOINT))


async def _ask_hub(address: str) -> str:
    import httpx2

    try:
        # with the person's proxies, as a download would go
        async with httpx2.AsyncClient(timeout=_HUB_SECONDS) as client, asyncio.timeout(2 * _HUB_SECONDS):
            answer = await client.head(f"{address}/api/models", follow_redirects=True)
    except (httpx2.HTTPError, OSError, TimeoutError) as error:
        return f"✗ the model hub does not answer ({type(error).__name__}); models that are here work without it"
    if answer.status_code >= httpx2.codes.INTERNAL_SERVER_ERROR:
        return f"✗ the model hub answers with an error ({answer.status_code})"
    return "the model hub answers"


def _tested(library: Library, models: list[LibraryModel]) -> LibraryModel | None:
    """The model whose reply is tried: the starter target, else the smallest that is not for the tests alone."""
    usable = [m for m in models if m.state == "installed" and m.facts is not None and m.facts.kind == "model"]
    starter = library.catalogue.starter.target if library.catalogue.starter else ""

    def rank(model: LibraryModel) -> tuple[bool, bool, int]:
        tests_only = model.entry is not None and model.entry.test_only
        return model.id != starter, tests_only, model.size or 0

    return min(usable, key=rank, default=None)


def _engine(session: Session, tested: LibraryModel | None) -> bool:
    if tested is None:
        state = session.run(session.client.state())
        _section("Engine", _state_lines(state))
        _line("Self-test", "✗ no model to test with")
        return False
    state = session.load(LoadRequest(target=tested.id, options=LoadOptions(n_ctx=512)))
    _section("Engine", _state_lines(state))
    n = session.run(_decode(session)).timings.predicted_n
    _line("Self-test", f"{'' if n else '✗ '}{tested.id}: {n} tokens in {_SELF_TEST_SECONDS:.0f} s")
    return n > 0


async def _decode(session: Session) -> Finished:
    """A second's worth of tokens from the loaded model; whatever they say."""
    request = ReplyRequest(
        messages=(Message(role="user", content="Count from one to one hundred."),),
        sampling=Sampling(temperature=0.0),
        max_tokens=256,
        ignore_eos=True,
    )

    job = new_job()

    async def stop() -> None:
        await asyncio.sleep(_SELF_TEST_SECONDS)
        await session.client.cancel(job)

    stopping: asyncio.Task[None] | None = None
    try:
        async for event in session.client.reply(request, job):
            if isinstance(event, Finished):
                return event
            if stopping is None and isinstance(event, Delta):
                stopping = asyncio.ensure_future(stop())
    finally:
        if stopping is not None:
            stopping.cancel()
    raise AssertionError("a reply ends with Finished or an error")


def _state_lines(state: State) -> Iterator[tuple[str, str]]:
    yield "llama.cpp", state.engine or f"✗ {state.detail or 'not loaded'}"
    for device in state.devices:
        yield device.name, f"{device.description}: {device.free / 1e9:.1f} of {device.total / 1e9:.1f} GB free"
    if state.threads:
        yield "threads", str(state.threads)


def _section(title: str, lines: Iterator[tuple[str, str]]) -> None:
    print(title)
    for name, text in lines:
        print(f"  {name:32} {text}")


def _line(title: str, text: str) -> None:
    print(f"{title:34} {text}", flush=True)
