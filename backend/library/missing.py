"""The sentences for models whose files are not there, or not whole: seen from names and sizes alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backend.errors import EngineError, ErrorCode
from backend.library.catalogue import Variant
from backend.library.local import Source


def check_sizes(model_id: str, files: Sequence[Path], variant: Variant | None) -> None:
    """Compare with the published sizes; quick, and it catches a download that another program broke off.

    Raises:
        EngineError: ``FILE_TRUNCATED``, ``FILE_DAMAGED``.
    """
    for path, published in zip(files, variant.files if variant else (), strict=False):
        size = path.stat().st_size
        if published.size is not None and size != published.size:
            short = size < published.size
            raise EngineError(
                ErrorCode.FILE_TRUNCATED if short else ErrorCode.FILE_DAMAGED,
                f"The model file {path.name} has {size:,} bytes instead of {published.size:,}; "
                f"delete it and run 'tandem models get {model_id}'.",
                {"path": str(path), "size": size, "expected": published.size},
            )


def files_missing(model_id: str, source: Source, files: Sequence[Path], missing: Sequence[str]) -> EngineError:
    """What lacks, and what to do about it."""
    if source == "catalogue":
        what, todo = "is not downloaded yet", f"run 'tandem models get {model_id}'"
    elif len(files) > 1:
        what, todo = f"lacks {', '.join(missing)}", "put the missing parts beside the others"
    else:
        what, todo = f"has lost its file {files[0]}", "put it back or add the model again"
    return EngineError(
        ErrorCode.FILE_MISSING,
        f"The model {model_id} {what}; {todo}.",
        {"model": model_id, "missing": list(missing), "folder": str(files[0].parent)},
    )
