"""``tandem plan``: where a pair would lie on a machine, and how fast it would be there, before anything is loaded."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from backend.cli_pair import NO_DRAFT, is_path, whole
from backend.cli_session import Session
from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts, read_model, split_parts, unfit_kind
from backend.library.library import Library
from backend.library.pairing import check_pair, check_sizes
from backend.plan.free import free_main_memory
from backend.plan.machine import Machine, cards, machine, measured_memory_rate
from backend.plan.needs import Needs, of_file, of_model
from backend.plan.plan import TYPICAL_ACCEPTANCE, Plan, Request, plans
from backend.text import shown_size

_WHERE = {"none": "no draft", "gpu": "draft on a GPU", "memory": "draft in memory"}
_CONTEXT = 8192
_PATIENCE = 60.0


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``plan``."""
    parser = subparsers.add_parser("plan", help="where a pair would lie in memory, and how fast it would be")
    parser.add_argument("--target", metavar="ID|PATH", help="default: the starter target")
    parser.add_argument(
        "--draft", metavar="ID|PATH|lookup|none", help="default: the first draft that the catalogue names"
    )
    parser.add_argument("--context", type=whole(64, 4_194_304), default=_CONTEXT, metavar="N", help="default: 8192")
    parser.add_argument("--kv-type", choices=("f16", "q8_0", "q4_0", "bf16", "f32"), default="f16")
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
    request = Request(
        target.needs, draft.needs if draft else None, args.context, args.kv_type, acceptance=args.acceptance
    )
    here = _machine(args.memory, args.vram)
    found = plans(request, here)
    print(_title(request, here, measured=args.memory is None))
    if not found:
        print(_too_large(request, here))
        return 1
    for line in _table(request, here, found):
        print(line)
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
        facts = read_model(split_parts(Path(name).expanduser()))
        if (unfit := unfit_kind(facts)) is not None:
            raise unfit
        return _Subject(of_file(facts), facts, ())
    model = library.find(name)
    if model.problem is not None:
        raise model.problem
    drafts = model.entry.drafts if model.entry is not None else ()
    needs = of_model(model)
    if needs is None:
        raise EngineError(
            ErrorCode.BAD_REQUEST, f"Too little is published about {name} to plan with; get it first.", {"model": name}
        )
    return _Subject(needs, model.facts if model.installed else None, drafts)


def _machine(memory: int | None, vram: Sequence[int] | None) -> Machine:
    given = [size for size in vram or () if size]
    rate = None
    if memory is None:
        memory, rate = free_main_memory(), measured_memory_rate(psutil.cpu_count(logical=False) or 1)
    if vram is None:
        given = _cards_here()
    return machine(memory, given, memory_rate=rate)


def _cards_here() -> list[int]:
    """What the engine sees, once it has come up."""
    with Session() as session:
        deadline = time.monotonic() + _PATIENCE
        while not (state := session.run(session.client.state())).engine:
            if state.phase == "failed" or time.monotonic() > deadline:
                raise EngineError(
                    ErrorCode.WORKER_START_FAILED, "The engine did not come up; name your card with --vram."
                )
            time.sleep(0.05)
        return cards(state.devices)


def _title(request: Request, here: Machine, measured: bool) -> str:
    cards = ", ".join(f"{shown_size(card.free)} on {card.name}" for card in here.gpus) or "no GPU"
    pair = request.target.name + (f" with {request.draft.name}" if request.draft else "")
    guess = "estimated from the catalogue" if request.target.estimated else "from the file"
    return (
        f"{pair}; weights {guess}; {request.n_ctx:,} tokens of context\n"
        f"On {cards}, {shown_size(here.memory.free)} of memory that reads {here.memory.rate / 1e6:.0f} GB/s "
        f"({'measured now' if measured else 'assumed'})"
    )


def _table(request: Request, here: Machine, found: Sequence[Plan]) -> list[str]:
    layers = len(request.target.layers) + 1
    rows = [("plan", *(p.name for p in (*here.gpus, here.memory)), "layers on GPU", "from disk", "plain", "with draft")]
    for plan in found:
        sizes = (shown_size(plan.taken[p.name]) for p in (*here.gpus, here.memory))
        with_draft = f"{1e3 / plan.ms:.1f} tok/s, k {plan.k}" if plan.k else "-"
        streamed = shown_size(plan.streamed) if plan.streamed else "-"
        on_gpu = f"{plan.gpu_layers}/{layers}" if here.gpus else "-"
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
    need = target.embedding + target.kv(request.n_ctx, request.kv_type)
    need += target.compute(request.n_ctx, request.n_batch, request.rows, flash=request.flash)
    return (
        f"It does not fit: caches and buffers alone want more than {shown_size(here.memory.free)} of main memory "
        f"(at least {shown_size(need)}). Choose a shorter context."
    )


def _gigabytes(text: str) -> int:
    return _number(text, lambda value: value >= 0, "GB, 0 or more", 1e9)


def _share(text: str) -> float:
    value = _number(text, lambda v: 0 < v < 1, "between 0 and 1", 1e9) / 1e9
    return float(value)


def _number(text: str, fits: Callable[[float], bool], wanted: str, scale: float) -> int:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not fits(value) or value > 1e6:
        raise argparse.ArgumentTypeError(f"must be {wanted}, but is {text}")
    return round(value * scale)
