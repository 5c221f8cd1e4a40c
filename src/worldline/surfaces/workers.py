"""The threads in which a server runs the synchronous engine.

Their number is fixed, because every thread that reads a store keeps a connection to it. So is the
number of those who wait for them, in all and of one tenant: whoever comes later is told to come again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from worldline.errors import StoreBusy

T = TypeVar("T")
THREADS = 4
WAITING = 256
OF_ONE = 64
"""So many requests of one tenant may be under way or waiting."""


class Workers:
    """A few threads, and the way from a coroutine into them."""

    def __init__(self, threads: int = THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="worldline")
        self._of: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """How many are under way or wait."""
        return sum(self._of.values())

    async def run(self, work: Callable[[], T], whose: str = "") -> T:
        """The result of `work`, without blocking the other requests."""
        if self.waiting >= WAITING or self._of[whose] >= OF_ONE:
            raise StoreBusy("too many requests are waiting; try again in a moment")
        self._of[whose] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self._of[whose] -= 1
            if not self._of[whose]:
                del self._of[whose]

    def close(self) -> None:
        """Waits for what is under way and ends the threads."""
        self._pool.shutdown()
