"""A target larger than the memory: most layers stay in memory, the others are read from disk ahead of the pass.

A thread reads the next of them while the pass computes, and goes on while the draft works; the pass waits where it is
faster than the disk. Whole layers are exchanged (``engine.mapping``), so nothing depends on what the page cache keeps.
The engine calls back after each layer: that is where a layer is given back, and where the next one is waited for.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import llama_cpp

from backend.engine import native
from backend.engine.cancel import CancelFlag
from backend.engine.mapping import (
    Files,
    Pool,
    Region,
    give_way,
    layer_runs,
    locate,
    mapped,
    read_singly,
    replace,
    supported,
)
from backend.library.gguf import GgufFacts
from backend.plan.from_disk import TURNS, layers_from_disk

log = logging.getLogger(__name__)

_AHEAD = TURNS - 1
"""Layers held beside the one that is computed."""
_READERS = 4
"""Reads at once: one alone does not keep a fast disk busy."""
_POLL = 0.05
_LAYER_OUTPUT = re.compile(rb"l_out-(\d+)")


class Streamer:
    """Exchanges the layers of one model. To be made before the model is loaded.

    Args:
        facts: the model's.
        missing: bytes of weights that do not fit into memory.
    """

    def __init__(self, facts: GgufFacts, missing: int) -> None:
        self._facts = facts
        self._missing = missing
        self._others = mapped(facts.files)
        self._regions: dict[int, list[Region]] = {}
        self._order: list[int] = []
        self._seen: set[int] = set()
        self._changed = threading.Condition()
        self._resident: list[int] = []
        self._loading = -1
        self._next = 0
        self._closed = False
        self._thread: threading.Thread | None = None
        self._files: Files | None = None
        self._pool: Pool | None = None
        self.error: OSError | None = None
        """Why reading failed; the pass that waited for it was given up."""
        self.given_up: Callable[[], bool] = lambda: False
        """Whether the pass is to stop."""
        self.give_up: Callable[[], None] = lambda: None
        """Stops the pass."""
        self.callback = llama_cpp.llama_cpp.ggml_backend_sched_eval_callback(self._called)

    def start(self, progress: Callable[[float], None], flag: CancelFlag) -> int:
        """Take the layers that do not fit out of the mapping and begin to read; bytes that a pass reads from disk.

        0 where this cannot be done: then the page cache does what it can. So also for a mixture of experts, of whose
        layers a token reads a small part.

        Raises:
            EngineError: CANCELLED.
        """
        experts = any("_exps." in tensor.name for tensor in self._facts.tensors())
        if not supported() or experts or len(self._seen) < self._facts.n_layer:
            log.info(
                "weights stay mapped: %d of %d layers tell when they are done", len(self._seen), self._facts.n_layer
            )
            return 0
        found = locate(layer_runs(self._facts), self._others)
        sizes = {layer: sum(region.run.size for region in regions) for layer, regions in found.items()}
        chosen = layers_from_disk({n: size for n, size in sizes.items() if n < self._facts.n_layer}, self._missing)
        if not chosen:
            return 0
        try:
            self._pool = Pool(min(len(chosen), TURNS), max(sizes[layer] for layer in chosen))
        except OSError as error:
            log.warning("weights stay mapped: %s", error)
            return 0
        self._files = Files(self._facts)
        self._regions, self._order = found, chosen
        with ThreadPoolExecutor(_READERS) as pool:
            for done, (layer, regions) in enumerate(found.items(), start=1):
                for region in regions:
                    replace(region)
                    if layer not in chosen:
                        self._files.fill(region, pool, lambda: not flag.is_set())
                flag.check()
                progress(done / len(found))
        read_singly(self._facts.files, self._others)
        self._thread = threading.Thread(target=self._read, name="stream", daemon=True)
        self._thread.start()
        return sum(sizes[layer] for layer in chosen)

    def close(self) -> None:
        """Stop reading. The model must not be used any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        if self._files is not None:
            self._files.close()
            self._files = None
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    # -- the engine's thread

    def _called(self, tensor: int, ask: bool, _user: object) -> bool:
        """Asked of every node whether its end is of interest, and told of those that are."""
        match = _LAYER_OUTPUT.fullmatch(native.tensor_name(tensor))
        if match is None:
            return not ask
        if not ask:
            self._done(int(match[1]))
        return True

    def _done(self, layer: int) -> None:
        self._seen.add(layer)
        if layer in self._order:
            self._drop(layer)
        if layer + 1 in self._order:
            self._wait_for(layer + 1)

    def _drop(self, layer: int) -> None:
        assert self._pool is not None
        with self._changed:
            if layer in self._resident:
                self._resident.remove(layer)
                self._pool.take_back(layer, self._regions[layer])
                self._changed.notify_all()

    def _wait_for(self, layer: int) -> None:
        assert self._pool is not None
        with self._changed:
            while layer not in self._resident and not (self._closed or self.error or self.given_up()):
                coming = self._loading == layer or (self._order[self._next] == layer and len(self._resident) <= _AHEAD)
                if not coming:  # a pass was given up, and what was read for it is in the way
                    for other in self._resident:
                        self._pool.take_back(other, self._regions[other])
                    self._resident.clear()
                    self._next = self._order.index(layer)
                    self._changed.notify_all()
                self._changed.wait(_POLL)

    # -- the reading thread

    def _read(self) -> None:
        assert self._files is not None
        assert self._pool is not None
        with ThreadPoolExecutor(_READERS, initializer=give_way) as pool:
            while (layer := self._claim()) is not None:
                try:
                    self._pool.lend(layer, self._regions[layer])
                    for region in self._regions[layer]:
                        self._files.fill(region, pool, lambda: not self._closed)
                except OSError as error:
                    with self._changed:
                        self.error, self._closed = error, True
                        self._changed.notify_all()
                    self.give_up()
                    return
                with self._changed:
                    if self._closed:
                        return
                    self._loading = -1
                    self._resident.append(layer)
                    self._changed.notify_all()

    def _claim(self) -> int | None:
        """The next layer to read, once there is room for it; None = no more."""
        with self._changed:
            while not self._closed:
                while self._order[self._next] in self._resident and len(self._resident) < len(self._order):
                    self._next = (self._next + 1) % len(self._order)
                layer = self._order[self._next]
                if len(self._resident) <= _AHEAD and layer not in self._resident:
                    self._next = (self._next + 1) % len(self._order)
                    self._loading = layer
                    return layer
                self._changed.wait()
        return None
