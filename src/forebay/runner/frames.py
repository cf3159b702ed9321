"""Frames between a pool and its children: a kind (one byte), a size (eight bytes) and a body. Standard library only.

Bodies to the child are pickles, except the first one, which is JSON: it contains the module search path. Bodies to the
pool are only data, see `codec.py`.
"""

from __future__ import annotations

import socket
import struct
import sys
import threading
from dataclasses import dataclass

HEAD = struct.Struct("!cQ")
HELLO, FILES, CALL, CANCEL = b"h", b"f", b"c", b"x"  # from the pool
READY, UNREADY, STARTED, PROGRESS = b"y", b"n", b"s", b"p"
RESULT, UNSENDABLE, ERROR, OUT_OF_MEMORY, OVERRUN = b"r", b"u", b"e", b"m", b"o"
SMALL = 1 << 20  # maximum bytes of a frame that is not a result
MAIN_ALIAS = "__forebay_main__"  # name of the pool's `__main__` in the child, so that its main block does not run


@dataclass(frozen=True, slots=True)
class Hello:
    """What a new process needs to find its function."""

    path: list[str]
    prefix: str
    app_modules: list[str]
    module: str
    package: str | None
    file: str | None
    qualname: str
    label: str  # name of the step or function
    max_bytes: int
    adapter: str  # a module that finds the function and creates its first argument; "" for a plain function
    keeps_threads: bool = True  # false: the process ends after a call that left threads running


class Channel:
    """The child's end of the connection to its pool."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._sending = threading.Lock()
        self.max_bytes = sys.maxsize

    def send(self, kind: bytes, body: bytes = b"") -> None:
        with self._sending:
            self._sock.sendall(HEAD.pack(kind, len(body)))
            self._sock.sendall(body)

    def receive(self) -> tuple[bytes, bytes] | None:
        """The next frame, or None if the pool has closed the connection."""
        head = self._exactly(HEAD.size)
        if head is None:
            return None
        kind, size = HEAD.unpack(head)
        body = self._exactly(size)
        return None if body is None else (kind, body)

    def has_input(self) -> bool:
        """Whether the task was cancelled: while a task runs, the pool writes or closes only to cancel it."""
        try:
            self._sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        return True

    def _exactly(self, size: int) -> bytes | None:
        data = bytearray(size)
        view, have = memoryview(data), 0
        while have < size:
            got = self._sock.recv_into(view[have:])
            if got == 0:
                return None
            have += got
        return bytes(data)
