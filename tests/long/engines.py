"""A worker of our own for a script: loaded with a pair given as files, and ended with the block."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from backend.bench.runner import new_job
from backend.client import ManagedEngine
from backend.protocol import LoadOptions, LoadRequest, State
from backend.supervisor import Supervisor, worker_command


def supervisor(
    target: Path, draft: Path | None, prefix: Sequence[str] = (), env: dict[str, str] | None = None
) -> Supervisor:
    """Of a worker that knows the pair as "target" and "draft"; ``prefix`` becomes it by executing its arguments."""
    files = {"target": target} | ({"draft": draft} if draft else {})
    return Supervisor(files, env, [*prefix, *worker_command()])


@asynccontextmanager
async def engine(watched: Supervisor) -> AsyncIterator[ManagedEngine]:
    """A started worker."""
    own = ManagedEngine(watched)
    try:
        await own.start()
        yield own
    finally:
        await own.close()


async def load(own: ManagedEngine, options: LoadOptions, *, draft: bool, settle: bool = False) -> State:
    """Load the pair, or its target alone, also where it does not fit."""
    name = "draft" if draft else None
    request = LoadRequest(target="target", draft=name, options=options, anyway=True, settle=settle)
    async with aclosing(own.load(request, new_job())) as steps:  # type: ignore[type-var]
        async for step in steps:
            if isinstance(step, State):
                return step
    raise AssertionError("a load ends with a state")
