"""The program `forebay` in shell scripts of tests: `_forks` forks the command, and this process ends when that does.

It imports little, so that it starts quickly.
"""

import json
import os
import signal
import socket
import struct
import sys

_NUMBER = struct.Struct("!i")


def main(place: str, args: list[str]) -> int:
    with socket.socket(socket.AF_UNIX) as watcher:
        watcher.connect(place)
        scripts = sys.executable.rpartition("/")[0]  # where `forebay` is when it is installed
        asked = {"args": args, "folder": os.getcwd(), "path": scripts, "env": dict(os.environ)}  # noqa: PTH109
        request = json.dumps(asked).encode()
        socket.send_fds(watcher, [_NUMBER.pack(len(request))], [0, 1, 2])
        watcher.sendall(request)
        pid = _number(watcher)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda number, _: os.kill(pid, number))
        code = _number(watcher)
    return code if code >= 0 else 128 - code


def _number(watcher: socket.socket) -> int:
    [number] = _NUMBER.unpack(watcher.recv(_NUMBER.size, socket.MSG_WAITALL))
    return int(number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
