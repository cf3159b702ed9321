"""Children without another way out: takes the proxy into their namespaces, and says how they are started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.log import get_logger
from forebay.runner.spec import Network
from forebay.services.egress.folders import PrivateFolder
from forebay.services.egress.proxy import HOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.services.egress.proxy import Proxy

log = get_logger("egress")
_LAUNCHER = Path(__file__).with_name("confine.py")
_PATIENCE = 5.0  # seconds for a launcher to hand its socket over
_PROBE_S = 20.0


def why_not_confined() -> str | None:
    """Why children cannot be confined on this machine, found out by trying; None when they can."""
    if sys.platform != "linux":
        return "only Linux has network namespaces"
    try:
        tried = subprocess.run(
            [*_python(), str(_LAUNCHER), "--probe"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PROBE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = tried.stderr.strip().rpartition("\n")[2].removeprefix("confine: ")
    return None if tried.returncode == 0 else said or f"the launcher ended with {tried.returncode}"


class Confinement:
    """Serves the namespaces of confined children for as long as these live."""

    def __init__(self, proxy: Proxy, *, is_confining: bool) -> None:
        self._proxy = proxy
        self.is_confining = is_confining
        self._private = PrivateFolder()
        self.folder = self._private.path
        self._handover: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._taking: set[asyncio.Task[None]] = set()
        self._children: dict[int, asyncio.Server] = {}  # by the descriptor that tells of a child's end

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
        """How many confined children live."""
        return len(self._children)

    def network(self) -> Network:
        """The same for a sandbox of the runner."""
        return Network(str(self.folder / "handover"), self._proxy.port)

    def confined(self, argv: Sequence[str], user: tuple[int, int] | None = None) -> list[str]:
        """The command that runs `argv` with no way out but the proxy, as far as the kernel allows."""
        handover = ["--port", str(self._proxy.port), "--handover", str(self.folder / "handover")]
        options = handover if self.is_confining else ["--open"]
        if user is not None:
            options = [*options, "--user", f"{user[0]}:{user[1]}"]
        return [*_python(), str(_LAUNCHER), *options, "--", *argv]

    async def _accept(self, handover: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            sock, _ = await loop.sock_accept(handover)
            task = loop.create_task(self._take_over(sock))
            self._taking.add(task)
            task.add_done_callback(self._taking.discard)

    async def _take_over(self, sock: socket.socket) -> None:
        """Serve the socket that a launcher hands over, until the program that it becomes has ended."""
        with sock:
            try:
                async with asyncio.timeout(_PATIENCE):
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
    """The listening socket that comes over a Unix socket.

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
        raise OSError("the launcher ended before it had handed its socket over")
    listener = socket.socket(fileno=descriptors[0])
    with contextlib.ExitStack() as on_error:
        on_error.callback(listener.close)
        if listener.family != socket.AF_INET or not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            raise OSError("the launcher handed something over that does not listen")
        if listener.getsockname()[0] != HOST:
            raise OSError("the launcher handed over a socket of another address")
        listener.setblocking(False)
        on_error.pop_all()
    return listener


def _pid_of(sock: socket.socket) -> int:
    """The process at the other end of a Unix socket; it stays the same when it becomes another program."""
    size = struct.calcsize("3i")
    return int(struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0])


def _python() -> list[str]:
    """Our Python without site packages and settings from the environment, which cost time and may mislead it."""
    return [sys.executable, "-I", "-S"]
