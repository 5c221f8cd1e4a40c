"""AsyncMemory: every verb of Memory under the same name, awaited instead of waited for.

It decides nothing itself: each call runs in one of a few threads that the handle and everything bound from
it share, so that the event loop goes on. Binding (`scoped`, `at`, …) costs nothing and stays a plain call;
`enter` looks something up and is awaited. `query()` gives the same builder, whose `run()` is awaited.

    async with await AsyncMemory.open("me.db") as m:
        await m.scoped(user="ana").remember("I live in Rome.", speaker="Ana")
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from worldline.errors import StoreError
from worldline.memory import Memory
from worldline.model import Scope
from worldline.query import Query, explain_query, run_query
from worldline.store.sqlite import CLOSED

T = TypeVar("T")
THREADS = 4


async def in_thread(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """What the work returns, done in a thread of the pool; a StoreError once that is shut down."""
    try:
        begun = asyncio.get_running_loop().run_in_executor(pool, work)
    except RuntimeError:  # the threads take nothing more
        raise StoreError(CLOSED) from None
    return await begun


class AsyncMemory:
    """A handle on one tenant's memory, for code that awaits."""

    def __init__(self, memory: Memory, pool: ThreadPoolExecutor | None = None) -> None:
        self.memory = memory
        """The handle that this one stands for."""
        self._pool = pool or ThreadPoolExecutor(THREADS, "worldline")

    @classmethod
    async def open(cls, *args: Any, **given: Any) -> AsyncMemory:
        """As `Memory.open`."""
        pool = ThreadPoolExecutor(THREADS, "worldline")
        opening = functools.partial(Memory.open, *args, **given)
        return cls(await asyncio.get_running_loop().run_in_executor(pool, opening), pool)

    async def close(self) -> None:
        """Ends when everything that was begun has ended, and closes the store."""
        await asyncio.to_thread(self._pool.shutdown)
        await asyncio.to_thread(self.memory.close)

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Async{repr(self.memory).removeprefix('<')}"

    def scoped(self, *args: Any, **given: Any) -> AsyncMemory:
        """As `Memory.scoped`."""
        return AsyncMemory(self.memory.scoped(*args, **given), self._pool)

    def shared_with(self, *scopes: Scope) -> AsyncMemory:
        """As `Memory.shared_with`."""
        return AsyncMemory(self.memory.shared_with(*scopes), self._pool)

    def at(self, *args: Any, **given: Any) -> AsyncMemory:
        """As `Memory.at`."""
        return AsyncMemory(self.memory.at(*args, **given), self._pool)

    def confined(self, *args: Any, **given: Any) -> AsyncMemory:
        """As `Memory.confined`."""
        return AsyncMemory(self.memory.confined(*args, **given), self._pool)

    def as_agent(self) -> AsyncMemory:
        """As `Memory.as_agent`."""
        return AsyncMemory(self.memory.as_agent(), self._pool)

    async def enter(self, world: Any) -> AsyncMemory:
        """As `Memory.enter`."""
        return AsyncMemory(await self._later(self.memory.enter, world), self._pool)

    def query(self) -> Query:
        """As `Memory.query`; `run()` and `explain()` are awaited."""
        running: Any = functools.partial(self._later, run_query, self.memory.handle)
        explaining: Any = functools.partial(self._later, explain_query, self.memory.handle)
        return Query(running, explaining)

    async def _later(self, verb: Callable[..., Any], *args: Any, **given: Any) -> Any:
        return await in_thread(self._pool, functools.partial(verb, *args, **given))

    def __getattr__(self, name: str) -> Any:
        """Any other public verb of Memory, to be awaited."""
        verb = getattr(type(self.memory), name, None) if not name.startswith("_") else None
        if not callable(verb):
            raise AttributeError(f"AsyncMemory has no {name!r}")
        return functools.wraps(verb)(functools.partial(self._later, getattr(self.memory, name)))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in dir(self.memory) if not name.startswith("_"))})
