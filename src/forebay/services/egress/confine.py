"""Runs a program in a network that holds nothing but the egress proxy: the launcher of confined children.

Run as a script, on the standard library alone, so that it starts in a few milliseconds; then it becomes the program.

    python confine.py --port 41231 --handover /run/…/handover [--user 1000:1000] -- curl https://example.com/
    python confine.py --open -- curl …       without a namespace, where the kernel allows none
    python confine.py --probe                whether it allows one: says why not, and exits with 1

A new network namespace has no way out at all. A socket that listens in it, at the proxy's own address, is handed to
the proxy outside, which accepts there from then on: for the program the proxy is where it is for everybody else.
The user namespace is what makes it final: root in there has no rights over the network outside, nor a way back.
A mount namespace hides the services of this machine that listen in /run, of which some resolve names or start programs.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import errno
import fcntl
import os
import shutil
import signal
import socket
import stat
import struct
import sys
from pathlib import Path

_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
_MS_NOSUID_NODEV_NOEXEC, _MS_BIND, _MS_REC, _MS_PRIVATE = 2 | 4 | 8, 1 << 12, 1 << 14, 1 << 18
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 22, 24, 38, 47
_AMBIENT_CLEAR_ALL = 4
_KEPT_CAPABILITIES = range(8)  # about files, signals and ids; all others can change the network, or the machine
_CAPABILITIES = range(64)
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
_HOST = "127.0.0.1"

_libc = ctypes.CDLL(None, use_errno=True)


class Forbidden(Exception):
    """The kernel does not allow it."""


def main() -> int:
    options = _options()
    parent = os.getppid()
    try:
        if options.probe:
            _probe()
            return 0
        if not options.open:
            _enter(options.port, options.handover)
            _hide_services([options.handover, *options.argv])
        if options.user:
            _become(*map(int, options.user.split(":")))
        _seal(parent)
        _restore_signals()
    except (OSError, Forbidden) as error:
        print(f"confine: {error}", file=sys.stderr)  # noqa: T201 - all that it can do
        return 1
    try:
        os.execvp(options.argv[0], options.argv)  # noqa: S606 - becoming the program is the point
    except OSError as error:
        print(f"confine: {options.argv[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201
        return 127 if error.errno == errno.ENOENT else 126


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="confine")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--handover", default="")
    parser.add_argument("--user", default="", help="uid:gid to run as; root only")
    parser.add_argument("--open", action="store_true", help="no namespace")
    parser.add_argument("--probe", action="store_true", help="only say whether the kernel allows it")
    parser.add_argument("argv", nargs="*")
    options = parser.parse_args()
    if not options.argv and not options.probe:
        parser.error("give the program to run after --")
    return options


def _enter(port: int, handover: str) -> None:
    """Go into the namespace, and let the proxy in, too."""
    with socket.socket(socket.AF_UNIX) as proxy:
        proxy.connect(handover)
        unshare()
        _raise_loopback()
        with socket.create_server((_HOST, port), backlog=256) as listener:
            socket.send_fds(proxy, [b"l"], [listener.fileno()])
        if proxy.recv(1) != b"k":  # else the program would find nobody there
            raise Forbidden("the egress proxy did not take the socket over")


def _probe() -> None:
    os.close(os.pidfd_open(os.getpid()))  # by which the proxy learns that a child has ended
    unshare()
    _raise_loopback()
    socket.create_server((_HOST, 0)).close()


def unshare() -> None:
    """A new network namespace, in a user namespace of its own; root can do without the latter, if it must."""
    uid, gid = os.geteuid(), os.getegid()
    helper = _Helper({name: _identity(name) for name in ("uid_map", "gid_map")}) if uid == 0 else None
    try:
        _call("unshare", _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWNS))
    except OSError as error:
        if helper is None:
            raise Forbidden(f"no user namespaces for this account ({error.strerror})") from None
        helper.dismiss()
        _unshare_network_alone()
        return
    if helper is None or not helper.write():
        _map_only(uid, gid)


def _identity(name: str) -> str:
    """A map in which every id that we know is itself."""
    lines = [line.split() for line in Path("/proc/self", name).read_text("ascii").splitlines()]
    return "".join(f"{inside} {inside} {count}\n" for inside, _, count in lines)


class _Helper:
    """A process that stays outside, where it has the right to map all ids into the new namespace."""

    def __init__(self, maps: dict[str, str]) -> None:
        reading, self._writing = os.pipe()
        owner = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._writing)
            code = 1
            with contextlib.suppress(OSError):
                if os.read(reading, 1):
                    for name, text in maps.items():
                        Path(f"/proc/{owner}", name).write_text(text, "ascii")
                    code = 0
            os._exit(code)
        os.close(reading)

    def write(self) -> bool:
        """Have the maps written; whether that was allowed."""
        os.write(self._writing, b"w")
        return self.dismiss()

    def dismiss(self) -> bool:
        os.close(self._writing)
        return os.waitpid(self._pid, 0)[1] == 0


def _map_only(uid: int, gid: int) -> None:
    """The own ids alone, which everybody may do."""
    with contextlib.suppress(FileNotFoundError):
        Path("/proc/self/setgroups").write_text("deny", "ascii")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", "ascii")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", "ascii")


def _unshare_network_alone() -> None:
    try:
        _call("unshare", _libc.unshare(_CLONE_NEWNET | _CLONE_NEWNS))
    except OSError as error:
        raise Forbidden(f"neither user nor network namespaces for root ({error.strerror})") from None


def _raise_loopback() -> None:
    """Bring lo up: it is there in a new namespace, but down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sH22x", b"lo", 0)
        flags = struct.unpack("16sH22x", fcntl.ioctl(sock, _SIOCGIFFLAGS, request))[1]
        try:
            fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | _IFF_UP))
        except PermissionError:
            raise Forbidden("user namespaces have no rights here (AppArmor restricts them?)") from None


def _hide_services(needed: list[str]) -> None:
    """Put something empty over what is in /run, but for what the program needs; as far as that is allowed."""
    if _libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return  # without this the whole machine would lose them
    variables = [os.environ.get(name, "") for name in ("HOME", "TMPDIR")]
    found = shutil.which(needed[1]) or ""
    kept = {os.path.realpath(path) for path in (str(Path.cwd()), *needed, *variables, found) if path.startswith("/")}
    for folder in {os.path.realpath(path) for path in ("/run", "/var/run")}:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if not any(f"{path}/".startswith(f"{entry.path}/") for path in kept):
                    _hide(entry)


def _hide(entry: os.DirEntry[str]) -> None:
    """Links stay: some systems have their programs behind them."""
    target = os.fsencode(entry.path)
    if entry.is_dir(follow_symlinks=False):
        _libc.mount(b"none", target, b"tmpfs", _MS_NOSUID_NODEV_NOEXEC, b"size=64k,mode=755")
    elif stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
        _libc.mount(b"/dev/null", target, None, _MS_BIND, None)


def _become(uid: int, gid: int) -> None:
    """Be somebody else from here on; only root can."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


# What the program must not get back.


def _seal(parent: int) -> None:
    """Give up what could lead out, for good, and end with the parent; after all changes of ids, which undo that."""
    _call("prctl", _libc.prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0))
    for capability in set(_CAPABILITIES) - set(_KEPT_CAPABILITIES):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # allowed for root only, who alone would have it
    _clear_inheritable()
    _call("prctl", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _filter_sockets()
    _call("prctl", _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    if os.getppid() != parent:
        os._exit(1)  # it ended before it could be heard


def _clear_inheritable() -> None:
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    _call("capget", _libc.capget(header, sets))
    sets[2] = sets[5] = 0
    _call("capset", _libc.capset(header, sets))


def _filter_sockets() -> None:
    """Only kinds of sockets that belong to a namespace: a virtual machine's vsock, for one, reaches its host."""
    known = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}.get(os.uname().machine)
    if known is None:
        return
    arch, socket_call = known
    io_uring_setup, no_family, no_call = 425, 0x00050000 | errno.EAFNOSUPPORT, 0x00050000 | errno.ENOSYS
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    families = len(_FAMILIES)
    program = [
        (load, 0, 0, 4),  # the architecture: another one has other numbers
        (equal, 1, 0, arch),
        (give, 0, 0, no_call),
        (load, 0, 0, 0),  # the number of the call
        (at_least, 0, 1, 0x40000000),  # x32, which has others again
        (give, 0, 0, no_call),
        (equal, 0, 1, io_uring_setup),  # it makes sockets, too, without being asked here
        (give, 0, 0, no_call),
        (equal, 0, families + 2, socket_call),
        (load, 0, 0, 16),  # its first argument
        *((equal, families - n, 0, family) for n, family in enumerate(_FAMILIES)),
        (give, 0, 0, no_family),
        (give, 0, 0, 0x7FFF0000),
    ]
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    fprog = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    holder = ctypes.create_string_buffer(fprog, len(fprog))
    _call("seccomp", _libc.prctl(_PR_SET_SECCOMP, 2, ctypes.c_void_p(ctypes.addressof(holder)), 0, 0))


def _restore_signals() -> None:
    """Python ignores these, and programs would inherit that."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def _call(name: str, result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    sys.exit(main())
