"""What was learnt about a pair on this machine, kept between runs in ``learnt.json``.

Pass costs belong to everything that decides them (file, where its layers are, threads, KV type, flash attention, build
and CPU), acceptance to the pair. Stored figures are only a start: what is measured in this run replaces them.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import platform
from pathlib import Path
from typing import Any, Literal

from llama_cpp import llama_cpp as _llama

from backend.engine.devices import engine_line
from backend.engine.load import LoadedModel
from backend.errors import EngineError
from backend.library.jsonfile import read_json, write_json
from backend.plan.measured import KEY, TELLING, noted
from backend.plan.needs import of_file
from backend.protocol import LoadOptions
from backend.speculation.cost import PassCosts

log = logging.getLogger(__name__)
_KEPT = 64
"""Entries, the latest written."""
_FORMAT = 1


class Learnt:
    """The file.

    Args:
        path: of the JSON file; need not exist.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, key: str) -> dict[str, Any]:
        """What :meth:`keep` was given for this key; empty when there is nothing."""
        entry = self._entries().get(key)
        return entry if isinstance(entry, dict) else {}

    def keep(self, learnt: dict[str, dict[str, Any]]) -> None:
        """Remember key -> figures, beside others kept under it. A disk that refuses costs the memory, not the reply."""
        entries = self._entries()
        for key, figures in learnt.items():
            known = entries.pop(key, None)
            entries[key] = (known if isinstance(known, dict) else {}) | figures
        try:
            write_json(self._path, {"format": _FORMAT, "entries": dict(list(entries.items())[-_KEPT:])})
        except EngineError as error:
            log.warning("what was learnt is not kept: %s", error)

    def _entries(self) -> dict[str, Any]:
        stored = read_json(self._path)
        entries = stored.get("entries") if stored.get("format") == _FORMAT else None
        return entries if isinstance(entries, dict) else {}


def model_key(model: LoadedModel, role: Literal["target", "draft"]) -> str:
    """Names all that a pass over this model costs by; the two roles are measured differently."""
    info, context = model.info, model.context
    return _digest(
        role,
        *(info.file, info.size, info.n_params, info.quant, info.gpu_layers),
        *(context.kind, model.exact_kernels, context.threads, engine_line(), _kernels(), _processor()),
    )


def pair_key(target: LoadedModel, draft: LoadedModel) -> str:
    """Names a pair: how often this draft's tokens stand."""
    return _digest(*((m.info.file, m.info.size, m.info.quant) for m in (target, draft)))


def copy_key(target: LoadedModel, copy: Path, options: LoadOptions) -> str:
    """Names a pair here for the choice between its draft and the draft's copy, whose name tells the draft's content."""
    return _digest(model_key(target, "target"), copy.name, options.draft_gpu_layers, options.draft_kv_type)


def told_to_plans(target: LoadedModel, costs: PassCosts) -> dict[str, dict[str, Any]]:
    """What plans of other models are told: what passes take here; nothing where it is not main memory they wait for."""
    info, table = target.info, costs.to_json().get("0")
    if info.gpu_layers or info.streamed or costs.untouched or table is None:
        return {}
    try:
        needs = of_file(target.facts)
    except EngineError as error:  # the file is gone: what is loaded of it answers on
        log.warning("plans are told nothing: %s", error)
        return {}
    telling = needs.read >= TELLING and not needs.experts  # with more tokens a pass reads more experts
    return {KEY: noted(info.quant, needs.read, table)} if telling else {}


@functools.cache
def _kernels() -> str:
    """Tells the CPU library's machine code: flags of the compiler change its sums, and its own line does not say so."""
    found = sorted(Path(_llama._lib._name).parent.glob("*ggml-cpu*"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in found if not path.is_symlink())).hexdigest()


def _processor() -> str:
    """The processor's own name where the system tells it (Linux), else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return name or platform.processor() or platform.machine()


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
