"""A warm process is a process like any other: its streams, folder, environment, signals and end are its own."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import warm

PROGRAM = """
import os, sys, threading
print(os.getcwd(), os.environ.get("WHO"), sys.argv[1:], sys.stdin.read())
threading.Timer(0.05, lambda: print("late")).start()
print("told", file=sys.stderr)
"""


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise SystemExit('no')", "1 / 0"])
def test_it_runs_and_ends_as_a_cold_one_does(tmp_path: Path, end: str) -> None:
    """The same program prints the same and ends the same, started either way."""
    cold, forked = (
        subprocess.run(
            [*python, "-c", PROGRAM + end, "a b", "ü"], input="given", capture_output=True, text=True, check=False,
            cwd=tmp_path, env={**os.environ, "WHO": "Ana", "PYTHONIOENCODING": "utf-8"},
        )
        for python in ([sys.executable], warm.python())
    )  # fmt: skip

    assert (forked.stdout, forked.returncode) == (cold.stdout, cold.returncode)
    assert forked.stdout.split("\n") == [f"{tmp_path} Ana ['a b', 'ü'] given", "late", ""]
    assert forked.stderr.splitlines()[-1] == cold.stderr.splitlines()[-1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_signals_reach_it(number: signal.Signals) -> None:
    """Whichever way it is ended, it ends, at once, and its parent is told how."""
    program = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    child = subprocess.Popen(
        [*warm.python(), "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with child:
        assert child.stdout is not None
        pid = int(child.stdout.readline())
        child.send_signal(number)
        assert child.stdout.read() == ""
        assert child.wait(10) == -number
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_caller_that_goes_unheard_ends_nobody_else() -> None:
    """One that is gone before it read which process it has takes that along, and the next one is served."""
    address = warm.python()[-1]
    with socket.socket(socket.AF_UNIX) as connection, open(os.devnull, "r+b") as nothing:
        connection.connect(address)
        told = "\0".join([os.getcwd(), "2", "-c", "import time; time.sleep(60)"]) + "\0\0"
        socket.send_fds(connection, [told.encode()], [nothing.fileno()] * 3)
        assert select.select([connection], [], [], 10)[0], "told which process it has"

    done = subprocess.run(
        [*warm.python(), "-c", "print('here')"], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.returncode) == ("here\n", 0)
