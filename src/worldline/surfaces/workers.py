"""The threads in which a server runs the synchronous engine.

Their number is fixed, because every thread that reads a store keeps a connection to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
THREADS = 4


class Workers:
    """A few threads, and the way from a coroutine into them."""

    def __init__(self, threads: int = THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="worldline")

    async def run(self, work: Callable[[], T]) -> T:
        """The result of `work`, without blocking the other requests."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Waits for what is under way and ends the threads."""
        self._pool.shutdown()
