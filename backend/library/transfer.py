"""One file over HTTP into its partial file, going on where an earlier attempt ended.

A server is asked for the rest only (``Range``), and only of the very content that was begun (``If-Range``). It may
answer with the rest (206), with the whole (200: it changed, or the server knows no ranges; then it is begun anew), or
that there is no rest (416). What is here already is hashed first, so that the hash at the end is the whole file's.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from httpx2 import Client, Response, TransportError

from backend.library.partial import Partial

MAGIC = b"GGUF"
_TRIES = 5
"""Attempts in a row that bring no byte."""
_LONGEST_WAIT = 30.0
_CHUNK = 2**20
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE = re.compile(r"bytes (?:(?P<start>\d+)-\d+|\*)/(?P<total>\d+|\*)")


class BrokenError(Exception):
    """The connection broke off, again and again; what is here can be continued."""


class RefusedError(Exception):
    """The server gives another answer than the file. ``status`` is HTTP's."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the server answers {status}")
        self.status = status


class UnfitError(Exception):
    """What came cannot be the file."""


class _StaleError(Exception):
    """What is here does not belong to what the server has now."""


@dataclass(slots=True)
class Tell:
    """Where a transfer tells how it goes."""

    checked: Callable[[int], None]
    """Bytes of those that were here are hashed."""
    done: Callable[[int], None]
    """Bytes that are here."""
    waits: Callable[[float, str], None]
    """Seconds until the next attempt, and why the last one ended."""


@dataclass(slots=True)
class Wanted:
    """A file on a server. ``size`` in bytes and ``sha256`` where they are known beforehand."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    size: int | None = None
    sha256: str | None = None


def fetch(client: Client, wanted: Wanted, partial: Partial, tell: Tell, pause: float = 1.0) -> str:
    """Have the whole file in ``partial``; gives its SHA-256.

    Args:
        client: follows redirects, and sends no authorisation to another host.
        wanted: what to fetch.
        partial: what is here of it; nobody else may write it meanwhile.
        tell: hears how it goes.
        pause: seconds before the second attempt; each further one waits twice as long.

    Raises:
        BrokenError, RefusedError, UnfitError: see there. What was here before stays.
        OSError: of the disk.
    """
    transfer = _Transfer(client, wanted, partial, tell)
    try:
        return transfer.run(pause)
    finally:
        if partial.size < len(MAGIC):
            partial.discard()


class _Transfer:
    def __init__(self, client: Client, wanted: Wanted, partial: Partial, tell: Tell) -> None:
        self._client, self._wanted, self._partial, self._tell = client, wanted, partial, tell
        self._size = wanted.size
        self._done = 0
        self._anew = False
        """Whether the answer is the whole file, in place of what is here."""
        self._noted = False
        self._digest = hashlib.sha256()
        note = partial.note
        self._mark = str(note.get("mark") or "")
        if not _continues(note, wanted):
            partial.discard()
            self._mark = ""

    def run(self, pause: float) -> str:
        self._partial.file.parent.mkdir(parents=True, exist_ok=True)  # a neighbour that was given up may have taken it
        with self._partial.file.open("a+b") as file:
            self._take_up(file)
            tries = 0
            while not self._whole:
                before = self._done
                try:
                    self._attempt(file)
                    break
                except _StaleError:
                    self._empty(file)
                    self._mark, self._size = "", self._wanted.size
                except (TransportError, RefusedError) as error:
                    if isinstance(error, RefusedError) and error.status not in _AGAIN:
                        raise
                    tries = 0 if self._done > before else tries + 1
                    if tries >= _TRIES:
                        raise BrokenError(_why(error)) from error
                    wait = min(pause * 2**tries, _LONGEST_WAIT)
                    self._tell.waits(wait, _why(error))
                    time.sleep(wait)
        if self._done < len(MAGIC):
            raise UnfitError("it is empty")
        return self._digest.hexdigest()

    @property
    def _whole(self) -> bool:
        return self._size is not None and self._done == self._size

    def _take_up(self, file: BinaryIO) -> None:
        """Hash what is here."""
        file.seek(0)
        while chunk := file.read(_CHUNK):
            self._digest.update(chunk)
            self._done += len(chunk)
            self._tell.checked(self._done)
        if self._size is not None and self._done > self._size:
            self._empty(file)
        elif self._done:
            self._tell.done(self._done)

    def _empty(self, file: BinaryIO) -> None:
        file.truncate(0)
        self._done, self._digest = 0, hashlib.sha256()

    def _attempt(self, file: BinaryIO) -> None:
        headers = dict(self._wanted.headers) | {"Accept-Encoding": "identity"}
        if self._done and (self._mark or self._wanted.sha256):  # else nothing would show that it is another file's rest
            headers["Range"] = f"bytes={self._done}-"
            if self._mark:
                headers["If-Range"] = self._mark
        with self._client.stream("GET", self._wanted.url, headers=headers) as response:
            self._look(response)
            for chunk in response.iter_raw() if self._anew or not self._whole else ():
                self._add(chunk, file)
        if self._size is not None and self._done < self._size:  # a proxy may end an answer early and call it whole
            raise TransportError("the answer ended too early")

    def _look(self, response: Response) -> None:
        """What the answer's head says: where its bytes belong."""
        self._anew = self._noted = False
        total = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        match response.status_code:
            case 206:
                self._check_range(total)
            case 200:
                self._settle_size(response.headers.get("Content-Length"))
                self._anew = self._done > 0
            case 416 if self._done:
                wanted = {None, self._done}
                if total is None or total["total"] != str(self._done) or self._wanted.size not in wanted:
                    raise _StaleError
                self._size = self._done
            case status:
                raise RefusedError(status)
        mark = response.headers.get("ETag", "")
        self._mark = "" if mark.startswith("W/") else mark  # a weak mark does not promise the same bytes

    def _check_range(self, found: re.Match[str] | None) -> None:
        totals = {"*", str(self._size)} if self._size is not None else None
        if found is not None and found["start"] == str(self._done) and (totals is None or found["total"] in totals):
            return
        if not self._done:
            raise UnfitError("the server sends another part than was asked for")
        raise _StaleError

    def _settle_size(self, length: str | None) -> None:
        if length is None or not length.isdigit():
            return
        if self._wanted.size is not None and int(length) != self._wanted.size:
            raise UnfitError(f"it has {int(length):,} bytes instead of {self._wanted.size:,}")
        self._size = int(length)

    def _add(self, chunk: bytes, file: BinaryIO) -> None:
        at = 0 if self._anew else self._done
        if not MAGIC[at:].startswith(chunk[: max(0, len(MAGIC) - at)]):  # a login page, say: what is here stays
            raise UnfitError(f"it begins with {chunk[:16]!r}, not as a model file does")
        if self._anew:
            self._anew = False
            self._empty(file)
        if not self._noted:
            self._partial.keep(mark=self._mark, size=self._size, sha256=self._wanted.sha256)
            self._noted = True
        if self._size is not None and self._done + len(chunk) > self._size:
            file.truncate(0)
            raise UnfitError(f"it is longer than the {self._size:,} bytes that were announced")
        file.write(chunk)
        file.flush()  # whoever ends this process keeps what has come
        self._done += len(chunk)
        self._digest.update(chunk)
        self._tell.done(self._done)


def _continues(note: Mapping[str, object], wanted: Wanted) -> bool:
    """Whether the partial file is of the wanted content, as far as can be said: by its hash, else by the server."""
    if wanted.size is not None and note.get("size") not in (None, wanted.size):
        return False
    if wanted.sha256 and note.get("sha256"):
        return note["sha256"] == wanted.sha256
    return bool(note.get("mark"))


def _why(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
