"""Lets sandboxed programs use the network through the proxy only.

A new network namespace has no connections. The runner opens a listening socket in it, at the address of the proxy, and
passes it to the proxy outside, which accepts connections on it: the program sees the proxy at its usual address.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from typing import TYPE_CHECKING

from forebay.log import get_logger
from forebay.runner.availability import available
from forebay.runner.spec import Network
from forebay.services.egress.folders import PrivateFolder
from forebay.services.egress.proxy import HOST

if TYPE_CHECKING:
    from forebay.services.egress.proxy import Proxy

log = get_logger("egress")
_TIMEOUT_S = 5.0  # seconds for the runner to pass its socket


def why_not_confined() -> str | None:
    """Why programs cannot be confined on this machine, found out by trying; None if they can."""
    found = available()
    if found.method is None:
        return found.because
    try:
        os.close(os.pidfd_open(os.getpid()))  # tells the proxy when a program has ended
    except OSError as error:
        return f"pidfd_open: {error.strerror}"
    return None


class Confinement:
    """Serves the network namespaces of confined programs until they end."""

    def __init__(self, proxy: Proxy, *, is_confining: bool) -> None:
        self._proxy = proxy
        self.is_confining = is_confining
        self._private = PrivateFolder()
        self.folder = self._private.path
        self._handover: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._taking: set[asyncio.Task[None]] = set()
        self._children: dict[int, asyncio.Server] = {}  # by the pidfd of the child

    def open(self) -> None:
        if self.is_confining:
            self._handover = socket.socket(socket.AF_UNIX)
            self._handover.bind(str(self.folder / "handover"))
            self._handover.listen(128)
            self._handover.setblocking(False)
            self._accepting = asyncio.get_running_loop().create_task(self._accept(self._handover))

    async def close(self) -> None:
        for task in filter(None, [self._accepting, *self._taking]):
            task.cancel()
        await asyncio.gather(*filter(None, [self._accepting, *self._taking]), return_exceptions=True)
        for pidfd in tuple(self._children):
            self._forget(pidfd)
        if self._handover is not None:
            self._handover.close()
        self._private.close()

    @property
    def children(self) -> int:
        """The number of confined programs."""
        return len(self._children)

    def network(self) -> Network:
        """The network of a sandbox that can only use the proxy."""
        return Network(str(self.folder / "handover"), self._proxy.port)

    async def _accept(self, handover: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            sock, _ = await loop.sock_accept(handover)
            task = loop.create_task(self._take_over(sock))
            self._taking.add(task)
            task.add_done_callback(self._taking.discard)

    async def _take_over(self, sock: socket.socket) -> None:
        """Accept connections on the socket that the runner passes, until the program has ended."""
        with sock:
            try:
                async with asyncio.timeout(_TIMEOUT_S):
                    listener = await _received(sock)
                server = await self._proxy.accept_on(listener)
                self._watch(_pid_of(sock), server)
                sock.send(b"k")
            except (OSError, TimeoutError) as error:
                log.warning("egress_handover_failed", error=str(error) or type(error).__name__)

    def _watch(self, pid: int, server: asyncio.Server) -> None:
        try:
            pidfd = os.pidfd_open(pid)
        except OSError:  # it has ended already
            self._proxy.stop_accepting_on(server)
            raise
        self._children[pidfd] = server
        asyncio.get_running_loop().add_reader(pidfd, self._forget, pidfd)

    def _forget(self, pidfd: int) -> None:
        asyncio.get_running_loop().remove_reader(pidfd)
        os.close(pidfd)
        self._proxy.stop_accepting_on(self._children.pop(pidfd))


async def _received(sock: socket.socket) -> socket.socket:
    """Receive the listening socket over a Unix socket.

    Raises: OSError when it is something else.
    """
    sock.setblocking(False)
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(sock, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(sock)
    _, descriptors, _, _ = socket.recv_fds(sock, 1, 1)
    if not descriptors:
        raise OSError("the runner ended before it passed its socket")
    listener = socket.socket(fileno=descriptors[0])
    with contextlib.ExitStack() as on_error:
        on_error.callback(listener.close)
        if listener.family != socket.AF_INET or not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            raise OSError("the runner passed something that is not a listening socket")
        if listener.getsockname()[0] != HOST:
            raise OSError("the runner passed a socket of another address")
        listener.setblocking(False)
        on_error.pop_all()
    return listener


def _pid_of(sock: socket.socket) -> int:
    """The process at the other end of a Unix socket; its id stays the same after exec."""
    size = struct.calcsize("3i")
    return int(struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0])
