"""A second CPU library for exactness tests: the same engine without llamafile's matrix kernels.

Those kernels are chosen by batch size and sum in another order, so a token's logits depend on how many tokens were
decoded with it. Without them (and with flash attention off) the results are equal to the bit, and a test can use
tolerance 0. Only ggml-cpu differs, so only that is compiled (about 25 s on 2 cores); the other libraries are
copies. ``LLAMA_CPP_LIB_PATH`` selects the folder for one process.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from installers.compiler import build_environment
from installers.engine import source_archive
from installers.environment import Environment
from installers.progress import SetupError, build_step, run_logged

CPU_LIBRARY = re.compile(r"^(?:lib)?ggml-cpu(?:\.so[.\d]*|(?:[.\d]*)\.dylib|\.dll)$")

CONFIGURE = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=ON",
    "-DGGML_LLAMAFILE=OFF",
    *(f"-DLLAMA_BUILD_{part}=OFF" for part in ("COMMON", "TOOLS", "EXAMPLES", "TESTS", "SERVER", "APP")),
    f"-DCMAKE_INSTALL_RPATH={'@loader_path' if sys.platform == 'darwin' else '$ORIGIN'}",
    "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
]

# Which CPU library a process gets, told by the library itself.
PROBE = "import llama_cpp; print(llama_cpp.llama_print_system_info().decode())"


def build_exact_library(environment: Environment) -> Path:
    """Build the library unless the one there belongs to the installed engine.

    Returns:
        The folder for ``LLAMA_CPP_LIB_PATH``.

    Raises:
        SetupError: it cannot be built, or the result still uses the other kernels.
    """
    target = environment.folder / "tandem-exact"
    ordinary = environment.site_packages() / "llama_cpp" / "lib"
    mark, key = target / "made-from", _digest(ordinary)
    if mark.is_file() and mark.read_text(encoding="utf-8") == key:
        return target / "lib"
    replaced = [path.name for path in ordinary.iterdir() if CPU_LIBRARY.match(path.name)]
    if not replaced:
        text = f"{ordinary} has no single CPU library to replace; unset TANDEM_WHEEL_INDEX so that it is compiled."
        raise SetupError(text)
    with tempfile.TemporaryDirectory(prefix="tandem-exact-") as temporary:
        built = _compile(environment, Path(temporary))
        fresh = target.with_name("tandem-exact.new")
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(ordinary, fresh / "lib")
        for name in replaced:
            (fresh / "lib" / name).unlink()
            shutil.copyfile(built, fresh / "lib" / name)
    _check(environment, fresh / "lib")
    (fresh / mark.name).write_text(key, encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    fresh.replace(target)
    return target / "lib"


def _digest(folder: Path) -> str:
    """Changes when the engine is reinstalled or any CMake option here changes."""
    digest = hashlib.sha256(" ".join(CONFIGURE).encode())
    for path in sorted(folder.glob("*")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _compile(environment: Environment, work: Path) -> Path:
    source = _unpack(source_archive(environment), work)
    cmake = _tools(environment)
    generator = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={_ninja(environment)}"] if os.name != "nt" else []
    run: list[str | Path] = [cmake, "-S", source / "vendor" / "llama.cpp", "-B", work / "build", *generator, *CONFIGURE]
    env = build_environment()
    run_logged(run, "Exact library, configuring", environment.log, env=env)
    run = [cmake, "--build", work / "build", "--target", "ggml-cpu", "--config", "Release", "--parallel"]
    run_logged(run, "Exact library, compiling", environment.log, step=build_step, env=env)
    found = [p for p in (work / "build").rglob("*") if CPU_LIBRARY.match(p.name) and not p.is_symlink()]
    if len(found) != 1:
        raise SetupError(f"Building the exact library gave {len(found)} CPU libraries, not one: {found}")
    return found[0]


def _unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:
            tar.extractall(folder)  # the archive's hash was checked when it was downloaded
    return folder / archive.name.removesuffix(".tar.gz")


def _tools(environment: Environment) -> Path:
    """CMake, and ninja beside it, from the environment; put there when first needed."""
    if not environment.tool("cmake").exists():
        environment.pip(["install", "cmake", "ninja"], "Build tools")
    return environment.tool("cmake")


def _ninja(environment: Environment) -> Path:
    return environment.tool("ninja")


def _check(environment: Environment, folder: Path) -> None:
    env = os.environ | {"LLAMA_CPP_LIB_PATH": str(folder)}
    command = [str(environment.python), "-c", PROBE]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupError(f"The exact library does not load:\n{done.stderr}")
    if "LLAMAFILE" in done.stdout:
        raise SetupError(f"The exact library still has llamafile's kernels: {done.stdout.strip()}")
