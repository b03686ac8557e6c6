"""The process that fetches one file from the hub: ``python -m backend.library.hub_fetch REPO NAME REVISION SECONDS``.

It is a process so that a download can be stopped at once, whatever the hub's library is waiting for. It writes JSON
lines to stdout: first the file's size and hash, then, once a line arrives on stdin (the parent has checked the disk),
progress, and last the path or an error. When stdin closes, the parent is gone and so is the download.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
import time
from typing import Any

from httpx2 import TransportError
from huggingface_hub import constants, get_hf_file_metadata, hf_hub_download, hf_hub_url
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils.tqdm import tqdm

_INTERVAL = 0.1


class _Bar(tqdm):
    """The hub library's progress bar, as JSON lines."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.pop("name", None)
        super().__init__(*args, **kwargs | {"file": sys.stderr, "disable": True})  # type: ignore[no-untyped-call]
        self._done = int(kwargs.get("initial") or 0)
        self._told = 0.0

    def update(self, n: float | None = 1) -> bool | None:
        """Count ``n`` more bytes."""
        self._done += int(n or 0)
        now = time.monotonic()
        if now - self._told >= _INTERVAL:
            self._told = now
            _tell(done=self._done)
        return None


def main(repo: str, name: str, revision: str, timeout: float) -> int:
    """Fetch one file into the hub's cache."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the partial file is removed on the way out
    if constants.is_offline_mode():
        return _fail("offline", "HF_HUB_OFFLINE is set")
    try:
        meta = get_hf_file_metadata(hf_hub_url(repo, name, revision=revision), timeout=timeout)
        _tell(etag=meta.etag, size=meta.size)
        if sys.stdin.readline() == "":
            return 1
        threading.Thread(target=_end_with_parent, daemon=True).start()
        path = hf_hub_download(repo, name, revision=revision, etag_timeout=timeout, tqdm_class=_Bar)
    except GatedRepoError as error:
        return _fail("gated", error)
    except (TransportError, OfflineModeIsEnabled, TimeoutError) as error:
        return _fail("offline", error)
    except LocalEntryNotFoundError as error:  # the hub library's word for "no connection"
        return _fail("offline", error)
    except (RepositoryNotFoundError, RevisionNotFoundError, EntryNotFoundError) as error:
        return _fail("missing", error)
    except HfHubHTTPError as error:
        status = getattr(error.response, "status_code", 0)
        return _fail("gated" if status in (401, 403) else "hub", error)
    except OSError as error:
        return _fail("disk" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "other", error)
    except Exception as error:  # noqa: BLE001 - everything is reported to the parent, by kind
        return _fail("disk" if "No space left" in str(error) else "other", error)
    _tell(path=path)
    return 0


def _fail(kind: str, error: object) -> int:
    _tell(error=kind, message=" ".join(str(error).split())[:300])
    return 1


def _tell(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _end_with_parent() -> None:
    while sys.stdin.readline():
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])))
