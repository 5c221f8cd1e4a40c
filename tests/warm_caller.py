"""Asks a template of warm.py for a process, and is its stand-in: same streams, same signals, same end."""

import os
import signal
import socket
import sys

_PASSED = (signal.SIGTERM, signal.SIGINT)


def main() -> None:
    """Passes arguments, folder, environment and streams on; signals too; ends as the process ends.

    Signals that come before there is a process to pass them on to wait for it.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    args = sys.argv[2:]
    environ = [f"{name}={value}" for name, value in os.environ.items()]
    told = "\0".join([os.getcwd(), str(len(args)), *args, *environ]) + "\0\0"
    data = told.encode("utf-8", "surrogateescape")
    sent = socket.send_fds(connection, [data], [0, 1, 2])
    connection.sendall(data[sent:])
    answers = connection.makefile("rb")
    pid = int(answers.readline())
    for name in _PASSED:
        signal.signal(name, lambda number, _: os.kill(pid, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED)
    for number in (0, 1, 2):
        os.close(number)
    ended = int(answers.readline() or b"1")
    if ended < 0:
        if -ended != signal.SIGKILL:
            signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    os._exit(ended)


if __name__ == "__main__":
    main()
