"""The last steps into a sandbox: let the proxy in, change the account, give up all rights, then serve or exec.

Called in the fork of a guard where namespaces are our own, run as a script within bubblewrap. Standard library only:

    launch.py SPEC UID HANDOVER      UID 0 for "as it is"; HANDOVER is a connected socket, or -1
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
_HIGH = 100  # above every descriptor that a program is given
_COUNTS_BY_NAMESPACE = (5, 14)  # the kernel that counts the processes of each user namespace apart


def main(text: str, uid: str, handover: str) -> int:
    spec = Spec.load(text)
    try:
        seal(spec, int(uid), int(handover))
    except (OSError, Forbidden) as error:
        print(f"sandbox: {error}", file=sys.stderr)  # noqa: T201 - all that it can do
        return 1
    return run(spec)


def seal(spec: Spec, uid: int, handover: int) -> None:
    """Give up what could lead out, for good."""
    sandbox = spec.sandbox
    if sandbox is None:
        raise ValueError("there is no sandbox to seal")
    network = sandbox.network
    if isinstance(network, Network):
        _let_proxy_in(network.port, handover)
    limit(spec)
    drop_bounding()
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    clear_capabilities()
    filter_calls(sandbox)


def _let_proxy_in(port: int, handover: int) -> None:
    """Listen where the proxy is for everybody else, and hand that socket to it."""
    with socket.socket(fileno=handover) as proxy:
        with socket.create_server((_HOST, port), backlog=256) as listener:
            socket.send_fds(proxy, [b"l"], [listener.fileno()])
        if proxy.recv(1) != b"k":  # else the program would find nobody there
            raise Forbidden("the egress proxy did not take the socket over")


def limit(spec: Spec) -> None:
    """The limits that the kernel keeps by itself; the guard watches memory and time of the whole tree."""
    limits = spec.limits
    # Wide, as it counts memory that is never touched, too: for what grows faster than the guard looks.
    _at_most(resource.RLIMIT_DATA, 2 * limits.memory_mb * MB + 512 * MB)
    _at_most(resource.RLIMIT_CORE, 0)
    if limits.file_mb is not None:
        _at_most(resource.RLIMIT_FSIZE, limits.file_mb * MB)
    if limits.open_files is not None:
        _at_most(resource.RLIMIT_NOFILE, limits.open_files)
    if limits.processes is not None and spec.sandbox is not None and _counts_alone(spec.sandbox):
        _at_most(resource.RLIMIT_NPROC, limits.processes)


def _counts_alone(sandbox: Sandbox) -> bool:
    """Whether nobody else's processes and threads count against the limit of this sandbox."""
    kernel = tuple(int(part) for part in os.uname().release.split(".")[:2] if part.isdecimal())
    return sandbox.uid_base is not None or (sandbox.is_walled and kernel >= _COUNTS_BY_NAMESPACE)


def _at_most(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(what, (most, most))


def run(spec: Spec) -> int:
    """Serve, or become the program."""
    if spec.module:
        signal.signal(signal.SIGTERM, _ignore)  # a handler, because programs would inherit "ignored"
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.register_at_fork(after_in_child=_obey_sigterm)
        sockets = [socket.socket(fileno=fd) for fd in spec.descriptors]
        for each in sockets:
            each.set_inheritable(False)
        importlib.import_module(spec.module).serve(*sockets)
        return 0
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # Python and the guard ignore these, and programs would inherit that
    _place(spec.descriptors)
    try:
        os.execvp(spec.argv[0], spec.argv)  # noqa: S606 - a list, and the caller's own
    except OSError as error:
        print(f"{spec.argv[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201
        return 127


def _place(descriptors: list[int]) -> None:
    """Give a program its descriptors from 3 on, and no others."""
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, _HIGH) for fd in descriptors]
    os.closerange(3, _HIGH)
    for fd, each in enumerate(high, 3):
        os.dup2(each, fd)
    close_from(3 + len(high))


def _ignore(_number: int, _frame: object) -> None:
    pass


def _obey_sigterm() -> None:
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
