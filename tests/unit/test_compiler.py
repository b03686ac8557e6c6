"""What the set-up tells the compiler, tried with the compiler that is here."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from installers import compiler
from installers.backends import Choice
from installers.engine import build_key

SOURCE = """
#include <immintrin.h>
struct Config { unsigned char palette, start, reserved[14]; unsigned short columns[16]; unsigned char rows[16]; };
void load(unsigned char rows) {
    alignas(64) Config config = {};
    config.rows[7] = rows;
    _tile_loadconfig(&config);
}
"""

needs_gcc = pytest.mark.skipif(
    not compiler.needs_header() or shutil.which("g++") is None, reason="only GCC on Linux x86_64 has the fault"
)


@needs_gcc
def test_the_tile_configuration_is_stored_before_it_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"  # where a checkout may lie
    folder.mkdir()
    (folder / "tiles.cpp").write_text(SOURCE)
    command = f"g++ $CXXFLAGS -O3 -march=sapphirerapids -S -o '{folder}/tiles.s' '{folder}/tiles.cpp'"
    flags = compiler.build_environment()["CXXFLAGS"]
    subprocess.run(["sh", "-c", command.replace("$CXXFLAGS", flags)], check=True)  # as a build tool does it
    before_load = (folder / "tiles.s").read_text().split("ldtilecfg")[0]
    assert "%dil" in before_load  # the argument is put into the configuration


def test_other_flags_make_another_build(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = Choice("cpu", "", forced=False)
    before = build_key("e==1", cpu)
    monkeypatch.setenv("CXXFLAGS", "-O1")
    assert build_key("e==1", cpu) != before
    assert compiler.build_environment()["CXXFLAGS"].split()[-1] == "-O1"
    assert compiler.build_environment()["PATH"] == os.environ["PATH"]


@needs_gcc
def test_half_precision_rows_are_not_walked_in_steps_of_128(tmp_path: Path) -> None:
    (tmp_path / "half.cpp").write_text("#ifdef __AVX512FP16__\n#error ggml would use it\n#endif\n")
    flags = compiler.build_environment()["CXXFLAGS"]
    command = f"g++ {flags} -march=sapphirerapids -c -o '{tmp_path}/half.o' '{tmp_path}/half.cpp'"
    subprocess.run(["sh", "-c", command], check=True)
