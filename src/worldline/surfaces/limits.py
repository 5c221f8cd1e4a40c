"""How much of a server one client may take: connections, time to send, requests a second, depth, threads.

Whoever opens connections and sends nothing is closed first, so that those who ask are served. Times
are those of the event loop; nothing here knows what is asked. The threads in which the synchronous engine runs are
few, because each one that reads a store keeps a connection to it, and so are those who wait for them, in all and of
one tenant: whoever comes later is told to come again.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from worldline.errors import InvalidInput, StoreBusy

HEADER_SECONDS = 10.0
BODY_SECONDS = 30.0
CONNECTIONS = 400
"""Of all clients together; the file descriptors of a process are few."""
WAITING = 100
"""Connections of one client that have not sent a whole request."""
DEPTH = 100
"""Objects and lists within each other, in a body or a file."""
THREADS = 4
QUEUE = 256
OF_ONE = 64
"""So many requests of one tenant may be under way or waiting."""
_CLIENTS = 10_000
T = TypeVar("T")


class Connections:
    """The connections of a server, and which of them have not asked anything yet, oldest first."""

    def __init__(self, most: int = CONNECTIONS, waiting: int = WAITING) -> None:
        self._most, self._waiting = most, waiting
        self._silent: dict[Any, str] = {}
        self.open = 0
        self.dropped = 0

    def opened(self, connection: Any, client: str) -> None:
        """A new connection; one that has sent nothing gives way to it where there are too many."""
        self.open += 1
        self.silent(connection, client)
        theirs = [silent for silent, whose in self._silent.items() if whose == client]
        if len(theirs) > self._waiting:
            self._drop(theirs[0])
        elif self.open > self._most:
            self._drop(next(iter(self._silent)))

    def silent(self, connection: Any, client: str) -> None:
        """It has not sent a whole request, or not another one."""
        self._silent.setdefault(connection, client)

    def asked(self, connection: Any) -> None:
        """It has sent a whole request."""
        self._silent.pop(connection, None)

    def closed(self, connection: Any) -> None:
        """It is gone."""
        self.asked(connection)
        self.open -= 1

    def _drop(self, connection: Any) -> None:
        self.dropped += 1
        self.asked(connection)
        connection.transport.abort()


def protocol(connections: Connections, seconds: float = HEADER_SECONDS) -> type[asyncio.Protocol]:
    """uvicorn's HTTP protocol, with an end to waiting for the head of a request."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    base: Any = AutoHTTPProtocol

    class Limited(base):  # type: ignore[misc]
        """One connection."""

        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._whose = self.client[0] if self.client else ""
            self._wait()
            connections.opened(self, self._whose)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            connections.closed(self)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._stop()  # from here on, the application waits for the body
                if not self.cycle.more_body:
                    connections.asked(self)
            elif self._timer is None and not self.transport.is_closing():
                connections.silent(self, self._whose)
                self._wait()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self._timer is None and not self.transport.is_closing():
                connections.silent(self, self._whose)

        def _wait(self) -> None:
            self._timer = self.loop.call_later(seconds, self.transport.abort)

        def _stop(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return Limited


class Rates:
    """Requests a second of each client: a bucket that fills steadily and holds a few seconds' worth."""

    def __init__(self, a_second: float, burst: float = 4.0) -> None:
        self._rate, self._most = a_second, a_second * burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, client: str, now: float) -> bool:
        """Whether a request of this client is served now."""
        if not self._rate:
            return True
        left, since = self._left.pop(client, (self._most, now))
        left = min(self._most, left + (now - since) * self._rate)
        allowed = left >= 1
        self._left[client] = (left - allowed, now)
        while len(self._left) > _CLIENTS:
            self._left.popitem(last=False)
        return allowed


def require_shallow(value: Any, most: int = DEPTH) -> None:
    """Refuses a value that is nested more deeply than anything sensible."""
    level, depth = [value], 0
    while level:
        if depth > most:
            raise InvalidInput(f"it is nested more than {most} deep")
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, dict | list)
        ]
        depth += 1


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
        if self.waiting >= QUEUE or self._of[whose] >= OF_ONE:
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
