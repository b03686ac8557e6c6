"""Loading a model: file checks, weights with progress and cancel, context, and a probe of what its memory can do."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import llama_cpp

from backend.engine import kernels, native, offload
from backend.engine.cancel import CancelFlag
from backend.engine.context import Context
from backend.engine.contexts import make_context, maker
from backend.engine.devices import has_gpu
from backend.engine.place import ALL
from backend.engine.probe import limits, probe, probe_once
from backend.engine.refusals import stream_error
from backend.engine.stream import Streamer
from backend.engine.template import ChatTemplate
from backend.engine.vocab import Vocab, check_draft
from backend.engine.warm import warm
from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts, read_model, split_parts
from backend.library.loadable import check_loadable
from backend.library.pairing import check_pair
from backend.library.paths import copies_dir
from backend.plan.attention import check_caches
from backend.plan.request import Role
from backend.protocol import LoadOptions, ModelInfo
from backend.text import shown_name

Progress = Callable[[str, float], None]

_READ = 0.5
"""Of the progress of loading: bringing the file into memory, before the engine takes it over."""


class LoadedModel:
    """A model with its context, ready to decode.

    Args:
        pointer: llama_model pointer, owned from here on.
    """

    def __init__(self, pointer: ctypes.c_void_p | None, facts: GgufFacts, info: ModelInfo, context: Context) -> None:
        self._pointer = pointer
        self.facts = facts
        self.info = info
        self.context = context
        self.vocab = Vocab(pointer)
        self.strict: bool | None = False
        """Whether texts must be plain decoding's to the bit; None = where that costs little."""
        self.exact_kernels = False
        """Whether passes of a few tokens leave llamafile's kernels out (see ``engine.kernels``)."""
        self.streamer: Streamer | None = None
        """Reads what is larger than the memory from disk, pass by pass."""
        source = llama_cpp.llama_model_chat_template(pointer, None)
        self.template = ChatTemplate(source.decode("utf-8", "replace") if source else None, self.vocab)

    def describe(self, truncate_note: str) -> None:
        """Complete the info with what vocabulary, template and probe say."""
        rollback = self.context.max_rollback
        self.info = self.info.model_copy(
            update={
                "tokenizer": self.vocab.digest,
                "can_truncate": rollback is None or rollback > 0,
                "truncate_note": truncate_note,
                "template_variables": self.template.variables,
                "has_template": not self.template.fallback,
                "template_note": self.template.note,
            }
        )

    @property
    def streamed(self) -> bool:
        """Whether the weights are larger than the memory."""
        return self.streamer is not None

    def close(self) -> None:
        """Free context and weights."""
        if self.streamer is not None:
            self.streamer.close()
        self.context.close()
        if self._pointer:
            llama_cpp.llama_model_free(self._pointer)
            self._pointer = None


TargetModel = LoadedModel
DraftModel = LoadedModel


def load_target(path: Path, model_id: str, options: LoadOptions, progress: Progress, flag: CancelFlag) -> LoadedModel:
    """Load a target.

    Args:
        path: GGUF file (the first part of a split one).
        model_id: library id, for display.
        options: where to put it.
        progress: called with phase and fraction.
        flag: stops the load within one tensor.

    Raises:
        EngineError: what is wrong with the file, or OUT_OF_MEMORY, LOAD_FAILED, CANCELLED.
    """
    return _load(path, model_id, options, "target", options.gpu_layers, options.n_ctx, progress, flag)


def load_draft(
    path: Path, model_id: str, options: LoadOptions, target: LoadedModel, progress: Progress, flag: CancelFlag
) -> LoadedModel:
    """Load a draft for ``target``; refused with DRAFT_INCOMPATIBLE before its weights are read where possible."""
    facts = read_model(split_parts(path))
    if not (verdict := check_pair(target.facts, facts)).ok:
        raise verdict.error()
    draft = _load(path, model_id, options, "draft", options.draft_gpu_layers, target.context.n_ctx, progress, flag)
    try:
        check_draft(target.vocab, draft.vocab)  # what llama.cpp made of the files, not what their headers say
    except BaseException:
        draft.close()
        raise
    return draft


def _load(
    path: Path,
    model_id: str,
    options: LoadOptions,
    phase: Role,
    gpu_layers: int | None,
    n_ctx: int | None,
    progress: Progress,
    flag: CancelFlag,
) -> LoadedModel:
    facts = read_model(split_parts(path))
    check_loadable(facts)
    check_caches(options)
    llama_cpp.llama_backend_init()
    layers = (ALL if has_gpu() else 0) if gpu_layers is None else gpu_layers
    read = 0.0
    if options.use_mmap:
        read = _READ
        with _readable():
            warm(facts.files, lambda f: progress(phase, _READ * f), flag)
    streamer = Streamer(facts, options.streamed) if options.streamed and phase == "target" else None
    first, kept = facts.files[0], _kept(options, phase)  # llama.cpp takes no other part of a split model
    model = _load_weights(first, kept, phase, layers, lambda f: progress(phase, read + (1 - read) * f), flag)
    context: Context | None = None
    try:
        progress("probe", 0.0)
        make = maker(model, options, phase, flag, streamer, on_gpu=has_gpu() and layers > 0)
        context, snapshot = make_context(make, model, options, phase, n_ctx)
        context.kind += offload.described(options, phase)
        loaded = LoadedModel(model, facts, _info(model, model_id, path, facts, context, layers), context)
        loaded.info.snapshot_memory = snapshot * context.snapshots
        loaded.strict, loaded.streamer = options.strict, streamer
        loaded.exact_kernels = bool(options.strict) and kernels.can_choose()
        if streamer is None:
            probe(context, loaded.vocab)
        else:
            probe_once(context, loaded.vocab)
            with _readable():
                loaded.info.streamed = streamer.start(lambda f: progress("stream", f), flag)
            context.kind += ", streamed"
        loaded.describe(limits(context, snapshot) if phase == "target" else "")
    except BaseException:
        if streamer is not None:
            streamer.close()
        if context is not None:
            context.close()
        llama_cpp.llama_model_free(model)
        raise
    progress("probe", 1.0)
    return loaded


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    """A disk that fails is said."""
    try:
        yield
    except OSError as error:
        raise stream_error(error) from error


def _info(
    model: ctypes.c_void_p, model_id: str, path: Path, facts: GgufFacts, context: Context, layers: int
) -> ModelInfo:
    n_layer = int(llama_cpp.llama_model_n_layer(model))
    return ModelInfo(
        id=model_id,
        name=facts.name or shown_name(path.stem),
        file=shown_name(path.name),
        architecture=facts.architecture,
        quant=facts.quant,
        n_params=int(llama_cpp.llama_model_n_params(model)),
        size=int(llama_cpp.llama_model_size(model)),
        n_vocab=context.n_vocab,
        n_ctx_train=int(llama_cpp.llama_model_n_ctx_train(model)),
        n_ctx=context.n_ctx,
        n_layer=n_layer,
        gpu_layers=min(layers, n_layer + 1) if has_gpu() else 0,
        tokenizer="",
        can_truncate=True,
    )


def _load_weights(
    path: Path, options: LoadOptions, role: Role, layers: int, progress: Callable[[float], None], flag: CancelFlag
) -> ctypes.c_void_p:
    def on_progress(fraction: float, _user: object) -> bool:
        with contextlib.suppress(Exception):  # must not cross C
            progress(float(fraction))
        return not flag.is_set()

    callback = llama_cpp.llama_progress_callback(on_progress)
    params = llama_cpp.llama_model_default_params()
    params.n_gpu_layers = layers
    params.load_mode = (
        (llama_cpp.LLAMA_LOAD_MODE_MMAP_MLOCK if options.use_mlock else llama_cpp.LLAMA_LOAD_MODE_MMAP)
        if options.use_mmap
        else (llama_cpp.LLAMA_LOAD_MODE_MLOCK if options.use_mlock else llama_cpp.LLAMA_LOAD_MODE_NONE)
    )
    params.progress_callback = callback
    params.use_extra_bufts = not options.streamed  # repacked weights would be memory that cannot be dropped
    # what was made here nobody else has looked at
    params.check_tensors = path.resolve().parent == copies_dir().resolve()
    kept = offload.fill_in(params, options, role)
    with native.collect_errors() as errors:
        model = llama_cpp.llama_model_load_from_file(native.file_name(path), params)
    del kept  # it had to outlive the load
    if flag.is_set():
        if model:
            llama_cpp.llama_model_free(model)
        raise EngineError(ErrorCode.CANCELLED, "Loading was stopped.")
    if not model:
        raise _load_error(path, " ".join(errors).strip())
    return model  # type: ignore[no-any-return]


def _kept(options: LoadOptions, phase: Role) -> LoadOptions:
    """A streamed target's draft is read into memory: were it mapped, the stream would push it out again and again."""
    if phase == "draft" and options.streamed:
        return options.model_copy(update={"streamed": 0, "use_mmap": False})
    if phase == "target" and options.streamed:
        return options.model_copy(update={"use_mmap": True, "use_mlock": False})
    return options


def _load_error(path: Path, said: str) -> EngineError:
    low = said.lower()
    if any(words in low for words in ("failed to allocate", "out of memory", "cannot allocate", "outofdevicememory")):
        return EngineError(
            ErrorCode.OUT_OF_MEMORY,
            f"There is not enough memory to load {path.name}. Choose a smaller model, or fewer GPU layers.",
            {"engine": said},
        )
    if "unknown model architecture" in low:
        return EngineError(
            ErrorCode.MODEL_UNSUPPORTED,
            f"This version of llama.cpp does not know the architecture of {path.name}. Choose another model.",
            {"engine": said},
        )
    return EngineError(
        ErrorCode.LOAD_FAILED,
        f"{path.name} could not be loaded: {said or 'the engine gave no reason'}. The file may be damaged.",
        {"engine": said},
    )
