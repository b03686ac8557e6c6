"""From a target that is loaded to a measured pair with its draft; what cannot be a model is refused before."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

from backend.errors import EngineError, ErrorCode
from backend.library.gguf import read_model, split_parts
from backend.library.loadable import check_loadable
from backend.protocol import LoadOptions, LoadRequest
from backend.server.cheaper import Cheaper
from backend.server.jobs import Job
from backend.server.rig import Rig
from backend.server.standing import Standing

if TYPE_CHECKING:
    from backend.engine.load import DraftModel, TargetModel
    from backend.engine.pair import Pair


class Loading:
    """Loads drafts and makes pairs.

    Args:
        rig: the engine.
        cheaper: copies of drafts.
        standing: told how far it has come, and why a draft does not load.
    """

    def __init__(self, rig: Rig, cheaper: Cheaper, standing: Standing) -> None:
        self._rig = rig
        self._cheaper = cheaper
        self._standing = standing

    def pair(self, target: TargetModel, request: LoadRequest, job: Job) -> Pair:
        """A measured pair around ``target``; on an error or a cancel nothing stays in memory."""
        try:
            draft = self._try_draft(target, request, job)
        except BaseException:
            target.close()
            raise
        try:
            pair = self._rig.pair(target, draft)
        except BaseException:
            for model in (target, draft):
                if model is not None:
                    model.close()
            raise
        try:
            pair.measure(self._standing.progress(job), job.flag)
            if request.settle:
                pair.settle(self._standing.progress(job), job.flag)
        except BaseException:
            pair.close()
            raise
        _settle_memory()
        return pair

    def draft(self, draft: str, target: TargetModel, options: LoadOptions, job: Job) -> DraftModel:
        """A draft for ``target``, perhaps a cheaper copy; why it does not load is in the state too."""
        try:
            path = self._rig.resolve(draft)
            progress = self._standing.progress(job)
            self._cheaper.say("")
            if options.cheaper_draft:
                chosen = self._cheaper.load_chosen(path, draft, options, target, progress, job.flag)
                if chosen is not None:
                    return chosen
            return self._rig.load_draft(path, draft, options, target, progress, job.flag)
        except EngineError as error:
            if error.code is not ErrorCode.CANCELLED:
                self._standing.draft_note = error.message
            raise
        finally:
            self._standing.say("")

    def _try_draft(self, target: TargetModel, request: LoadRequest, job: Job) -> DraftModel | None:
        """A draft that does not load costs speculation, not the chat: the reason is in the state."""
        if request.draft is None:
            return None
        try:
            return self.draft(request.draft, target, request.options, job)
        except EngineError as error:
            if error.code is ErrorCode.CANCELLED:
                raise
            return None


def check_file(path: Path) -> None:
    """Read the file's header: what can be known to fail must not cost the model that is loaded.

    Raises:
        EngineError: missing, truncated or damaged, or not of a kind that is loaded as a model.
    """
    check_loadable(read_model(split_parts(path)))


def _settle_memory() -> None:
    """What is alive now stays: collections during a reply need not walk it, out of the caches as it is then."""
    gc.unfreeze()  # what an earlier pair left may go
    gc.collect()
    gc.freeze()
