"""Mixed traffic on a served memory: eight clients over REST and MCP, nights, and kills −9.

    python bench/traffic.py [--minutes 10] [--kills 20] [--clients 8] [--pause 0.2] [--seed 1]

The first half runs undisturbed and gives latencies and the server's memory; in the second half the server
is killed at random moments and started again. Four of five requests recall, one remembers. In the end every
acknowledged message must be there once, and `verify` clean. Exits with 1 otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2
import numpy as np
from mcp import Client

from worldline.config import Config
from worldline.memory import Memory

WHO = ("Ana", "Bo", "Chidi", "Dora", "Emre", "Fatima", "Gus", "Hana")
DOES = ("lives in", "works on", "met somebody from", "wrote about", "is tired of", "has a ticket for")
WHAT = ("Lisbon", "the harbour project", "Kigali", "the budget", "the choir", "Oslo", "the greenhouse")
CUT = (httpx2.HTTPError, ConnectionError)
"""What a client sees of a server that was killed."""


class Server:
    """`worldline serve` on one port, killed and started as the test wants."""

    def __init__(self, db: Path, port: int, sleep_every: float) -> None:
        self.command = [
            sys.executable, "-m", "worldline", "serve", "--db", str(db), "--port", str(port), "--json",
            "--rate", "0", "--sleep-every", str(sleep_every),
        ]  # fmt: skip
        self.url = ""
        self.start()

    def start(self) -> None:
        """Starts it and waits until it listens."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = json.loads(self.process.stdout.readline())["url"]

    def kill(self) -> None:
        """As a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def rss(self) -> int:
        """Resident memory in bytes."""
        held = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(held) * os.sysconf("SC_PAGESIZE")


class Traffic:
    """What the clients did and saw."""

    def __init__(self, seed: int, pause: float, until: float) -> None:
        self.seed, self.random = seed, random.Random(seed)
        self.pause, self.until = pause, until
        self.took: dict[str, list[float]] = {"recall": [], "remember": []}
        self.acknowledged: list[str] = []
        self.cut = 0
        self.errors: Counter[str] = Counter()

    async def client(
        self,
        number: int,
        remember: Callable[[str], Awaitable[None]],
        recall: Callable[[str], Awaitable[None]],
    ) -> None:
        """One client until the time is over; what a kill cut is sent again, as an agent would."""
        count = 0
        while time.monotonic() < self.until:
            writes = self.random.random() < 0.2
            text = f"{self.random.choice(WHO)} {self.random.choice(DOES)} {self.random.choice(WHAT)}"
            said = f"{text}, message {self.seed}x{number}x{count} of the day."
            count += writes
            while time.monotonic() < self.until:
                began = time.monotonic()
                try:
                    await (remember(said) if writes else recall(f"Who {text.split(' ', 1)[1]}?"))
                except Exception as error:
                    if _is_cut(error):
                        self.cut += 1
                        await asyncio.sleep(0.3)
                        continue
                    self.errors[f"{type(error).__name__}: {str(error)[:120]}"] += 1
                    break
                self.took["remember" if writes else "recall"].append(time.monotonic() - began)
                if writes:
                    self.acknowledged.append(said)
                break
            await asyncio.sleep(self.pause * self.random.uniform(0.5, 1.5))

    async def rest(self, number: int, url: str) -> None:
        """A client of the REST API."""
        async with httpx2.AsyncClient(base_url=url, timeout=60) as http:

            async def post(path: str, body: dict[str, str]) -> None:
                answer = await http.post(path, json=body)
                if answer.status_code != 200:
                    raise RuntimeError(f"{path} {answer.status_code} {answer.text[:80]}")

            await self.client(
                number,
                lambda said: post("/v1/remember", {"text": said, "speaker": "user", "session": f"s{number}"}),
                lambda asked: post("/v1/recall", {"question": asked}),
            )

    async def mcp(self, number: int, url: str) -> None:
        """A client of the MCP tools, over HTTP; a new session a request, as the server keeps none."""

        async def call(tool: str, given: dict[str, str]) -> None:
            async with Client(f"{url}/mcp") as client:
                answer = await client.call_tool(tool, given)
                if answer.is_error:
                    raise RuntimeError(f"{tool}: {answer.content}")

        await self.client(
            number,
            lambda said: call("memory_write", {"content": said, "type": "said"}),
            lambda asked: call("memory_recall", {"question": asked}),
        )

    async def run(self, url: str, clients: int, beside: Awaitable[None]) -> None:
        """All clients at once, and what is done to the server beside them."""
        talks = [(self.mcp if n % 2 else self.rest)(n, url) for n in range(clients)]
        await asyncio.gather(beside, *talks)


def _is_cut(error: BaseException) -> bool:
    """Whether a kill is the cause, however deep the transport has wrapped it."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_cut, error.exceptions))
    held = [error, error.__cause__, error.__context__]
    return any(isinstance(e, CUT) for e in held) or "Connection closed" in str(error)


async def watched(server: Server, until: float, held: list[tuple[float, int]]) -> None:
    """The server's memory, every few seconds."""
    began = time.monotonic()
    while time.monotonic() < until:
        await asyncio.sleep(5)
        held.append((time.monotonic() - began, server.rss()))
        if len(held) % 12 == 0:
            print(f"  {held[-1][0]:.0f} s, {held[-1][1] / 1e6:.0f} MB", flush=True)


async def killed(server: Server, until: float, times: int, seed: int) -> None:
    """The server killed at random moments, and started again at once."""
    chance = random.Random(seed)
    gap = (until - time.monotonic()) / (times + 1)
    for number in range(times):
        await asyncio.sleep(gap * chance.uniform(0.5, 1.4))
        if time.monotonic() > until - 2:
            break
        server.kill()
        await asyncio.to_thread(server.start)
        print(f"  kill {number + 1}", flush=True)


def report(title: str, traffic: Traffic) -> float:
    """One table; how far the slow requests are from the usual ones."""
    worst = 0.0
    print(f"{title}: {len(traffic.acknowledged)} messages acknowledged, {traffic.cut} requests cut by kills")
    for kind, took in traffic.took.items():
        p50, p95, p99 = np.percentile(np.array(took), [50, 95, 99]) * 1000
        print(
            f"  {kind:9} {len(took):6} P50 {p50:.0f} ms  P95 {p95:.0f}  P99 {p99:.0f}  P99/P50 {p99 / p50:.1f}"
        )
        worst = max(worst, p99 / p50)
    for error, times in traffic.errors.most_common(5):
        print(f"  ERROR {times}× {error}")
    return worst


def lost(db: Path, acknowledged: list[str]) -> list[str]:
    """What is missing or there twice, and what `verify` finds."""
    with Memory.open(db, Config(embedder="none", reranker="none")) as memory:
        held: Counter[str] = Counter()
        after = None
        while True:
            page = memory.list("Turn", limit=500, page=after)
            held.update(node.content for node in page.items)
            after = page.next
            if after is None:
                break
        wrong = [f"{said!r} is there {held[said]} times" for said in acknowledged if held[said] != 1]
        return [*wrong, *(str(damage) for damage in memory.verify().damage)]


def main() -> int:
    """Both halves, then the count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--pause", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=7791)
    given = parser.parse_args()
    half = given.minutes * 30
    with tempfile.TemporaryDirectory() as name:
        db = Path(name) / "traffic.db"
        server = Server(db, given.port, sleep_every=1)
        try:
            held: list[tuple[float, int]] = []
            warm = Traffic(given.seed - 1, 0.0, time.monotonic() + 10)
            asyncio.run(warm.run(server.url, 2, asyncio.sleep(0)))
            quiet = Traffic(given.seed, given.pause, time.monotonic() + half)
            asyncio.run(quiet.run(server.url, given.clients, watched(server, quiet.until, held)))
            spread = report("undisturbed", quiet)
            rough = Traffic(given.seed + 1, given.pause, time.monotonic() + half)
            beside = killed(server, rough.until, given.kills, given.seed)
            asyncio.run(rough.run(server.url, given.clients, beside))
            report("with kills", rough)
        finally:
            with contextlib.suppress(ProcessLookupError):
                server.kill()
        wrong = lost(db, quiet.acknowledged + rough.acknowledged)
    later = [size for _, size in held[len(held) // 3 :]]
    grown = later[-1] / later[0] - 1 if later else 0.0
    print(f"memory of the server over the last two thirds: {grown:+.1%}; P99 at most {spread:.1f}× P50")
    for line in wrong[:10]:
        print(f"LOST {line}")
    bad = bool(wrong or quiet.errors or rough.errors)
    print("FAILED" if bad else "nothing lost, nothing doubled, verify clean, no error")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
