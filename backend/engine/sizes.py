"""What llama.cpp itself says that a model's cache, state and buffers take, asked of a process that is thrown away.

With ``no_alloc`` it reads the header, makes the model and a context of it, and reserves nothing: that takes a moment,
whatever the size, and a file that it cannot cope with ends that process only, which is said. It is asked where the
plan's own formulas are not known to hold: experts, recurrent layers, caches that are shared or compressed. Where it
gives no answer the formulas stand, as an estimate.
"""

from __future__ import annotations

import functools
import logging
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from backend.engine import aside
from backend.engine.cancel import CancelFlag
from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts
from backend.library.gguf_header import stamp
from backend.plan.needs import Needs, Sizes, of_file
from backend.plan.request import ROWS, Role, batch_for, context_for, flash_in
from backend.protocol import LoadOptions

log = logging.getLogger(__name__)

_PATIENCE = 20.0
"""Seconds that it may take: the vocabulary is read, on a machine that may be busy."""
_LOOK_EVERY = 0.02
"""Seconds between two looks at the flag."""
_CACHE = re.compile(r"llama_kv_cache\w*: (?:.*, )?size = +([\d.]+) MiB")
_STATE = re.compile(r"llama_memory_recurrent: size = +([\d.]+) MiB")
_COMPUTE = re.compile(r": +\S+ compute buffer size = +([\d.]+) MiB")


def needs_of(
    facts: GgufFacts, options: LoadOptions, role: Role, n_ctx: int | None = None, flag: CancelFlag | None = None
) -> Needs:
    """What a file that is here needs, by the formulas where they hold and else by the engine.

    Args:
        facts: of the file.
        options: as asked for.
        role: what it is loaded as.
        n_ctx: the context, where it is settled.
        flag: stops the asking.

    Raises:
        EngineError: FILE_MISSING where the file is gone meanwhile, LOAD_FAILED where it ends the engine, CANCELLED.
    """
    needs = of_file(facts)
    if not needs.rough:
        return needs
    length = n_ctx or context_for(options, needs)
    stamps = tuple((path, *stamp(path)) for path in facts.files)
    telling = {"kv_type", "draft_kv_type", "batch", "flash_attention", "strict"}
    said = _answered(_Question(stamps, LoadOptions(**options.model_dump(include=telling)), role, length, flag))
    if isinstance(said, EngineError):
        raise said
    if said is None:
        return needs
    kv_type = options.kv_type if role == "target" else options.draft_kv_type
    flash = flash_in(options, role, needs.sliding)
    return needs.as_told(said, length, batch_for(options, role), ROWS[role], kv_type, flash=flash)


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of files as they are now; whoever stops the asking asks the same."""

    stamps: tuple[tuple[Path, int, int], ...]
    options: LoadOptions
    role: Role
    n_ctx: int
    flag: CancelFlag | None = field(compare=False)


@functools.lru_cache(maxsize=16)
def _answered(question: _Question) -> Sizes | EngineError | None:
    """Asked once, a crash too: a load plans several times."""
    try:
        return ask(question.stamps[0][0], question.options, question.role, question.n_ctx, flag=question.flag)
    except EngineError as error:
        if error.code is ErrorCode.CANCELLED:
            raise
        return error


def ask(
    path: Path,
    options: LoadOptions,
    role: Role,
    n_ctx: int,
    seconds: float = _PATIENCE,
    flag: CancelFlag | None = None,
) -> Sizes | None:
    """What a context in main memory would take; None where the engine gives no answer in time.

    Raises:
        EngineError: LOAD_FAILED where the engine does not survive the file, CANCELLED soon after ``flag`` is set.
    """
    try:
        with aside.process(_answer, path, options, role, n_ctx) as other:
            said = _received(other, path, seconds, flag)
    except OSError as error:  # no process can be started
        said = str(error)
    if isinstance(said, Sizes):
        return said
    log.warning("the engine does not say what %s takes: %s", path.name, said)
    return None


def _received(other: aside.Aside, path: Path, seconds: float, flag: CancelFlag | None) -> object:
    deadline = time.monotonic() + seconds
    while not other.answer.poll(min(_LOOK_EVERY, seconds)):
        if flag is not None:
            flag.check()
        if time.monotonic() >= deadline:
            return f"it was given {seconds:.0f} s"
    try:
        return other.answer.recv()
    except (EOFError, ConnectionError):
        if not other.crashed():
            return "it stopped itself"
    raise EngineError(
        ErrorCode.LOAD_FAILED,
        f"{path.name} ends the engine that reads it: it is damaged, or of a kind that this engine does not know. "
        "Download it again, or choose another model.",
        {"path": str(path)},
    )


def told(lines: Iterable[str], snapshots: int = 0) -> Sizes:
    """From what llama.cpp logs while it makes a context that keeps so many snapshots of its state."""
    text = "".join(lines)
    cache, state, compute = (sum(map(float, kind.findall(text))) for kind in (_CACHE, _STATE, _COMPUTE))
    return Sizes(*(round(mib * 2**20) for mib in (cache, state / (1 + snapshots), compute)))


def _answer(path: Path, options: LoadOptions, role: Role, n_ctx: int, answer: Connection) -> None:
    """The other process."""
    aside.end_with_parent()
    import ctypes

    import llama_cpp

    from backend.engine import native
    from backend.engine.contexts import is_recurrent, maker

    lines: list[str] = []
    native.install_log(lambda _level, text: lines.append(text))
    llama_cpp.llama_backend_init()
    params = llama_cpp.llama_model_default_params()
    nowhere = (ctypes.c_void_p * 1)(None)
    params.devices = ctypes.cast(nowhere, ctypes.c_void_p)
    params.n_gpu_layers, params.no_alloc, params.load_mode = 0, True, llama_cpp.LLAMA_LOAD_MODE_NONE
    with native.collect_errors() as errors:
        model = llama_cpp.llama_model_load_from_file(native.file_name(path), params)
    if not model:
        answer.send(" ".join(errors).strip())
        return
    make = maker(model, options, role, CancelFlag(), on_gpu=False)
    try:
        context = make(n_ctx, batch_for(options, role), ROWS[role], int(role == "target" and is_recurrent(model)))
    except EngineError as error:
        answer.send(error.message)
        return
    answer.send(told(lines, context.snapshots))
