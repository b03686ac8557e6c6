"""Install llama-cpp-python for one backend: a wheel built earlier, a published wheel, or a build from source."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from installers import compiler, kernels
from installers.backends import Choice
from installers.environment import ENGINE_PACKAGE, Environment
from installers.progress import Building, SetupError, say

GPU_LIBRARY = {"cuda": "ggml-cuda", "rocm": "ggml-hip", "metal": "ggml-metal", "vulkan": "ggml-vulkan"}


def cache_folder() -> Path:
    """Where built engines and the source archive are kept, shared by all checkouts of this person."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "tandem" / "Cache"
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches" / "tandem"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "tandem"
    return base / "engine"


def build_key(requirement: str, choice: Choice) -> str:
    """Names a build by what its machine code depends on: pip's own cache would mix up processors and backends."""
    facts = [
        requirement,
        choice.backend,
        choice.cmake_args,
        platform.machine(),
        _processor(),
        compiler.fingerprint(),
        kernels.FINGERPRINT,
        *platform.libc_ver(),
    ]
    return f"{choice.backend}-{hashlib.sha256('|'.join(facts).encode()).hexdigest()[:16]}"


def _processor() -> str:
    """The processor's feature list: the build uses all of them (-march=native)."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    found = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.MULTILINE)
    return found[1] if found else platform.processor()


def installed(environment: Environment) -> tuple[str, str] | None:
    """``(version, backend)`` of the engine in the environment, read from its files; None without one."""
    folder = environment.site_packages()
    versions = [re.search(r"-([^-]+)\.dist-info$", p.name) for p in folder.glob("llama_cpp_python-*.dist-info")]
    libraries = [p.name for p in (folder / "llama_cpp" / "lib").glob("*")]
    if not versions or versions[0] is None or not any("llama" in name for name in libraries):
        return None
    found = [b for b, stem in GPU_LIBRARY.items() if any(stem in name for name in libraries)]
    return versions[0][1], found[0] if found else "cpu"


def _is_installed(environment: Environment, choice: Choice) -> bool:
    found = installed(environment)
    if found is None or f"{ENGINE_PACKAGE}=={found[0]}" != environment.engine_requirement():
        return False
    mark = _mark(environment)
    if not mark.is_file() or mark.read_text(encoding="utf-8") != build_key(environment.engine_requirement(), choice):
        return False  # made with other flags, or on another processor: its instructions may not exist here
    on_mac = sys.platform == "darwin"  # the Mac build always carries Metal
    return found[1] == choice.backend or (on_mac and {found[1], choice.backend} == {"cpu", "metal"})


def _mark(environment: Environment) -> Path:
    """Says what the engine in the environment was made for."""
    return environment.folder / "tandem-engine"


def install(environment: Environment, choice: Choice) -> str:
    """Put the engine for ``choice`` into the environment.

    Returns:
        One line on what was installed and where it came from.
    """
    if _is_installed(environment, choice):
        return f"{describe(environment)}, already in place"
    key = build_key(environment.engine_requirement(), choice)
    kept = cache_folder() / key
    wheel, origin = _find_wheel(environment, choice, kept)
    if wheel is None:
        wheel, origin = build_wheel(environment, choice, kept), "compiled on this machine"
    environment.pip(["install", "--force-reinstall", "--no-deps", str(wheel)], "Engine")
    environment.pip(["install", environment.engine_requirement()], "What the engine needs")
    _mark(environment).write_text(key, encoding="utf-8")
    return f"{describe(environment)}, {origin}"


def _find_wheel(environment: Environment, choice: Choice, kept: Path) -> tuple[Path | None, str]:
    index = os.environ.get("TANDEM_WHEEL_INDEX")
    earlier = next(iter(kept.glob("*.whl")), None)
    if earlier and not index:
        return earlier, "compiled on this machine earlier"
    if index or choice.backend == "cpu":  # a general index has no wheels for a GPU
        published = _download_wheel(environment, index)
        if published:
            return published, "a published wheel"
        if index:
            say("TANDEM_WHEEL_INDEX has no wheel of this version for this machine.")
    return earlier, "compiled on this machine earlier"


def _download_wheel(environment: Environment, index: str | None) -> Path | None:
    folder = environment.folder / "tandem-wheels"
    shutil.rmtree(folder, ignore_errors=True)  # one of another backend may be left there
    command = [str(environment.python), "-m", "pip", "--no-input", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), environment.engine_requirement()]
    if index:
        command += ["--index-url", index]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return next(iter(folder.glob("*.whl")), None) if done.returncode == 0 else None


def source_archive(environment: Environment) -> Path:
    """The engine's source distribution, downloaded once (the package index's hash is checked by pip)."""
    requirement = environment.engine_requirement()
    folder = cache_folder() / "source" / requirement
    found = next(iter(folder.glob("*.tar.gz")), None)
    if found:
        return found
    with tempfile.TemporaryDirectory(prefix="tandem-source-") as temporary:
        arguments = ["download", "--no-deps", "--no-binary", ENGINE_PACKAGE, "--dest", temporary, requirement]
        environment.pip(arguments, "Engine's source")
        archive = next(iter(Path(temporary).glob("*.tar.gz")))
        return _keep(archive, folder)


def build_wheel(environment: Environment, choice: Choice, kept: Path) -> Path:
    """Compile the engine and keep the wheel for other checkouts.

    Raises:
        SetupError: the compiler failed; the log has its output.
    """
    archive = source_archive(environment)
    say(f"Compiling llama.cpp for {choice.backend}: about 4 minutes on 2 free cores, once for this machine.")
    with tempfile.TemporaryDirectory(prefix="tandem-build-") as temporary:
        source = kernels.unpack(archive, Path(temporary))
        arguments = ["wheel", "--verbose", "--no-deps", "--no-cache-dir", "--wheel-dir", temporary, str(source)]
        env = compiler.build_environment() | {"CMAKE_ARGS": choice.cmake_args}
        environment.pip(arguments, "Compiling", step=Building(), env=env)
        return _keep(next(iter(Path(temporary).glob("*.whl"))), kept)


def _keep(file: Path, folder: Path) -> Path:
    """Move a finished file into the cache; it appears there whole or not at all."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{file.name}.part-{os.getpid()}"
        shutil.copyfile(file, part)
        part.replace(folder / file.name)
    except OSError as error:
        text = f"The set-up cannot write to its cache {folder}: {error.strerror}. Make room or make it writable."
        raise SetupError(text) from error
    return folder / file.name


def describe(environment: Environment) -> str:
    """The engine in the environment, in a few words."""
    found = installed(environment)
    if found is None:
        raise SetupError(f"{ENGINE_PACKAGE} was installed but its library is not there; see {environment.log}")
    return f"llama.cpp ({ENGINE_PACKAGE} {found[0]}) for {found[1]}"
