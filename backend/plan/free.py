"""How much main memory can be allocated: the system's, or what a container leaves this process."""

from __future__ import annotations

from pathlib import Path

import psutil

_ROOT = Path("/sys/fs/cgroup")
_FILES = {True: ("memory.max", "memory.current"), False: ("memory.limit_in_bytes", "memory.usage_in_bytes")}
_CACHE = ("inactive_file", "active_file"), ("total_inactive_file", "total_active_file")
"""What the kernel drops when memory is wanted; a group is charged for it all the same."""


def free_main_memory() -> int:
    """Bytes of main memory that can be allocated."""
    return min(int(psutil.virtual_memory().available), *_left_in_groups(Path("/proc/self/cgroup"), _ROOT))


def _left_in_groups(listing: Path, root: Path) -> list[int]:
    """What the memory limits of this process's control groups leave (Linux; both versions)."""
    left = [2**62]
    try:
        lines = listing.read_text().splitlines()
    except OSError:
        return left
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        group = (root if not controllers else root / "memory") / path.lstrip("/")
        limit, used = _FILES[not controllers]
        for folder in (group, *group.parents):
            if folder == folder.parent or not folder.is_relative_to(root):
                break
            left.append(_left(folder, limit, used))
    return left


def _left(folder: Path, limit: str, used: str) -> int:
    try:
        most, now = (folder / limit).read_text().strip(), int((folder / used).read_text())
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return 2**62
    if most == "max":
        return 2**62
    cache = max(sum(int(stat.get(name, 0)) for name in names) for names in _CACHE)  # the second of all below (v1)
    return max(0, int(most) - now + cache)
