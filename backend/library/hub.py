"""Getting models: from the hub, or from the mirror where the hub does not answer.

A model counts as got only when each file has its published SHA-256: the catalogue's, or else the hub's own (LFS) hash,
which is kept from then on. What was stopped or broke off is gone on from the next time; what is wrong is removed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.errors import EngineError, ErrorCode
from backend.library.catalogue import CatalogueModel, ModelFile, Variant
from backend.library.hashes import SHA256, Hashes, wrong_hash
from backend.library.hub_child import Child, NoAnswerError
from backend.library.mirror import fetch_from_mirror
from backend.library.partial import Partial
from backend.library.paths import models_dir
from backend.library.places import installed_file, place, prune
from backend.library.progress import Flag, Meter, Progress, check_space, disk_full, stop_if
from backend.library.token import find_token

Notice = Callable[[str], None]

ANSWER_SECONDS = 4.0
"""How long the hub may take to answer before it counts as out of reach (name look-up included, twice that)."""
PAUSE = 1.0
"""Seconds before a broken connection is tried again; twice as long each further time."""
SITE = "https://huggingface.co"
TOKENS = f"{SITE}/settings/tokens"


@dataclass(frozen=True, slots=True)
class _Job:
    entry: CatalogueModel
    variant: Variant
    progress: Progress
    checking: Progress
    flag: Flag
    notice: Notice
    hashes: Hashes
    token: str | None


def download(
    entry: CatalogueModel,
    variant: Variant,
    progress: Progress,
    flag: Flag,
    notice: Notice = lambda _: None,
    checking: Progress | None = None,
    token: str | None = None,
) -> tuple[Path, ...]:
    """Have every file of a variant on this machine, verified; gives their paths.

    Files that are there already are only verified (at once, if they have not changed since the last time); one of
    Tandem's own that is not what was published is replaced. ``notice`` gets a sentence when something takes another way
    than expected, ``checking`` the progress of reading what is here (else ``progress`` has that too). ``token`` is used
    for a gated model, else the one that is found (see :mod:`backend.library.token`).

    Setting the flag stops it; the next call goes on from there (:func:`discard` removes what has come).

    Raises:
        EngineError: ``DISK_FULL``, ``NO_NETWORK``, ``GATED``, ``DOWNLOAD_FAILED``, ``WRONG_HASH``, ``CANCELLED``,
            ``NOT_WRITABLE``, ``BUSY``.
    """
    job = _Job(entry, variant, progress, checking or progress, flag, notice, Hashes(), token)
    missing = [file for file in variant.files if not _is_here(job, file)]
    with contextlib.ExitStack() as stack:
        for file in missing:
            stack.callback(prune, place(entry, file).parent)  # a folder that nothing came into goes, once it is free
            stack.enter_context(Partial(place(entry, file)).alone())
        if missing:
            stop_if(flag)
            _fetch(job, missing)
    found = [installed_file(entry, file) for file in variant.files]
    return tuple(path for path in found if path is not None)


def discard(entry: CatalogueModel, variant: Variant) -> None:
    """Remove what has come of a download that is not whole, its whole parts too.

    Raises:
        EngineError: ``BUSY`` while it runs, ``NOT_WRITABLE``.
    """
    places = [place(entry, file) for file in variant.files]
    whole = all(installed_file(entry, file) for file in variant.files)
    if whole and not any(Partial(path).size for path in places):
        return
    for path in places:
        with Partial(path).alone():
            Partial(path).discard()
            if not whole:
                path.unlink(missing_ok=True)
        prune(path.parent)


def expected_hash(entry: CatalogueModel, file: ModelFile, hashes: Hashes, path: Path | None = None) -> str | None:
    """The published SHA-256 of a catalogue file: the catalogue's, the one kept at download, or the hub cache's own.

    The hub's cache names a large file's content by its LFS hash.
    """
    known = file.sha256 or (hashes.published(entry.repo, file.name) if entry.repo else None)
    if known is None and path is not None and path.is_symlink() and SHA256.match(path.resolve().name):
        return path.resolve().name
    return known


def _is_here(job: _Job, file: ModelFile) -> bool:
    path = installed_file(job.entry, file)
    if path is None:
        return False
    expected = expected_hash(job.entry, file, job.hashes, path)
    right_size = file.size is None or path.stat().st_size == file.size
    if right_size and (expected is None or job.hashes.of(path, job.flag, job.checking) == expected):
        return True
    if not path.is_relative_to(models_dir()):
        job.notice(f"{path.name} in the hub's cache is not the published file; it is left there and got anew.")
        return False
    job.notice(f"{path.name} is not the published file; it is replaced.")
    with contextlib.suppress(OSError):
        path.unlink()  # of a link the link: what it leads to is a person's own
    return False


def _fetch(job: _Job, files: Sequence[ModelFile]) -> None:
    if job.entry.repo:
        try:
            _from_hub(job, files)
            return
        except NoAnswerError as error:
            if job.variant.mirror is None:
                raise EngineError(
                    ErrorCode.NO_NETWORK,
                    f"The model hub does not answer ({error}); check the network connection and try again.",
                    {"repo": job.entry.repo, "reason": str(error)},
                ) from error
            job.notice("The model hub does not answer; taking the mirror's copy instead.")
    _from_mirror(job, files[0])


def _from_mirror(job: _Job, file: ModelFile) -> None:
    if job.variant.mirror is None or file.size is None:
        raise EngineError(
            ErrorCode.DOWNLOAD_FAILED,
            f"The catalogue says nowhere to get {job.entry.id} from; add the file itself with 'tandem models add'.",
            {"model": job.entry.id},
        )
    target = place(job.entry, file)
    digest = fetch_from_mirror(job.variant, target, Meter(file.size, job.progress), job.flag)
    job.hashes.remember(target, digest)


# -- the hub ----------------------------------------------------------------------------------------------------------


def _from_hub(job: _Job, files: Sequence[ModelFile]) -> None:
    """With a token only where it is needed: who asks is nobody's business otherwise."""
    token = (job.token or find_token()[0]) if job.entry.gated else None
    try:
        _HubDownload(job, files, token).run()
    except EngineError as error:
        if error.code is not ErrorCode.GATED or token or not (token := job.token or find_token()[0]):
            raise
        _HubDownload(job, files, token).run()


class _HubDownload:
    """One process's work: several files, one progress."""

    def __init__(self, job: _Job, files: Sequence[ModelFile], token: str | None) -> None:
        self._job, self._files, self._token = job, files, token
        self._places = [place(job.entry, file) for file in files]
        self._before = sum(path.stat().st_size for path in map(self._whole, job.variant.files) if path is not None)
        self._sum: list[int] = []
        """Bytes of the model before each of the files."""
        self._meter = Meter(0, job.progress)
        self._checking = Meter(0, job.checking)

    def run(self) -> None:
        job = self._job
        request = {
            "repo": job.entry.repo,
            "revision": job.entry.revision or "main",
            "token": self._token,
            "seconds": ANSWER_SECONDS,
            "pause": PAUSE,
            "files": [[file.name, str(path)] for file, path in zip(self._files, self._places, strict=True)],
        }
        with Child(request, job.flag) as child:
            head = child.message(2 * ANSWER_SECONDS * len(self._files))
            self._raise_for(head)
            heads = head["heads"]
            self._prepare(heads)
            child.go_on()
            for number, each in enumerate(heads):
                while "sha256" not in (message := child.message()):
                    self._raise_for(message)
                    if message.get("file") == number:  # the last word of a file may come when the next has begun
                        self._hear(number, message)
                self._keep(number, each, str(message["sha256"]))

    def _whole(self, file: ModelFile) -> Path | None:
        return None if file in self._files else installed_file(self._job.entry, file)

    def _prepare(self, heads: list[dict[str, Any]]) -> None:
        """Room for what is still to come, and the whole that the progress is of."""
        sizes = [int(head["size"] or file.size or 0) for head, file in zip(heads, self._files, strict=True)]
        here = [Partial(path).size for path in self._places]
        self._sum = [self._before + sum(sizes[:number]) for number in range(len(sizes))]
        check_space(models_dir(), sum(max(0, size - part) for size, part in zip(sizes, here, strict=True)))
        self._meter.total = self._checking.total = self._before + sum(sizes)
        self._meter.begin(self._before + here[0])

    def _hear(self, number: int, message: dict[str, Any]) -> None:
        if "checked" in message:
            self._checking.at(self._sum[number] + int(message["checked"]))
            self._meter.begin(self._sum[number] + int(message["checked"]))
        elif "done" in message:
            self._meter.at(self._sum[number] + int(message["done"]))
        elif "waits" in message:
            self._job.notice(f"The connection to the hub broke off ({message.get('message')}); it is tried again.")

    def _keep(self, number: int, head: dict[str, Any], found: str) -> None:
        job, file, path = self._job, self._files[number], self._places[number]
        partial, published = Partial(path), head["sha256"]
        expected = file.sha256 or published
        if expected is not None and found != expected:
            partial.discard()
            raise wrong_hash(path, found, expected)
        self._meter.at(self._sum[number] + partial.size)
        partial.finish()
        job.hashes.remember(path, found)
        if published and job.entry.repo:
            job.hashes.publish(job.entry.repo, file.name, published)

    def _raise_for(self, message: dict[str, Any]) -> None:
        """What the process could not do, as an error; nothing when it goes on."""
        if (kind := message.get("error")) is None:
            return
        entry, reason = self._job.entry, str(message.get("message") or "no reason given")
        details = {"repo": entry.repo, "files": [file.name for file in self._files], "reason": reason}
        if kind == "offline" or (kind == "hub" and self._job.variant.mirror):
            raise NoAnswerError(reason)
        if kind == "disk":
            raise disk_full(models_dir(), max(0, self._meter.total - self._before))
        if kind == "gated":
            raise self._gated(details)
        if kind == "broken":
            raise EngineError(
                ErrorCode.NO_NETWORK,
                f"The connection to the model hub broke off again and again ({reason}); what has come is kept. "
                "Check the network connection and try again.",
                details,
            )
        raise EngineError(
            ErrorCode.DOWNLOAD_FAILED,
            f"The hub did not deliver {self._files[0].name} of {entry.repo} ({reason}); try again later.",
            details,
        )

    def _gated(self, details: dict[str, Any]) -> EngineError:
        entry, page = self._job.entry, f"{SITE}/{self._job.entry.repo}"
        if self._token:
            what = f"the hub refuses your token for {entry.name}"
            todo = f"accept the licence at {page} with the account that the token belongs to, or enter another token"
        else:
            what = f"{entry.name} is only given to people who accepted its licence"
            todo = (
                f"accept it at {page}, make a token at {TOKENS}, and enter it in the window under Models, "
                "or log in with 'hf auth login'"
            )
        return EngineError(
            ErrorCode.GATED,
            f"{what[0].upper()}{what[1:]}; {todo}, and try again.",
            details | {"page": page, "tokens": TOKENS, "token_refused": bool(self._token)},
        )
