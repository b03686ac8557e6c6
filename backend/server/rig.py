"""The seam to the engine: everything the server asks of it, imported on first use.

The worker answers ``/health`` before llama.cpp is loaded, so nothing here imports ``backend.engine`` when the module is
read; :meth:`Rig.start` does, on the engine thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from backend.errors import EngineError
from backend.protocol import DeviceInfo, LoadOptions, ModelInfo

if TYPE_CHECKING:
    from backend.engine.cancel import CancelFlag
    from backend.engine.cheaper import Choice
    from backend.engine.learnt import Learnt
    from backend.engine.load import DraftModel, TargetModel
    from backend.engine.pair import Pair
    from backend.library.gguf import GgufFacts

Progress = Callable[[str, float], None]

_LEVELS = {"debug": logging.DEBUG, "info": logging.DEBUG, "warning": logging.WARNING, "error": logging.ERROR}
"""llama.cpp's info is a developer's debug: dozens of lines a load."""

_ABORTED = ("failed with error 1", "compute status: 1", "failed to decode, ret = 2")
"""How llama.cpp tells, as errors, that a pass was given up: a reply was stopped."""


class Rig:
    """The real engine and the real library.

    Args:
        crash_file: where ggml's last words go before it aborts the process.
    """

    def __init__(self, crash_file: Path | None = None) -> None:
        self._crash_file = crash_file
        self.engine = ""
        """llama.cpp's build and back ends in one line, once started."""
        self.devices: list[DeviceInfo] = []
        self._unloaded: list[DeviceInfo] = []
        """The same while nothing was loaded."""
        self._used_unloaded = 0
        """Bytes that the worker took then."""

    def start(self) -> None:
        """Import llama.cpp, take over its log, and look at the devices. Once, on the engine thread."""
        from backend.engine import native
        from backend.engine.devices import engine_line

        native.install_log(_log_llama)
        if self._crash_file is not None:
            native.install_abort_hook(self._crash_file)
        self.engine = engine_line()
        self.look()
        self._unloaded = self.devices

    def look(self) -> None:
        """Read the devices' free memory anew."""
        from backend.engine.devices import devices

        self.devices = devices()

    def flag(self) -> CancelFlag:
        """A new cancel flag."""
        from backend.engine.cancel import CancelFlag

        return CancelFlag()

    def resolve(self, model_id: str) -> Path:
        """The file behind a library id.

        Raises:
            EngineError: ``model_unknown``, ``file_missing``.
        """
        from backend.library.library import Library

        return Library().resolve(model_id)

    def check(self, target: Path, draft: str | None, options: LoadOptions, flag: CancelFlag, *, anyway: bool) -> None:
        """Refuse what cannot be, or would not fit once the present pair is freed.

        Raises:
            EngineError: BAD_REQUEST, TOO_LARGE, what is wrong with the file, CANCELLED.
        """
        from backend.engine.devices import memory_used
        from backend.engine.place import check_memory
        from backend.plan.attention import check_caches
        from backend.plan.free import free_main_memory

        check_caches(options)
        free = free_main_memory() + max(0, memory_used() - self._used_unloaded)
        check_memory(options, *self._facts(target, draft), self._unloaded, free, anyway=anyway, flag=flag)

    def place(
        self, target: Path, draft: str | None, options: LoadOptions, flag: CancelFlag, *, anyway: bool
    ) -> LoadOptions:
        """The options with the target's layers on cards filled in, where they are left open; nothing is loaded now.

        Raises:
            EngineError: TOO_LARGE, what is wrong with the file, CANCELLED.
        """
        from backend.engine.devices import memory_used
        from backend.engine.place import place_target
        from backend.plan.free import free_main_memory

        self.look()
        self._unloaded, self._used_unloaded = self.devices, memory_used()
        facts = self._facts(target, draft)
        return place_target(options, *facts, self.devices, free_main_memory(), anyway=anyway, flag=flag)

    def _facts(self, target: Path, draft: str | None) -> tuple[GgufFacts, GgufFacts | None]:
        from backend.library.gguf import read_model, split_parts

        facts, beside = read_model(split_parts(target)), None
        with suppress(EngineError):  # a draft that cannot be read is said when it is loaded
            beside = read_model(split_parts(self.resolve(draft))) if draft is not None else None
        return facts, beside

    def load_target(
        self, path: Path, model_id: str, options: LoadOptions, progress: Progress, flag: CancelFlag
    ) -> TargetModel:
        """Load a target."""
        from backend.engine.load import load_target

        loaded = load_target(path, model_id, options, progress, flag)
        loaded.info = _titled(loaded.info, path)
        return loaded

    def load_draft(
        self,
        path: Path,
        model_id: str,
        options: LoadOptions,
        target: TargetModel,
        progress: Progress,
        flag: CancelFlag,
    ) -> DraftModel:
        """Load a draft that fits ``target``."""
        from backend.engine.load import load_draft
        from backend.engine.place import check_draft, place_draft
        from backend.library.gguf import read_model, split_parts
        from backend.plan.free import free_main_memory

        facts, n_ctx = read_model(split_parts(path)), target.context.n_ctx
        self.look()
        options = place_draft(options, facts, n_ctx, self.devices, flag)
        check_draft(options, facts, n_ctx, free_main_memory(), flag)
        loaded = load_draft(path, model_id, options, target, progress, flag)
        loaded.info = _titled(loaded.info, path)
        return loaded

    def make_copy(self, source: Path, progress: Callable[[float], None], flag: CancelFlag) -> Path:
        """Write a cheaper copy of a draft (see ``engine.cheaper``)."""
        from backend.engine.cheaper import make_copy

        return make_copy(source, progress, flag)

    def choice(self, target: TargetModel, copy: Path, options: LoadOptions) -> Choice | None:
        """Whether the copy was found to pay for this target here; None where it was not tried."""
        from backend.engine.cheaper import recall

        return recall(self._learnt(), target, copy, options)

    def try_copy(self, pair: Pair, copy: DraftModel, file: Path, options: LoadOptions, flag: CancelFlag) -> Choice:
        """Choose between a pair's draft and its copy; on the engine thread."""
        from backend.engine.cheaper import try_copy

        return try_copy(pair, copy, file, options, self._learnt(), flag)

    def pair(self, target: TargetModel, draft: DraftModel | None) -> Pair:
        """Put a target and perhaps a draft together."""
        from backend.engine.pair import Pair

        return Pair(target, draft, learnt=self._learnt())

    def _learnt(self) -> Learnt:
        from backend.engine.learnt import Learnt
        from backend.library.paths import data_dir, learnt_file

        data_dir()  # where nothing can be kept, that is said
        return Learnt(learnt_file())


def _titled(info: ModelInfo, path: Path) -> ModelInfo:
    """With the catalogue's name where it is one of its models: what stands in the files is sloppier."""
    from backend.library.catalogue import load_catalogue

    found = load_catalogue()[0].find(info.id)
    if found is None or path.name not in {Path(file.name).name for file in found[1].files}:
        return info
    return info.model_copy(update={"name": found[0].name})


def _log_llama(level: str, text: str) -> None:
    text = text.strip()
    if text and level in _LEVELS:
        logging.getLogger("llama").log(_LEVELS["debug" if text.endswith(_ABORTED) else level], "%s", text)
