"""What a benchmark leaves behind: everything it measured as one record, and the head of its page."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version
from typing import Any

from backend.bench.clairvoyant import Reached
from backend.bench.report import divergences, summarise
from backend.bench.runner import Run
from backend.bench.sweep import Best
from backend.protocol import CostTable, State


def record(
    runs: Sequence[Run],
    state: State,
    options: Mapping[str, Any],
    tandem: str,
    best: Sequence[Best] = (),
    bounds: Sequence[Reached] = (),
) -> dict[str, Any]:
    """What ``tandem bench --json`` writes.

    Args:
        runs: in the order of measuring.
        state: of the engine, with its costs as they were measured last.
        options: what was asked for.
        tandem: Tandem's version.
        best: of a sweep.
        bounds: what foresight would have reached.
    """
    return {
        "runs": [one.to_json() for one in runs],
        "meta": {
            "tandem": tandem,
            "llama_cpp_python": version("llama-cpp-python"),
            "python": platform.python_version(),
            "platform": platform.platform(),
            "engine": state.engine,
            "threads": state.threads,
            "devices": [device.model_dump() for device in state.devices],
            "target": state.target.model_dump() if state.target else None,
            "draft": state.draft.model_dump() if state.draft else None,
            "options": dict(options),
        },
        "summary": [asdict(row) for row in summarise(runs)] if runs else [],
        "best_fixed": [asdict(b) for b in best],
        "bounds": [asdict(r) for r in bounds],
        "costs": (state.cost or CostTable()).model_dump(),
        "differences": [asdict(d) for d in divergences(runs)],
    }


def facts(state: State, options: Mapping[str, Any], tandem: str) -> dict[str, object]:
    """What was measured with, for people; ``options`` with at least prompts, max_tokens, temperature and repeats."""
    return {
        "Target": f"{state.target.name}, {state.target.quant}" if state.target else "-",
        "Draft": f"{state.draft.name}, {state.draft.quant}" if state.draft else "-",
        "Engine": state.engine,
        "Threads": state.threads,
        "Exact texts": "no" if state.exact_rows is None else f"passes of up to {state.exact_rows}",
        "Prompts": options["prompts"],
        "Tokens a reply": options["max_tokens"],
        "Temperature": options["temperature"],
        "Repeats": options["repeats"],
        "Tandem": tandem,
        "Measured": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
    }
