"""Child processes of the process and crash tests: real processes on one real file.

    python workers.py write FILE NAME COUNT     prints a line per acknowledged write
    python workers.py read FILE                 checks snapshots until its standard input ends
    python workers.py share STORE TENANT NAME COUNT     the same, beside what everybody says, with a night in the middle
    python workers.py open FILE                 opens and writes one note
    python workers.py facts FILE NAME           remembers with facts, for ever
    python workers.py load FILE COUNT           loads one batch after the other, for ever
    python workers.py sleep FILE                consolidates once
    python workers.py tryout FILE               opens and writes as somebody without rights

Everything that a child learns goes to its standard output, one line each, at once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from worldline.config import Config
from worldline.errors import WorldlineError
from worldline.memory import Memory
from worldline.model import Fact, Predicate
from worldline.testing import HashEmbedder
from worldline.write.given import Link, Note

QUICK = Config(durability="normal", lock_seconds=120, embedder="none")


def start(*arguments: object, cold: bool = False) -> subprocess.Popen[str]:
    """A child of this file with pipes at both ends, with an interpreter of its own if it is to start cold."""
    import warm

    python = [sys.executable] if cold else warm.python()
    command = [*python, "-W", "error", __file__, *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def end(child: subprocess.Popen[str], seconds: float = 120) -> list[str]:
    """The lines of a child that ended well; whatever it complained about is raised."""
    out, err = child.communicate(timeout=seconds)
    assert child.returncode == 0, err
    return out.splitlines()


def say(*words: object) -> None:
    """One line, at once."""
    print(*words, flush=True)


def write(path: str, name: str, count: str) -> None:
    """So many events and notes, mixed, after a common start signal."""
    with Memory.open(path, QUICK) as memory:
        mine = memory.scoped(user=name, session=f"session of {name}")
        mine.remember("warming up", dry_run=True)
        say("ready")
        sys.stdin.readline()
        for number in range(int(count)):
            if number % 5 == 4:
                receipt = mine.note("learning", f"{name} {number}", "learned")
            else:
                receipt = mine.remember(f"{name} says {number}", speaker=name)
            say(receipt.id, time.time())


def share(path: str, tenant: str, name: str, count: str) -> None:
    """Events of one's own and events that every process sends, with a night in the middle, after a common signal."""
    with Memory.open(path, QUICK, tenant) as memory:
        memory.remember("I moved to Graz.", dry_run=True)
        say("ready")
        sys.stdin.readline()
        for number in range(int(count)):
            own = memory.remember(f"I moved to town {number}.", speaker=name, session="all")
            same = memory.remember(
                f"It rained on day {number}.", speaker="Radio", said_at=number, session="all"
            )
            say(own.id, same.id)
            if number == int(count) // 2:
                memory.consolidate()


def read(path: str) -> None:
    """Snapshots, over and over: what one statement counts, the next one must count too."""
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    with Memory.open(path, QUICK) as memory:
        say("ready")
        seen, looks = 0, 0
        while not ended.is_set() or looks < 3:
            with memory.handle.store.reading("default"):
                query = memory.handle.store.query
                ((nodes, beliefs, logged),) = query(
                    "SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM beliefs),"
                    " (SELECT count(*) FROM log)"
                )
                ((sequence, known),) = query("SELECT sequence, last_known FROM tenants") or [(0, 0)]
                ((newest,),) = query("SELECT coalesce(max(known), 0) FROM log")
                ((again,),) = query("SELECT count(*) FROM nodes")
            assert (logged, newest, again) == (sequence, known, nodes), "a torn snapshot"
            assert beliefs >= nodes >= seen, "something vanished"
            if looks % 20 == 0:
                verified = memory.verify()
                assert verified.ok, verified.damage[:3]
            seen, looks = nodes, looks + 1
            time.sleep(0.01)
    say(looks)


def open_(path: str) -> None:
    """Opens at the common signal, and writes one note."""
    say("ready")
    sys.stdin.readline()
    with Memory.open(path, QUICK) as memory:
        say(memory.note("learning", f"from {os.getpid()}", "hello").id)


def facts(path: str, name: str) -> None:
    """Events with facts; acknowledged ones are printed with their number."""
    with Memory.open(path, Config(lock_seconds=60, embedder="none")) as memory:
        memory.register(Predicate("lives_in", functional=True))
        memory.remember("Everything is loaded before anything counts.", dry_run=True)
        say("ready")
        number = 0
        while True:
            given = [Fact(name, "lives_in", f"town {number}"), Fact(name, "saw", f"sight {number}")]
            receipt = memory.remember(
                f"{name} moved to town {number}", facts=given, said_at=number * 1_000_000, speaker=name
            )
            say(receipt.id, number)
            number += 1


def load(path: str, count: str) -> None:
    """Batches, each a world with notes and links in it."""
    with Memory.open(path, QUICK) as memory:
        say("ready")
        batch = 0
        while True:
            notes = [Note("project", f"batch {batch}")]
            notes += [
                Note("learning", f"note {batch}/{n}", "text " * 20, inside=0) for n in range(int(count))
            ]
            receipt = memory.load(notes, [Link(n, "relates_to", n + 1) for n in range(1, int(count))])
            say(batch, receipt.ids[0])
            batch += 1


def sleep(path: str) -> None:
    """One night, a line for each pass that is begun."""
    with Memory.open(path, QUICK, embedder=HashEmbedder()) as memory:
        say("ready")
        memory.consolidate(progress=lambda name, done, of: say(name))
    sys.stdin.read()


def tryout(path: str) -> None:
    """What happens to a caller without rights: each step with its outcome."""
    with Memory.open(":memory:") as warm:
        warm.note("learning", "imports", "done while they may be read")
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        memory = Memory.open(path)
        say("opened")
        say("listed", len(memory.list().items))
        memory.note("learning", "may I?", "write")
        say("written")
    except WorldlineError as error:
        say(type(error).__name__, error)


def killed_after(child: subprocess.Popen[str], seconds: float) -> list[str]:
    """Lets a child run, kills it with SIGKILL, and returns the whole lines it had printed."""
    lines: list[str] = []
    assert child.stdout is not None
    reader = threading.Thread(target=lambda: lines.extend(child.stdout or ()), daemon=True)
    reader.start()
    deadline = time.monotonic() + 60
    while not lines and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.002)
    time.sleep(seconds)
    assert child.poll() is None, child.stderr.read() if child.stderr else ""
    child.kill()
    child.wait()
    reader.join()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    return [line.rstrip("\n") for line in lines if line.endswith("\n") and line != "ready\n"]


COMMANDS = {
    "write": write,
    "share": share,
    "read": read,
    "open": open_,
    "facts": facts,
    "load": load,
    "sleep": sleep,
    "tryout": tryout,
}

if __name__ == "__main__":
    COMMANDS[Path(sys.argv[1]).name](*sys.argv[2:])
