"""Commands as forks of one process that has imported everything: as apart as processes are, but begun at once.

The server hands each request to a watcher, which forks the command, tells its number, and in the end how it ended. When
nobody is left to be told, the watcher kills the command.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from forebay import packages
from forebay.identity import secrets
from tests._passwords import QUICK

ROOT = Path(__file__).parents[2]
_NUMBER = struct.Struct("!i")

# What commands import when they need it.
_IMPORTED_LATE = (
    "forebay.api.app",
    "forebay.identity.accounts",
    "forebay.services.browser.browser",
    "forebay.services.egress.confinement",
    "forebay.services.egress.pools",
    "rich.table",
    "structlog",
)


class Forked:
    """A command that was started."""

    def __init__(self, args: tuple[str, ...], folder: Path, env: dict[str, str], files: tuple[int, int, int]) -> None:
        self.code: int | None = None
        self._watcher = socket.socket(socket.AF_UNIX)
        self._watcher.connect(_server())
        request = json.dumps({"args": args, "folder": str(folder), "path": str(folder), "env": env}).encode()
        socket.send_fds(self._watcher, [_NUMBER.pack(len(request))], list(files))
        self._watcher.sendall(request)
        [pid] = _NUMBER.unpack(_exactly(self._watcher, _NUMBER.size))
        self.pid = int(pid)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, as `subprocess` has it.

        Raises: TimeoutError.
        """
        if self.code is not None:
            return self.code
        self._watcher.settimeout(timeout)
        [code] = _NUMBER.unpack(_exactly(self._watcher, _NUMBER.size))
        self._watcher.close()
        self.code = int(code)
        return self.code

    def has_ended(self) -> bool:
        return self.code is not None or bool(select.select([self._watcher], [], [], 0)[0])

    def send_signal(self, number: int) -> None:
        """Nothing happens to one that has ended, which may be known here only a moment later."""
        if not self.has_ended():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _exactly(source: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = source.recv(size - len(data))
        assert piece, "the process that forks commands has ended"
        data += piece
    return data


@cache
def program_folder() -> Path:
    """A folder for PATH with a `forebay` that has its commands forked."""
    program = Path(_server()).with_name("bin") / "forebay"
    program.parent.mkdir()
    client = shlex.join([sys.executable, "-IS", str(Path(__file__).with_name("_client.py")), _server()])
    program.write_text(f'#!/bin/sh\nexec {client} "$@"\n')
    program.chmod(0o755)
    return program.parent


@cache
def _server() -> str:
    """The address of this test process's server, which ends when its standard input does."""
    folder = Path(tempfile.mkdtemp(prefix="forebay-forks-"))
    place = str(folder / "socket")
    command = [sys.executable, "-m", "tests.cli._forks", place]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdout as said:
        assert said.readline() == b"ready\n"

    def end() -> None:
        process.communicate()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return place


# In the server.


def _serve(place: str) -> list[str]:
    """Returns in the processes that are to run a command, with its arguments; and nowhere else."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(64)
        _preload()
        os.write(1, b"ready\n")
        while True:
            _bury()
            ready, _, _ = select.select([listener.fileno(), 0], [], [])
            if 0 in ready:
                _bury()
                raise SystemExit
            request, _ = listener.accept()
            if os.fork() == 0:
                break
            request.close()
    return _watched(request)


def _bury() -> None:
    """Watchers that have ended are not kept."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _preload() -> None:
    source = ROOT / "src"
    files = (*(source / "forebay" / "cli").glob("*.py"), *(source / "forebay" / "pipelines").rglob("*.py"))
    modules = (".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__") for file in files)
    for name in (*modules, *_IMPORTED_LATE):
        import_module(name)
    secrets._passwords = QUICK  # pyright: ignore[reportPrivateUsage]
    packages._registry.cache_clear()  # pyright: ignore[reportPrivateUsage] - a command finds its own packages
    gc.freeze()


def _watched(request: socket.socket) -> list[str]:
    told, files, _, _ = socket.recv_fds(request, _NUMBER.size, 3)
    asked: dict[str, Any] = json.loads(_exactly(request, *_NUMBER.unpack(told)))
    pid = os.fork()
    if pid:
        _watch(request, pid)
    request.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.setsid()
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["folder"])
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where the tests run with nohup
    sys.path[0] = asked["path"]
    return list(asked["args"])


def _watch(request: socket.socket, pid: int) -> NoReturn:
    with suppress(OSError):
        request.sendall(_NUMBER.pack(pid))
        ended = os.pidfd_open(pid)
        if ended not in select.select([request.fileno(), ended], [], [])[0]:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        request.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(status)))
    os._exit(0)


def _run() -> int:
    """Run the command; its exit code. What else it raises ends the process as usual."""
    try:
        runpy.run_module("forebay", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    return 0


def _end(code: int) -> NoReturn:
    """All that a process does at its end but one: to take apart the modules, which copies the memory that it shares
    with the server, and took as long as a short command."""
    threading._shutdown()  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # which says so
    os._exit(code)


if __name__ == "__main__":
    sys.argv = ["forebay", *_serve(sys.argv[1])]
    _end(_run())
