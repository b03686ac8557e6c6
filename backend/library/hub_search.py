"""Looking for models on the hub: repositories with GGUF files by words, and what can be got from one of them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, TypeVar

import httpx2
from huggingface_hub import constants
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from backend.errors import EngineError, ErrorCode
from backend.library.catalogue import REPO, CatalogueModel
from backend.library.gguf import split_name
from backend.library.hub import SITE
from backend.text import short_line

T = TypeVar("T", bound=BaseModel)
_MOST = 30
_SECONDS = 10.0
_QUANT = re.compile(r"(?:^|[-._])((?:UD[-_])?(?:IQ\d\w*|T?Q\d\w*|BF16|F16|F32|FP16|MXFP4\w*))$", re.IGNORECASE)
_NO_MODEL = re.compile(r"mmproj|imatrix|(^|[-._])mtp([-._]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Hit:
    """A repository. ``parameters`` of its model, None where the hub does not say."""

    repo: str
    downloads: int
    gated: bool
    parameters: int | None
    licence: str


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Listed(_Loose):
    id: str
    downloads: int = 0
    gated: Any = False
    gguf: dict[str, Any] | None = None
    tags: list[str] = []


class _File(_Loose):
    name: str = Field(alias="rfilename")
    size: int | None = None
    lfs: dict[str, Any] | None = None


class _Repo(_Listed):
    sha: str | None = None
    siblings: list[_File] = []


def search(words: str) -> list[Hit]:
    """The most downloaded repositories with GGUF files whose names hold the words.

    Raises:
        EngineError: ``NO_NETWORK``, ``DOWNLOAD_FAILED``.
    """
    expand = ["downloads", "gated", "gguf", "tags"]
    asked = {"search": words, "filter": "gguf", "sort": "downloads", "limit": _MOST, "expand": expand}
    answer = _ask("/api/models", asked)
    listed = [one for raw in (answer if isinstance(answer, list) else []) if (one := _read(_Listed, raw)) is not None]
    return [_hit(one) for one in listed if re.match(REPO, one.id)]


def offers(repo: str, token: str | None = None) -> list[CatalogueModel]:
    """What a repository holds: an entry for each quantisation, the parts of a split file as one, small ones first.

    Raises:
        EngineError: ``NO_NETWORK``, ``GATED``, ``DOWNLOAD_FAILED`` also where it holds none.
    """
    found = _read(_Repo, _ask(f"/api/models/{repo}", {"blobs": "true"}, token))
    if found is None or not re.match(REPO, found.id):
        raise _failed("its answer cannot be understood")
    groups: dict[str, list[_File]] = {}
    for file in found.siblings:
        path = PurePosixPath(file.name)
        if path.suffix == ".gguf" and not _NO_MODEL.search(path.name):
            split = split_name(path.name)
            groups.setdefault(str(path.with_name(split[0]) if split else path.with_suffix("")), []).append(file)
    of_quant = Counter(map(_quant, groups))
    entries = [_entry(found, stem, files, alone=of_quant[_quant(stem)] == 1) for stem, files in groups.items()]
    made = [entry for entry in entries if entry is not None]
    if not made:
        raise _failed(f"{repo} holds no GGUF model")
    return sorted({entry.id: entry for entry in made}.values(), key=lambda entry: entry.variants[0].size or 0)


def _hit(listed: _Listed) -> Hit:
    total = (listed.gguf or {}).get("total")
    parameters = total if isinstance(total, int) and total > 0 else None
    return Hit(listed.id, listed.downloads, bool(listed.gated), parameters, _licence(listed.tags))


def _licence(tags: Iterable[str]) -> str:
    return next((short_line(tag.removeprefix("license:"), 40) for tag in tags if tag.startswith("license:")), "")


def _quant(stem: str) -> str:
    """As the name of the file has it; ``GGUF`` where it has none."""
    found = _QUANT.search(PurePosixPath(stem).name)
    return re.sub(r"\W", "_", found[1].upper()) if found else "GGUF"


def _entry(repo: _Repo, stem: str, files: list[_File], *, alone: bool) -> CatalogueModel | None:
    """None where a part lacks, or the hub's figures are no entry's. What is not ``alone`` has its file's name."""
    files = sorted(files, key=lambda file: file.name)
    split = split_name(PurePosixPath(files[0].name).name)
    if split is not None and len(files) != split[2]:
        return None
    quant = _quant(stem)
    owner, name = repo.id.split("/")
    short = re.sub(r"[-_.]?gguf$", "", name, flags=re.IGNORECASE)
    own = "" if alone and quant != "GGUF" else PurePosixPath(stem).name
    raw = {
        "id": re.sub(r"[^a-z0-9._-]+", "-", f"{owner}.{short}.{own or quant}".lower()).strip("-._"),
        "name": own or short,
        "family": "",
        "roles": ["target", "draft"],
        "repo": repo.id,
        "revision": repo.sha,
        "licence": {"name": _licence(repo.tags) or "see its page", "link": f"{SITE}/{repo.id}"},
        "gated": bool(repo.gated),
        "variants": [{"quant": quant, "files": [_file(file) for file in files]}],
    }
    return _read(CatalogueModel, raw)


def _file(file: _File) -> dict[str, Any]:
    lfs = file.lfs or {}
    return {"name": file.name, "size": lfs.get("size") or file.size, "sha256": lfs.get("sha256")}


def _read(kind: type[T], raw: Any) -> T | None:
    try:
        return kind.model_validate(raw)
    except ValidationError:
        return None


def _ask(path: str, asked: dict[str, Any], token: str | None = None) -> Any:
    if constants.is_offline_mode():
        raise _unreachable("HF_HUB_OFFLINE is set")
    url = os.environ.get("HF_ENDPOINT", constants.ENDPOINT).rstrip("/") + path
    try:
        with httpx2.Client(follow_redirects=True, timeout=_SECONDS) as client:
            answer = client.get(url, params=asked, headers=build_hf_headers(token=token or False))
            if answer.status_code in (401, 403) and path != "/api/models":
                raise EngineError(
                    ErrorCode.GATED,
                    f"The hub shows {path.removeprefix('/api/models/')} only to people whom its publisher lets in; "
                    "enter a token of such an account under Models.",
                    {"status": answer.status_code, "token_refused": bool(token)},
                )
            if answer.status_code != 200:
                raise _failed(f"it answers {answer.status_code}")
            return answer.json()
    except httpx2.HTTPError as error:
        raise _unreachable(" ".join(str(error).split()) or type(error).__name__) from error
    except ValueError as error:
        raise _failed("its answer cannot be understood") from error


def _unreachable(why: str) -> EngineError:
    return EngineError(
        ErrorCode.NO_NETWORK,
        f"The model hub cannot be reached ({why}); check the network connection and search again. "
        "What is in the list can be used without it.",
        {"reason": why},
    )


def _failed(why: str) -> EngineError:
    return EngineError(ErrorCode.DOWNLOAD_FAILED, f"The model hub could not be searched: {why}.", {"reason": why})
