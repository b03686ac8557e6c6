"""``tandem models list``: what there is, what is here, and what finds room in the memory that is free now."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from backend.cli import complain
from backend.cli_line import size_text
from backend.errors import EngineError
from backend.library import copies
from backend.library.copies import COPY_TYPE, Copy
from backend.library.library import Library, LibraryModel
from backend.plan.fit import fits, has_room
from backend.plan.free import free_main_memory
from backend.plan.machine import Machine, machine
from backend.text import one_line

_FITS = {True: "yes", False: "no", None: "-"}


def list_models(args: argparse.Namespace) -> int:
    """Print what there is, as a table or as JSON; gives the exit code."""
    library = Library()
    models = [m for m in library.models(test_only=True) if args.all or m.state != "available" or not _test_only(m)]
    made = copies.listed()
    if library.problem:
        complain(library.problem.message)
    here = _machine()
    if args.json:
        listed = {"models": [_as_json(m, here) for m in models], "copies": [_copy_as_json(c, here) for c in made]}
        print(json.dumps(listed, indent=1, ensure_ascii=False))
        return 0
    rows = [("ID", "QUANT", "SIZE", "STATE", "FITS", "LICENCE")]
    rows += [(m.id, m.quant or "-", size_text(m.size), _state(m), _FITS[_fits(m, here)], _licence(m)) for m in models]
    rows += [(c.id, COPY_TYPE, size_text(c.size), _copy_state(c), _FITS[_copy_fits(c, here)], "-") for c in made]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for model in models:
        if model.problem:
            print(f"{model.id}: {one_line(model.problem.message)}", file=sys.stderr)
    return 0


def _state(model: LibraryModel) -> str:
    return f"stopped at {size_text(model.fetched)}" if model.fetched else model.state


def _as_json(model: LibraryModel, here: Machine | None) -> dict[str, Any]:
    facts = model.facts
    return {
        "id": model.id,
        "name": model.name,
        "source": model.source,
        "state": model.state,
        "quant": model.quant,
        "size": model.size,
        "fits": _fits(model, here),
        "fetched": model.fetched,
        "files": [str(p) for p in model.files if p.is_file()],
        "missing": list(model.missing),
        "kind": facts.kind if facts else None,
        "architecture": facts.architecture if facts else None,
        "n_params": facts.n_params if facts else None,
        "context_length": facts.context_length if facts else None,
        "drafts": list(model.entry.drafts) if model.entry else [],
        "licence": model.entry.licence.model_dump() if model.entry and model.entry.licence else None,
        "problem": model.problem.message if model.problem else None,
    }


def _copy_as_json(copy: Copy, here: Machine | None) -> dict[str, Any]:
    source = str(copy.source) if copy.source else None
    told = {"id": copy.id, "file": str(copy.file), "size": copy.size, "fits": _copy_fits(copy, here)}
    return told | {"source": source, "stale": copy.stale}


def _copy_state(copy: Copy) -> str:
    name = one_line(copy.source.name) if copy.source else "an unknown file"
    return f"{'stale ' if copy.stale else ''}copy of {name}"


def _test_only(model: LibraryModel) -> bool:
    return model.entry is not None and model.entry.test_only


def _licence(model: LibraryModel) -> str:
    return model.entry.licence.name if model.entry and model.entry.licence else "-"


def _machine() -> Machine | None:
    """This one; None where the engine does not come up to tell its cards."""
    from backend.cli_plan import cards_here

    try:
        return machine(free_main_memory(), cards_here())
    except EngineError:
        return None


def _fits(model: LibraryModel, here: Machine | None) -> bool | None:
    """Whether it would alone, weights, caches and buffers, without reading from disk for each pass."""
    usable = model.facts is None or model.facts.kind == "model"
    return fits(model, here) if here is not None and usable else None


def _copy_fits(copy: Copy, here: Machine | None) -> bool | None:
    return has_room(copy.size, here) if here is not None else None
