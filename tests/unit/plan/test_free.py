"""Free memory inside containers: the limits of control groups, of both versions and of their parents."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from backend.plan.free import _left_in_groups, free_main_memory

NO_LIMIT = 2**62


def group(folder: Path, limit: str, used: int, *, v1: bool = False) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes") if v1 else ("memory.max", "memory.current")
    for name, value in zip(names, (limit, str(used)), strict=True):
        (folder / name).write_text(f"{value}\n")
    (folder / "memory.stat").write_text("anon 5\ninactive_file 100\nactive_file 20\n")


def left(tmp_path: Path, listing: str) -> int:
    (tmp_path / "listing").write_text(listing)
    return min(_left_in_groups(tmp_path / "listing", tmp_path / "root"))


def test_what_a_container_leaves_counts_caches_as_free(tmp_path: Path) -> None:
    group(tmp_path / "root" / "box", "1000", 700)
    assert left(tmp_path, "0::/box\n") == 1000 - 700 + 120


def test_the_narrowest_of_all_parents_counts(tmp_path: Path) -> None:
    group(tmp_path / "root" / "slice", "500", 300)
    group(tmp_path / "root" / "slice" / "box", "max", 100)
    assert left(tmp_path, "0::/slice/box\n") == 500 - 300 + 120


def test_version_one_too(tmp_path: Path) -> None:
    group(tmp_path / "root" / "memory" / "cap", "2000", 2500, v1=True)
    assert left(tmp_path, "4:cpu:/\n3:memory,hugetlb:/cap\n") == 0


@pytest.mark.parametrize("listing", ["", "0::/gone\n", "0::/\n"])
def test_without_limits_there_are_none(tmp_path: Path, listing: str) -> None:
    assert left(tmp_path, listing) == NO_LIMIT
    assert min(_left_in_groups(tmp_path / "missing", tmp_path)) == NO_LIMIT


def test_never_more_than_the_system_has() -> None:
    assert 0 < free_main_memory() <= psutil.virtual_memory().total
