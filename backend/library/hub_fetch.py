"""The process that fetches files from the hub: ``python -m backend.library.hub_fetch``.

It is a process so that a download can be stopped at once, whatever the network's libraries wait for: it is killed, and
the next one goes on from what has come by then. The request is a JSON line on stdin, never an argument, since it may
hold a token: ``{"repo", "revision", "token", "seconds", "pause", "files": [[name, place], …]}``. It writes JSON lines
to stdout: ``heads``; once a line arrives on stdin (the parent has checked the disk) how each file comes on, and its
hash; or an ``error``. When stdin closes, the parent is gone and so is the download.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

from httpx2 import Client, Timeout, TransportError
from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import HfFileMetadata
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

from backend.errors import EngineError, ErrorCode
from backend.library.hashes import SHA256
from backend.library.partial import Partial
from backend.library.transfer import BrokenError, RefusedError, Tell, UnfitError, Wanted, fetch

_INTERVAL = 0.15
_ONE_AT_A_TIME = threading.Lock()
_SILENCE = 30.0
"""Seconds without a byte after which a connection counts as broken."""


def main() -> int:
    """Fetch what the request names."""
    request = json.loads(sys.stdin.readline() or "{}")
    if not request:
        return 1
    if constants.is_offline_mode():
        return _fail("offline", "HF_HUB_OFFLINE is set")
    try:
        heads = [_head(request, name) for name, _ in request["files"]]
        _say(heads=[{"size": head.size, "sha256": _sha256(head)} for head in heads])
        if sys.stdin.readline() == "":
            return 1
        threading.Thread(target=_end_with_parent, daemon=True).start()
        for number, head in enumerate(heads):
            _say(file=number, sha256=_fetched(request, number, head))
    except Exception as error:  # noqa: BLE001 - everything is reported to the parent, by kind
        return _fail(*_kind(error))
    return 0


def _head(request: dict[str, Any], name: str) -> HfFileMetadata:
    url = _url(request, name)
    head = get_hf_file_metadata(url, token=request["token"] or False, timeout=request["seconds"])
    if head.commit_hash is None:  # a login page of the network, or a proxy's
        raise TransportError("what answers is not the hub")
    return head


def _url(request: dict[str, Any], name: str) -> str:
    return hf_hub_url(request["repo"], name, revision=request["revision"])


def _sha256(head: HfFileMetadata) -> str | None:
    """Of a large file the hub's mark is its hash."""
    return head.etag if head.etag and SHA256.match(head.etag) else None


def _fetched(request: dict[str, Any], number: int, head: HfFileMetadata) -> str:
    name, place = request["files"][number]
    wanted = Wanted(_url(request, name), build_hf_headers(token=request["token"] or False), head.size, _sha256(head))
    with Client(follow_redirects=True, timeout=Timeout(request["seconds"], read=_SILENCE)) as client:
        return fetch(client, wanted, Partial(Path(place)), _Teller(number).tell(), request["pause"])


class _Teller:
    """Tells how far a file is, several times a second; the last word too when nothing more comes."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._latest: dict[str, int] = {}
        threading.Thread(target=self._run, daemon=True).start()

    def tell(self) -> Tell:
        """Where a transfer tells."""
        return Tell(
            checked=lambda n: self._set(checked=n),
            done=lambda n: self._set(done=n),
            waits=lambda seconds, why: _say(file=self._number, waits=seconds, message=_clean(why)),
        )

    def _set(self, **latest: int) -> None:
        self._latest = latest

    def _run(self) -> None:
        told = self._latest
        while True:
            time.sleep(_INTERVAL)
            if (latest := self._latest) is not told:
                told = latest
                _say(file=self._number, **latest)


def _kind(error: Exception) -> tuple[str, object]:
    """What the parent tells apart, and the reason."""
    match error:
        case GatedRepoError():
            return "gated", error
        case RepositoryNotFoundError() | RevisionNotFoundError() | EntryNotFoundError():
            return "missing", error
        case HfHubHTTPError():
            return _by_status(getattr(error.response, "status_code", 0)), error
        case RefusedError():  # the hub had let us in: 403 is a proxy's, or of the servers where the bytes lie
            return "missing" if error.status == 404 else "hub", error
        case TransportError() | OfflineModeIsEnabled() | TimeoutError():
            return "offline", error
        case BrokenError():
            return "broken", error
        case UnfitError():
            return "unfit", error
        case OSError() if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return "disk", error
        case EngineError() if error.code is ErrorCode.DISK_FULL:
            return "disk", error
    return "other", error


def _by_status(status: int) -> str:
    return {401: "gated", 403: "gated", 404: "missing"}.get(status, "hub")


def _fail(kind: str, error: object) -> int:
    _say(error=kind, message=_clean(error))
    return 1


def _clean(error: object) -> str:
    """Short, and without what an address may carry as a key."""
    return re.sub(r"\?\S+", "", " ".join(str(error).split()))[:300]


def _say(**message: Any) -> None:
    with _ONE_AT_A_TIME:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def _end_with_parent() -> None:
    while sys.stdin.readline():
        pass
    os._exit(1)  # at once, wherever the other thread waits: what has come is on the disk


if __name__ == "__main__":
    sys.exit(main())
