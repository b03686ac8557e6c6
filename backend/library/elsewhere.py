"""Models that other programs have put on this machine: found where those programs say, read, and never changed.

Only names are read here, and of Ollama its short manifests. Links to folders are not followed, nor links that lead out
of a program's folder: what lies there is none of our business.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from backend.library.jsonfile import read_json
from backend.library.local import LocalModel, Source, group
from backend.text import short_line

OFF_VARIABLE = "TANDEM_OTHER_PROGRAMS"
"""Set to ``off``, other programs' folders are not looked into."""
_DEPTH = 5
_MOST = 20_000
"""Entries of a folder tree that are looked at: more is no folder of models."""
_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")
_MODEL_LAYER = "application/vnd.ollama.image.model"


def elsewhere(
    home: Path | None = None, env: Mapping[str, str] = os.environ, system: str = sys.platform
) -> list[LocalModel]:
    """Models in other programs' folders; the ids of each program's differ.

    Args:
        home: the person's folder; None = this one's.
        env: environment variables.
        system: as ``sys.platform``.
    """
    if env.get(OFF_VARIABLE, "").lower() == "off":
        return []
    home = home or Path.home()
    found = models_in(_lm_studio(home), "lm_studio")
    found += models_in(_jan(home, env, system), "jan")
    found += models_in(_gpt4all(home, env, system), "gpt4all")
    return found + group((pair for root in _ollama(home, env) for pair in _ollama_models(root)), "ollama")


def models_in(roots: Iterable[Path], source: Source) -> list[LocalModel]:
    """Models in folders, each file once."""
    seen: dict[Path, str] = {}
    for root in roots:
        for path in files_in(root):
            seen.setdefault(path, _name(path))
    return group(seen.items(), source)


def files_in(root: Path) -> Iterator[Path]:
    """Model files below a folder, sorted; nothing where it cannot be read."""
    try:
        inside = root.resolve()
    except (OSError, RuntimeError, ValueError):  # also a link that leads to itself, and what is no name
        return
    left = [_MOST]
    for path in _walk(root, _DEPTH, left):
        if path.is_symlink() and not _resolved(path).is_relative_to(inside):
            continue
        if path.is_file():
            yield path


def _walk(folder: Path, depth: int, left: list[int]) -> Iterator[Path]:
    try:
        with os.scandir(folder) as scan:
            entries = sorted((entry for entry in scan if not entry.name.startswith(".")), key=lambda e: e.name)
    except OSError:
        return
    left[0] -= len(entries)
    if left[0] < 0:
        return
    for entry in entries:
        lower = entry.name.lower()
        if lower.endswith(".gguf") and not lower.startswith("mmproj"):
            yield Path(entry.path)
        elif depth > 0 and _is_folder(entry):
            yield from _walk(Path(entry.path), depth - 1, left)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _resolved(path: Path) -> Path:
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError):
        return Path(os.devnull)


def _name(path: Path) -> str:
    """Some programs call every file ``model.gguf``, in a folder with the model's name."""
    return short_line(path.parent.name) if path.stem.lower() == "model" else path.stem


# -- where each program keeps its models ------------------------------------------------------------------------------


def _lm_studio(home: Path) -> list[Path]:
    """Its documented folder, the one it has been moved to, and that of versions before 0.3.6."""
    bases = [home / ".lmstudio", home / ".cache" / "lm-studio"]
    pointer = home / ".lmstudio-home-pointer"
    try:
        if pointer.is_file() and pointer.stat().st_size < 4096:
            bases.insert(0, Path(pointer.read_text("utf-8").strip()))
    except (OSError, UnicodeDecodeError):
        pass
    return [base / "models" for base in bases if base.is_absolute()]


def _jan(home: Path, env: Mapping[str, str], system: str) -> list[Path]:
    if system == "win32":
        bases = [Path(env.get("APPDATA") or home / "AppData" / "Roaming")]
    elif system == "darwin":
        bases = [home / "Library" / "Application Support"]
    else:
        bases = [
            Path(env.get("XDG_DATA_HOME") or home / ".local" / "share"),
            Path(env.get("XDG_CONFIG_HOME") or home / ".config"),
        ]
    return [base / "Jan" / "data" / folder for base in bases for folder in ("llamacpp/models", "models")]


def _gpt4all(home: Path, env: Mapping[str, str], system: str) -> list[Path]:
    if system == "win32":
        base = Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif system == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")
    return [base / "nomic.ai" / "GPT4All"]


def _ollama(home: Path, env: Mapping[str, str]) -> list[Path]:
    """Where it was told to, else the person's folder, or that of the service that its installer sets up on Linux."""
    if told := env.get("OLLAMA_MODELS"):
        return [home / told[2:] if told.startswith("~/") else Path(told)]
    return [home / ".ollama" / "models", Path("/usr/share/ollama/.ollama/models")]


def _ollama_models(root: Path) -> Iterator[tuple[Path, str]]:
    """(file, name) of every model: a manifest names the blob that is the file."""
    seen: set[Path] = set()
    for manifest in _manifests(root / "manifests"):
        blob = _blob(root, read_json(manifest))
        if blob is not None and blob not in seen:
            seen.add(blob)
            yield blob, _ollama_name(manifest.relative_to(root / "manifests").parts)


def _manifests(folder: Path) -> list[Path]:
    found: list[Path] = []
    for base, folders, names in os.walk(folder):  # does not follow links
        folders.sort()
        found += [Path(base) / name for name in sorted(names) if not name.startswith(".")]
        if len(found) > _MOST:
            break
    return [path for path in found if not path.is_symlink() and _size(path) < 2**20]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 2**62


def _blob(root: Path, manifest: dict[str, Any]) -> Path | None:
    layers = manifest.get("layers")
    models = [
        layer
        for layer in (layers if isinstance(layers, list) else [])
        if isinstance(layer, dict) and layer.get("mediaType") == _MODEL_LAYER
    ]
    if len(models) != 1 or not (digest := _DIGEST.fullmatch(str(models[0].get("digest")))):
        return None
    blob = root / "blobs" / f"sha256-{digest[1]}"
    return blob if blob.is_file() and not blob.is_symlink() else None


def _ollama_name(parts: tuple[str, ...]) -> str:
    """``llama3.2:1b`` as its own command line has it; publisher and registry only where they are not Ollama's."""
    *path, tag = parts
    if path[:1] == ["registry.ollama.ai"]:
        path = path[1:]
    if path[:1] == ["library"]:
        path = path[1:]
    return short_line(f"{'/'.join(path)}:{tag}")
