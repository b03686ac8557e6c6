"""What the worker finds in its environment beside what this process has: how its libraries use memory and threads."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from backend.library.paths import FOLDER_VARIABLES, expanded

_SPINS = 2000
"""Rounds of OpenMP's waiting before it sleeps, some microseconds; GCC's default is milliseconds to for ever."""


def worker_environment(more: Mapping[str, str]) -> dict[str, str]:
    """This process's, with what makes a pass quicker, and ``more``."""
    return _with_whole_paths(os.environ | _huge_pages() | _short_spin() | dict(more))


def _huge_pages() -> dict[str, str]:
    """Have glibc ask for huge pages (2.35 and later, Linux with transparent huge pages on request).

    A pass reads every repacked weight once, and with pages of 4 KiB it looks up many addresses. Measured on two cores
    with a Q4_K_M target: a plain reply takes 0.96 of the time, passes in a row 0.86, for 2 % more memory. What the
    person has set stays.
    """
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    if sys.platform != "linux" or "glibc.malloc.hugetlb" in tunables:
        return {}
    return {"GLIBC_TUNABLES": ":".join(filter(None, [tunables, "glibc.malloc.hugetlb=1"]))}


def _short_spin() -> dict[str, str]:
    """Have OpenMP's threads wait for each other a short while only, then sleep (GCC's library, so Linux).

    They spin until the slowest has come, some hundred times a pass. Where another program takes a core, that one is not
    running, and the others burn what time it could have had: replies fell from 9 tokens a second to 1 or 2.
    What the person has set stays.
    """
    if sys.platform != "linux" or {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
        return {}
    return {"GOMP_SPINCOUNT": str(_SPINS)}


def _with_whole_paths(env: dict[str, str]) -> dict[str, str]:
    """The worker works in another folder: what is relative to this program's must not mean another place there."""
    return env | {name: str(expanded(env[name]).absolute()) for name in FOLDER_VARIABLES if env.get(name)}
