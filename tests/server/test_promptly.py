"""What the worker sends is sent at once."""

from __future__ import annotations

import asyncio
import socket

from backend.worker import _listen


def test_no_part_of_an_answer_waits_for_the_acknowledgement_of_another() -> None:
    async def main() -> int:
        came: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            came.set_result(
                writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY),
            )
            writer.close()

        listener = _listen(0)
        async with await asyncio.start_server(serve, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            found = await came
            writer.close()
            await writer.wait_closed()
            return found

    assert asyncio.run(main())
