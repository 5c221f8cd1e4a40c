"""Processes that need not start cold: forked from one that has loaded everything already.

`[*warm.python(), "-m", "worldline", ...]` stands for `[sys.executable, "-m", "worldline", ...]`: a process of
its own with its own arguments, environment, folder and standard streams, which ends and dies like any other.
It saves the seconds of CPU that importing the package and loading the parser take. Each surface keeps a test
whose process starts cold, by `sys.executable`; use this one wherever the start is not what is tested.

The template is started once for each process of pytest, and ends with it.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import os
import random
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

CALLER = Path(__file__).with_name("warm_caller.py")
_TOLD = "template.sock"
_LOADED = (
    *("mcp.server", "psycopg", "uvicorn"),
    *(f"worldline.surfaces.{name}" for name in ("cli", "mcp_server", "serving", "rest")),
)


@cache
def python() -> list[str]:
    """The words of a command line that stand for the interpreter."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    ours, theirs = socket.socketpair()
    template = subprocess.Popen(
        [sys.executable, __file__, str(folder / _TOLD), str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},  # none to be lost in a fork
    )
    theirs.close()
    ours.settimeout(120)
    assert ours.recv(1) == b"!", "the template of warm processes did not start"
    atexit.register(_ended, template, ours, folder)
    return [sys.executable, "-I", "-S", str(CALLER), str(folder / _TOLD)]


def _ended(template: subprocess.Popen[bytes], lifeline: socket.socket, folder: Path) -> None:
    lifeline.close()
    template.wait(20)
    shutil.rmtree(folder, ignore_errors=True)


# The template --------------------------------------------------------------------------------------


def _warm_up() -> None:
    """Loads what processes of the tests use, and leaves neither a thread nor an open store behind."""
    for name in _LOADED:
        importlib.import_module(name)
    from worldline import Config, Memory
    from worldline.testing import HashEmbedder

    with Memory.open(":memory:", Config(embedder="none"), embedder=HashEmbedder()) as memory:
        memory.remember("My sister Rosa moved to Lisbon last week.", speaker="Ana", said_at="2026-01-02")
        memory.recall("Where does my sister live?")
        memory.consolidate()
    assert threading.active_count() == 1, "a process with threads is not to be forked"
    gc.collect()
    gc.freeze()


class _Template:
    """Forks a process for each caller, passes signals on, and tells each caller how its process ended."""

    def __init__(self, address: str, lifeline: socket.socket) -> None:
        self._callers: dict[int, socket.socket] = {}
        self._lifeline, self._door = lifeline, socket.socket(socket.AF_UNIX)
        self._door.bind(address)
        self._door.listen(64)
        self._woken, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        self._events = selectors.DefaultSelector()
        for ready in (self._lifeline, self._door, self._woken):
            self._events.register(ready, selectors.EVENT_READ)
        lifeline.sendall(b"!")

    def run(self) -> dict[str, Any] | None:
        """Until the tests end: None; in a forked process: what that one is to do."""
        while True:
            for key, _ in self._events.select():
                if key.fileobj is self._lifeline:
                    return self._end()
                if key.fileobj is self._woken:
                    self._woken.recv(4096)
                    self._reap()
                elif key.fileobj is self._door:
                    if asked := self._begin(self._door.accept()[0]):
                        return asked
                else:
                    self._hear(key.data)

    def _begin(self, caller: socket.socket) -> dict[str, Any] | None:
        parts, descriptors = [], []
        while not parts or not parts[-1].endswith(b"\0\0"):
            part, more, _, _ = socket.recv_fds(caller, 1 << 16, 3)
            if not part:
                caller.close()
                return None
            parts.append(part)
            descriptors += more
        pid = os.fork()
        if pid == 0:
            for held in (
                self._door,
                self._lifeline,
                self._woken,
                self._waker,
                caller,
                *self._callers.values(),
            ):
                held.close()
            signal.set_wakeup_fd(-1)
            for name in (signal.SIGCHLD, signal.SIGTERM):
                signal.signal(name, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            folder, count, *rest = b"".join(parts)[:-2].decode("utf-8", "surrogateescape").split("\0")
            return {
                "folder": folder,
                "args": rest[: int(count)],
                "environ": rest[int(count) :],
                "open": descriptors,
            }
        for descriptor in descriptors:
            os.close(descriptor)
        self._callers[pid] = caller
        self._events.register(caller, selectors.EVENT_READ, pid)
        with contextlib.suppress(OSError):  # a caller that is gone already is heard of next
            caller.sendall(b"%d\n" % pid)
        return None

    def _hear(self, pid: int) -> None:
        """A caller that is gone takes its process along, as if that were killed itself.

        One that goes with words of ours unread resets the connection instead of closing it.
        """
        if pid not in self._callers:
            return
        try:
            gone = not self._callers[pid].recv(64)
        except OSError:
            gone = True
        if gone:
            self._events.unregister(self._callers[pid])
            os.kill(pid, signal.SIGKILL)

    def _reap(self) -> None:
        while self._callers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            caller = self._callers.pop(pid)
            with contextlib.suppress(KeyError):
                self._events.unregister(caller)
            with contextlib.suppress(OSError):
                caller.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            caller.close()

    def _end(self) -> None:
        for pid in self._callers:
            os.kill(pid, signal.SIGKILL)
        for pid in self._callers:
            os.waitpid(pid, 0)


def _become(folder: str, args: list[str], environ: list[str], opened: list[int]) -> NoReturn:
    """Is from here on the process that the caller asked for."""
    for number, descriptor in enumerate(opened):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(entry.split("=", 1) for entry in environ)
    time.tzset()
    random.seed()
    _reopen()
    code: object = 1
    try:
        _run(args)
        code = 0
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
    _leave(code)


def _reopen() -> None:
    """Standard streams as a fresh interpreter makes them."""
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    for name, number, errors in (("stdout", 1, "strict"), ("stderr", 2, "backslashreplace")):
        raw = open(number, "wb", 0 if at_once else -1, closefd=False)  # noqa: SIM115
        text = io.TextIOWrapper(
            raw, "utf-8", errors, write_through=at_once, line_buffering=number == 2 or at_once
        )
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)


def _run(args: list[str]) -> None:
    """What the interpreter does with these arguments."""
    while args[0] == "-W":
        warnings.simplefilter(args[1])  # type: ignore[arg-type]
        args = args[2:]
    del sys.path[0]  # the folder of this file
    if args[0] == "-c":
        sys.argv, sys.path[:0] = ["-c", *args[2:]], [""]
        exec(compile(args[1], "<string>", "exec"), {"__name__": "__main__"})
    elif args[0] == "-m":
        sys.argv, sys.path[:0] = args[1:], [os.getcwd()]
        runpy.run_module(args[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[:0] = args, [str(Path(args[0]).parent)]
        runpy.run_path(args[0], run_name="__main__")


def _leave(code: object) -> NoReturn:
    """As an interpreter ends, without tidying memory that goes anyway."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def _serve(address: str, lifeline: int) -> None:
    _warm_up()
    asked = _Template(address, socket.socket(fileno=lifeline)).run()
    if asked is not None:
        _become(asked["folder"], asked["args"], asked["environ"], asked["open"])


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
