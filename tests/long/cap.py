"""A memory cap around a command, so that what it reads does not fit (Linux, cgroup v1, root).

cap.py [--user UID] MB COMMAND …       such as: cap.py 3800 .venv/bin/tandem bench --workload streamed …

Everything is charged to the cap: the command's own memory and the page cache of what it reads. With --user it runs as
an ordinary user with the default lock limit of 8 MB, which may read what root may, so that nothing has to be moved.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from backend.cli_pair import whole
from backend.errors import EngineError, ErrorCode
from tests.long.llama_server import end_in_order

_ROOT = Path("/sys/fs/cgroup/memory")
_DROP = Path("/proc/sys/vm/drop_caches")
LOCK_LIMIT = 8 << 20
"""Bytes that an ordinary user may lock by default."""


class Cap:
    """A group of processes that may use so much memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prefix(self, user: int | None = None) -> list[str]:
        """The beginning of a command line that goes into the group and becomes what follows."""
        enter = ["bash", "-c", f'echo $$ > {self._folder}/cgroup.procs && exec "$@"', "cap"]
        return enter + (as_user(user) if user is not None else [])

    def left(self) -> int:
        """Bytes that can still be allocated, as the plan counts them."""
        stat = dict(line.split() for line in self._read("memory.stat").splitlines())
        cache = int(stat["total_inactive_file"]) + int(stat["total_active_file"])
        return int(self._read("memory.limit_in_bytes")) - int(self._read("memory.usage_in_bytes")) + cache

    def held(self) -> int:
        """Bytes that cannot be dropped: anonymous, and in the pool of streamed layers, mapped just now or not."""
        stat = dict(line.split() for line in self._read("memory.stat").splitlines())
        return int(stat["total_rss"]) + int(stat["total_shmem"])

    def killed(self) -> int:
        """Processes that were ended for want of memory."""
        found = dict(line.split() for line in self._read("memory.oom_control").splitlines())
        return int(found.get("oom_kill", 0))

    def _read(self, name: str) -> str:
        return (self._folder / name).read_text()


@contextmanager
def cap(megabytes: int) -> Iterator[Cap]:
    """A new group for the length of a block; its processes have to end within it.

    Raises:
        EngineError: where this system or user cannot make one.
    """
    folder = _ROOT / f"tandem-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / "memory.limit_in_bytes").write_text(f"{megabytes}M")
    except OSError as error:
        raise EngineError(
            ErrorCode.BAD_REQUEST, f"A memory cap needs root and cgroup v1 at {_ROOT}: {error.strerror}."
        ) from error
    try:
        yield Cap(folder)
    finally:
        for _ in range(50):  # a process that has just ended counts a moment longer
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.1)


def as_user(user: int) -> list[str]:
    """The beginning of a command line that becomes an ordinary user who may read any file."""
    reading = ["--inh-caps", "-all,+dac_read_search", "--ambient-caps", "-all,+dac_read_search"]
    become = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups", *reading]
    return [*become, "prlimit", f"--memlock={LOCK_LIMIT}:{LOCK_LIMIT}"]


@contextmanager
def own_home(user: int | None) -> Iterator[dict[str, str]]:
    """Environment of a process that has learnt nothing and keeps nothing, in a folder that the user may write."""
    with tempfile.TemporaryDirectory() as home:
        if user is not None:
            os.chown(home, user, user)
        yield {"HOME": home, "TANDEM_HOME": home}


def drop_page_cache() -> None:
    """Have the system forget all files it has read and nobody uses."""
    os.sync()
    _DROP.write_text("3\n")


def _ended(process: subprocess.Popen[bytes]) -> int:
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return process.wait()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="cap", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--user", type=whole(1), metavar="UID")
    parser.add_argument("megabytes", type=whole(64), metavar="MB")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND …")
    args = parser.parse_args(arguments)
    end_in_order()
    try:
        with cap(args.megabytes) as group, own_home(args.user) as env:
            drop_page_cache()
            # Ctrl-C is for the command, which ends as it likes
            whose = os.environ | (env if args.user else {})
            process = subprocess.Popen([*group.prefix(args.user), *args.command], env=whose)
            try:
                code = _ended(process)
            finally:
                process.terminate()  # where we are to end; else it has ended
                process.wait()
            print(f"ended for want of memory: {group.killed()}", file=sys.stderr)
            return code
    except EngineError as error:
        sys.stderr.write(f"cap: {error.message}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
