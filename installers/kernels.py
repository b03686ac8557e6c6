"""One line of llama.cpp that is changed before it is compiled: from which batch size on llamafile's kernels serve.

ggml gives every product of matrices of two or more columns to those kernels where it can, and they add up in another
order than its own for one column. So a token's logits depend on how many tokens were decoded with it. They are quicker
for prompts and cost texts their exactness in passes of a few tokens. Here a variable of the library takes the place of
the 2: the engine sets it (``backend/engine/kernels.py``, docs/adr/0008).
"""

from __future__ import annotations

import tarfile
from pathlib import Path

from installers.progress import SetupError

FILE = "vendor/llama.cpp/ggml/src/ggml-cpu/llamafile/sgemm.cpp"
BEFORE = "    if (n < 2)\n        return false;\n"
AFTER = "    if (n < tandem_llamafile_from)\n        return false;\n"
VARIABLE = """
#ifdef _WIN32
extern "C" __declspec(dllexport) int64_t tandem_llamafile_from = 2;
#else
extern "C" __attribute__((visibility("default"))) int64_t tandem_llamafile_from = 2;
#endif

"""
FUNCTION = "bool llamafile_sgemm("
FINGERPRINT = AFTER + VARIABLE


def unpack(archive: Path, folder: Path) -> Path:
    """The engine's source with that line changed.

    Raises:
        SetupError: it is not there.
    """
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:
            tar.extractall(folder)  # the archive's hash was checked when it was downloaded
    source = folder / archive.name.removesuffix(".tar.gz")
    change(source / FILE)
    return source


def change(file: Path) -> None:
    """Change the line in ``file``.

    Raises:
        SetupError: it is not there exactly once.
    """
    text = file.read_text(encoding="utf-8").replace("\r\n", "\n")
    if text.count(BEFORE) != 1 or text.count(FUNCTION) != 1:
        raise SetupError(f"{file.name} of this llama.cpp is not the one that Tandem's pin names; see {__file__}.")
    text = text.replace(BEFORE, AFTER).replace(FUNCTION, VARIABLE + FUNCTION)
    file.write_text(text, encoding="utf-8")
