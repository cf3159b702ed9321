"""The last steps into a sandbox: connect the proxy, change the account, drop all privileges, then serve or exec.

Called in the fork of a guard if we create the namespaces; run as a script in bubblewrap. Standard library only:

    launch.py SPEC UID HANDOVER      UID 0: keep the account; HANDOVER: a connected socket, or -1
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import os
import resource
import signal
import socket
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from forebay.runner.namespaces import Forbidden, clear_capabilities, close_from, drop_bounding, filter_calls
from forebay.runner.spec import Network, Sandbox, Spec

MB = 1 << 20
_HOST = "127.0.0.1"
_HIGH = 100  # above all descriptors that are passed to a program
_COUNTS_BY_NAMESPACE = (5, 14)  # first kernel that counts processes per user namespace


def main(text: str, uid: str, handover: str) -> int:
    spec = Spec.load(text)
    try:
        seal(spec, int(uid), int(handover))
    except (OSError, Forbidden) as error:
        print(f"sandbox: {error}", file=sys.stderr)  # noqa: T201 - there is no logger
        return 1
    return run(spec)


def seal(spec: Spec, uid: int, handover: int) -> None:
    """Drop permanently everything that could be used to leave the sandbox."""
    sandbox = spec.sandbox
    if sandbox is None:
        raise ValueError("the specification has no sandbox")
    network = sandbox.network
    if isinstance(network, Network):
        _connect_proxy(network.port, handover)
    limit(spec)
    drop_bounding()
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    clear_capabilities()
    filter_calls(sandbox)


def _connect_proxy(port: int, handover: int) -> None:
    """Listen on the proxy's usual address, and pass that socket to the proxy."""
    with socket.socket(fileno=handover) as proxy:
        with socket.create_server((_HOST, port), backlog=256) as listener:
            socket.send_fds(proxy, [b"l"], [listener.fileno()])
        if proxy.recv(1) != b"k":  # otherwise the program could not connect
            raise Forbidden("the egress proxy did not accept the socket")


def limit(spec: Spec) -> None:
    """Set the limits that the kernel enforces; the guard watches memory and time of the whole tree."""
    limits = spec.limits
    # Generous, because it also counts untouched memory: for allocations that grow faster than the guard measures.
    _at_most(resource.RLIMIT_DATA, 2 * limits.memory_mb * MB + 512 * MB)
    _at_most(resource.RLIMIT_CORE, 0)
    if limits.file_mb is not None:
        _at_most(resource.RLIMIT_FSIZE, limits.file_mb * MB)
    if limits.open_files is not None:
        _at_most(resource.RLIMIT_NOFILE, limits.open_files)
    if limits.processes is not None and spec.sandbox is not None and _counts_alone(spec.sandbox):
        _at_most(resource.RLIMIT_NPROC, limits.processes)


def _counts_alone(sandbox: Sandbox) -> bool:
    """Whether only the processes and threads of this sandbox count against its limit."""
    kernel = tuple(int(part) for part in os.uname().release.split(".")[:2] if part.isdecimal())
    return sandbox.uid_base is not None or (sandbox.is_isolated and kernel >= _COUNTS_BY_NAMESPACE)


def _at_most(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(what, (most, most))


def run(spec: Spec) -> int:
    """Serve, or become the program."""
    if spec.module:
        signal.signal(signal.SIGTERM, ignore_signal)  # a handler, because programs would inherit "ignored"
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.register_at_fork(after_in_child=restore_sigterm)
        sockets = [socket.socket(fileno=fd) for fd in spec.descriptors]
        for each in sockets:
            each.set_inheritable(False)
        importlib.import_module(spec.module).serve(*sockets)
        return 0
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # Python and the guard ignore these signals, and programs would inherit that.
        signal.signal(number, signal.SIG_DFL)
    _place(spec.descriptors)
    try:
        os.execvp(spec.argv[0], spec.argv)  # noqa: S606 - the caller's list, without a shell
    except OSError as error:
        print(f"{spec.argv[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201
        return 127


def _place(descriptors: list[int]) -> None:
    """Pass a program its descriptors, from 3 on, and no others."""
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, _HIGH) for fd in descriptors]
    os.closerange(3, _HIGH)
    for fd, each in enumerate(high, 3):
        os.dup2(each, fd)
    close_from(3 + len(high))


def ignore_signal(_number: int, _frame: object) -> None:
    pass


def restore_sigterm() -> None:
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
