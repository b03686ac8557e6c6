"""``tandem plan``: where a pair would lie on a machine, and how fast it would be there, before anything is loaded."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import psutil

from backend.cli_pair import NO_DRAFT, file_facts, is_path, usable, whole
from backend.cli_session import Session
from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts
from backend.library.library import Library
from backend.library.pairing import check_pair, check_sizes
from backend.library.paths import expanded, learnt_file
from backend.plan.free import free_main_memory
from backend.plan.machine import Machine, cards, machine, measured_memory_rate
from backend.plan.measured import measured
from backend.plan.needs import Needs, of_file, of_model
from backend.plan.plan import TYPICAL_ACCEPTANCE, WORKER, Plan, Request, plans, target_buffers
from backend.plan.request import Role, context_for, request_for
from backend.protocol import LoadOptions
from backend.text import one_line, shown_size, shown_sizes

_WHERE = {"none": "no draft", "gpu": "draft on a GPU", "memory": "draft in memory"}
_KV_TYPES = ("f16", "q8_0", "q4_0", "bf16", "f32")
_OF_PROCESSORS = re.compile(r"ggml-(base|cpu|blas|rpc)")
_PATIENCE = 60.0
_MOST = 1e6
_SHORTER = (65_536, 32_768, 16_384, 8192, 4096, 2048, 1024)
"""Contexts that are offered instead."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``plan``."""
    parser = subparsers.add_parser("plan", help="where a pair would lie in memory, and how fast it would be")
    parser.add_argument("--target", metavar="ID|PATH", help="default: the starter target")
    parser.add_argument(
        "--draft", metavar="ID|PATH|lookup|none", help="default: the first draft that the catalogue names"
    )
    parser.add_argument("--context", type=whole(64, 4_194_304), metavar="N", help="in tokens (default: 8192)")
    parser.add_argument("--kv-type", choices=_KV_TYPES, default="f16")
    parser.add_argument("--draft-kv-type", choices=_KV_TYPES, default="f16")
    parser.add_argument(
        "--memory", type=_gigabytes, metavar="GB", help="main memory that is free, of assumed speed (default: as here)"
    )
    parser.add_argument(
        "--vram",
        type=_gigabytes,
        action="append",
        metavar="GB",
        help="a graphics card's free memory, once a card; 0 = no card",
    )
    parser.add_argument(
        "--acceptance", type=_share, default=TYPICAL_ACCEPTANCE, metavar="A", help="draft tokens that hold"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """The command; 0 where some plan is possible."""
    library = Library()
    target = _subject(library, args.target or library.starter().target)
    draft = None
    if args.draft not in NO_DRAFT and (args.draft or target.drafts):
        draft = _subject(library, args.draft or target.drafts[0])
        _check_pair(target, draft)
    options = LoadOptions(n_ctx=args.context, kv_type=args.kv_type, draft_kv_type=args.draft_kv_type)
    n_ctx = context_for(options, target.needs)
    needs = _told(target, options, "target", n_ctx)
    request = request_for(options, needs, _told(draft, options, "draft", n_ctx) if draft else None, n_ctx)
    request = replace(request, acceptance=args.acceptance)
    here, how = _machine(args.memory, args.vram, target.needs.quant)
    found = plans(request, here)
    print(_title(request, here, how))
    if not found:
        print(_too_large(request, here))
        return 1
    for line in _table(request, here, found):
        print(line)
    if request.draft is not None and all(plan.where == "none" for plan in found):
        print(one_line(f"The draft ({request.draft.name}) fits nowhere beside it."))
    print(_verdict(request, here, found))
    return 0


class _Subject(NamedTuple):
    """A model to plan with: what it needs, its file's facts where it is here, drafts that the catalogue names."""

    needs: Needs
    facts: GgufFacts | None
    drafts: tuple[str, ...]


def _check_pair(target: _Subject, draft: _Subject) -> None:
    """Refuse a draft that does not fit, as far as that is known.

    Raises:
        EngineError: DRAFT_INCOMPATIBLE.
    """
    if target.facts is not None and draft.facts is not None:
        verdict = check_pair(target.facts, draft.facts)
    else:
        verdict = check_sizes(target.needs.n_vocab, draft.needs.n_vocab)
    if not verdict.ok:
        raise verdict.error()


def _subject(library: Library, name: str) -> _Subject:
    if is_path(name):
        facts = file_facts(expanded(name))
        return _Subject(_read_at_all(of_file(facts)), facts, ())
    model = library.find(name)
    if model.problem is not None:
        raise model.problem
    if model.facts is not None:
        usable(model.facts)
    drafts = model.entry.drafts if model.entry is not None else ()
    needs = of_model(model)
    if needs is None:
        raise EngineError(
            ErrorCode.BAD_REQUEST, f"Too little is published about {name} to plan with; get it first.", {"model": name}
        )
    return _Subject(_read_at_all(needs), model.facts if model.installed else None, drafts)


def _told(subject: _Subject, options: LoadOptions, role: Role, n_ctx: int) -> Needs:
    """As the load will count it: of a file, where the formulas may not hold, the engine is asked."""
    from backend.engine.sizes import needs_of

    if subject.facts is None:
        return subject.needs
    return replace(needs_of(subject.facts, options, role, n_ctx), name=subject.needs.name)


def _read_at_all(needs: Needs) -> Needs:
    if needs.read:
        return needs
    raise EngineError(
        ErrorCode.MODEL_UNSUPPORTED, f"{needs.name} has no weights that a token would read; choose another model."
    )


def _machine(memory: int | None, vram: Sequence[int] | None, quant: str) -> tuple[Machine, str]:
    """What there is to plan for, and how the speed of its memory is known."""
    given = [size for size in vram or () if size] if vram is not None else cards_here()
    if memory is not None:
        return machine(memory, given), "assumed"
    known = measured(learnt_file(), quant)
    if known is not None:
        return machine(free_main_memory(), given, memory_rate=known.rate, passes=known.passes), "measured in replies"
    rate = measured_memory_rate(psutil.cpu_count(logical=False) or 1)
    return machine(free_main_memory(), given, memory_rate=rate), "measured now"


def cards_here() -> list[int]:
    """Free bytes of each card, as the engine sees them once it has come up; it is not asked where it can see none.

    Raises:
        EngineError: it did not come up.
    """
    if not _may_see_cards():
        return []
    with Session() as session:
        deadline = time.monotonic() + _PATIENCE
        while not (state := session.run(session.client.state())).engine:
            if state.phase == "failed" or time.monotonic() > deadline:
                raise EngineError(
                    ErrorCode.WORKER_START_FAILED, "The engine did not come up; name your card with --vram."
                )
            time.sleep(0.05)
        return cards(state.devices)


def _may_see_cards() -> bool:
    """Whether the engine was built with more than the libraries for processors."""
    found = importlib.util.find_spec("llama_cpp")
    beside = Path(found.origin).parent / "lib" if found is not None and found.origin else Path()
    libraries = list(Path(os.environ.get("LLAMA_CPP_LIB_PATH") or beside).glob("*ggml-*"))
    return not libraries or not all(_OF_PROCESSORS.search(library.name) for library in libraries)


def _title(request: Request, here: Machine, how: str) -> str:
    cards = ", ".join(f"{shown_size(card.free)} on {card.name}" for card in here.gpus) or "no GPU"
    pair = one_line(request.target.name + (f" with {request.draft.name}" if request.draft else ""))
    guess = "estimated from the catalogue" if request.target.estimated else "from the file"
    if request.target.rough:
        guess += ", caches and buffers estimated"
    return (
        f"{pair}; weights {guess}; {request.n_ctx:,} tokens of context\n"
        f"On {cards}, {shown_size(here.memory.free)} of memory that reads {here.memory.rate / 1e6:.0f} GB/s "
        f"({how})"
    )


def _table(request: Request, here: Machine, found: Sequence[Plan]) -> list[str]:
    layers = len(request.target.layers) + 1
    rows = [("plan", *(p.name for p in (*here.gpus, here.memory)), "layers on GPU", "from disk", "plain", "with draft")]
    for plan in found:
        sizes = (shown_size(plan.taken[p.name]) for p in (*here.gpus, here.memory))
        with_draft = f"{1e3 / plan.ms:.1f} tok/s, k {plan.k}" if plan.k else "-"
        streamed = shown_size(plan.from_disk) if plan.from_disk else "-"
        on_gpu = f"{plan.gpu_layers}/{layers}" if here.gpus else "-"
        if plan.experts_in_memory:
            on_gpu += f", {plan.experts_in_memory} without experts"
        rows.append((_WHERE[plan.where], *sizes, on_gpu, streamed, f"{1e3 / plan.plain_ms:.1f} tok/s", with_draft))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def _verdict(request: Request, here: Machine, found: Sequence[Plan]) -> str:
    best = found[0]
    line = f"Best: {_WHERE[best.where]}; speeds are estimates"
    alone = next((p for p in found if p.where == "none"), None)
    if alone is not None and best.k:
        line += f", {alone.ms / best.ms:.2f} times the speed without"
        if displaced := alone.gpu_layers - best.gpu_layers:
            line += f" though the draft takes the place of {displaced} layer{'s' if displaced > 1 else ''}"
    return line + "."


def _too_large(request: Request, here: Machine) -> str:
    target = request.target
    need = target.tables + target.kv(request.n_ctx, request.kv_type)
    need += target_buffers(request, flash=request.flash) + WORKER
    needed, free = shown_sizes(need, here.memory.free)
    fits = next((n for n in _SHORTER if n < request.n_ctx and plans(replace(request, n_ctx=n), here)), None)
    return f"It does not fit: caches and buffers alone want more than {free} of main memory (at least {needed}). " + (
        f"Choose a shorter context: {fits:,} tokens would do." if fits else "Choose a smaller model."
    )


def _gigabytes(text: str) -> int:
    return _number(text, lambda value: value >= 0, f"from 0 to {_MOST:,.0f} GB", 1e9)


def _share(text: str) -> float:
    value = _number(text, lambda v: 0 < v < 1, "between 0 and 1", 1e9) / 1e9
    return float(value)


def _number(text: str, fits: Callable[[float], bool], wanted: str, scale: float) -> int:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not fits(value) or value > _MOST:
        raise argparse.ArgumentTypeError(f"must be {wanted}, but is {text}")
    return round(value * scale)
