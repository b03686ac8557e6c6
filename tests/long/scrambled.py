"""A draft that knows nothing: a copy of a model file with the blocks of each weight matrix in random order.

scrambled.py SOURCE.gguf OUT.gguf

Size, speed, vocabulary and the range of the numbers stay the source's, so it is the worst draft there is: it costs what
the real one costs, fits wherever that fits, and guesses nothing.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
from gguf import GGUFReader
from gguf.constants import GGML_QUANT_SIZES


def scramble(source: Path, out: Path, seed: int = 0) -> None:
    """Write the copy; norms and biases (one-dimensional) stay, so that activations keep their range."""
    shutil.copyfile(source, out)
    shuffled = np.random.default_rng(seed)
    data = np.memmap(out, dtype=np.uint8, mode="r+")
    for tensor in GGUFReader(source).tensors:
        if sum(n > 1 for n in tensor.shape) > 1:
            _, size = GGML_QUANT_SIZES[tensor.tensor_type]
            blocks = data[tensor.data_offset : tensor.data_offset + tensor.n_bytes].reshape(-1, size)
            blocks[:] = blocks[shuffled.permutation(len(blocks))]
    data.flush()


if __name__ == "__main__":
    scramble(Path(sys.argv[1]), Path(sys.argv[2]))
