"""Where replies wait while a pair of models is on its way."""

from __future__ import annotations

import asyncio

from backend.errors import EngineError

WAITED = "waited"
"""In an error's details: what failed is the pair, which says so itself; the reply only waited for it."""


class Gate:
    """Closed from the moment a pair is asked for until it is there. For the engine's thread only."""

    def __init__(self) -> None:
        self._coming: asyncio.Future[EngineError | None] | None = None

    def close(self) -> None:
        """A pair is expected; closing it again changes nothing for those who wait."""
        if self._coming is None:
            self._coming = asyncio.get_running_loop().create_future()

    def open(self, error: EngineError | None = None) -> None:
        """The pair is there, or will not come: then what waited for it ends with the reason of that."""
        coming, self._coming = self._coming, None
        if coming is not None:
            coming.set_result(error)

    async def passed(self) -> None:
        """Wait while it is closed.

        Raises:
            EngineError: why the pair did not come.
        """
        while self._coming is not None:
            if (error := await asyncio.shield(self._coming)) is not None:
                raise EngineError(error.code, error.message, error.details | {WAITED: True})
