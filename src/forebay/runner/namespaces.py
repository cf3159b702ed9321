"""Creates namespaces with system calls, for machines without bubblewrap: root directory, processes, network.

Standard library only, and single-threaded: it runs in the fork of a guard.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.runner import seccomp
from forebay.runner.spec import INPUTS, SCRATCH

if TYPE_CHECKING:
    from forebay.runner.spec import Sandbox

_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = (
    0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 1 << 5, 1 << 12, 1 << 14, 1 << 18
_DETACH = 2
_AT_RECURSIVE, _AT_FDCWD, _MOUNT_SETATTR = 0x8000, -100, 442
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL = 1, 24, 47, 4
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
_DEVICES = ("null", "zero", "full", "random", "urandom")
_MOST_DESCRIPTORS = 1 << 20  # the kernel's default maximum
_SHARED_MEMORY = b"size=64m,mode=1777"

_libc = ctypes.CDLL(None, use_errno=True)


class Forbidden(Exception):
    """The kernel does not allow the operation."""


def enter(sandbox: Sandbox) -> None:
    """Return in a process inside the sandbox; the calling process waits for its end, and exits with the same status."""
    os.umask(0o022)
    flags = _NEWNS | _NEWPID | _NEWIPC | _NEWUTS | (0 if sandbox.network == "host" else _NEWNET)
    unshare(flags)
    if sandbox.network != "host":
        raise_loopback()
    first = os.fork()
    if first != 0:
        _exit_like(first)
    end_with_parent()
    _make_root(sandbox)
    worker = os.fork()
    if worker != 0:
        # It has the worker's account (unless root), which could make this process do what the filter forbids.
        _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        drop_capabilities()
        filter_calls(sandbox)
        _exit_like(worker)


def unshare(flags: int) -> None:
    """Create namespaces in a new user namespace; root can do without the latter."""
    uid, gid = os.geteuid(), os.getegid()
    helper = _Helper({name: _identity(name) for name in ("uid_map", "gid_map")}) if uid == 0 else None
    try:
        call("unshare", _libc.unshare(_NEWUSER | flags))
    except OSError as error:
        if helper is None:
            raise Forbidden(f"no user namespaces for this account ({error.strerror})") from None
        helper.dismiss()
        try:
            call("unshare", _libc.unshare(flags))
        except OSError as error_without:
            raise Forbidden(f"neither user nor other namespaces for root ({error_without.strerror})") from None
        return
    if helper is None or not helper.write():
        _map_own_ids(uid, gid)


def _identity(name: str) -> str:
    """A map of every known id to itself."""
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
        """Write the maps; return whether that was allowed."""
        os.write(self._writing, b"w")
        return self.dismiss()

    def dismiss(self) -> bool:
        os.close(self._writing)
        return os.waitpid(self._pid, 0)[1] == 0


def _map_own_ids(uid: int, gid: int) -> None:
    """Map only our own ids, which every account may do."""
    with contextlib.suppress(FileNotFoundError):
        Path("/proc/self/setgroups").write_text("deny", "ascii")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", "ascii")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", "ascii")


def raise_loopback() -> None:
    """Activate lo, which is down in a new namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sH22x", b"lo", 0)
        flags = struct.unpack("16sH22x", fcntl.ioctl(sock, _SIOCGIFFLAGS, request))[1]
        try:
            fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | _IFF_UP))
        except PermissionError:
            raise Forbidden("user namespaces have no rights here (AppArmor restricts them?)") from None


# -- the new root directory -----------------------------------------------------------------------------------


def _make_root(sandbox: Sandbox) -> None:
    mount(None, "/", None, _REC | _PRIVATE)  # the following mounts are not visible outside
    root = sandbox.root
    mount("none", root, "tmpfs", _NOSUID | _NODEV, b"size=16m,mode=755")
    for folder in ("proc", "dev", SCRATCH[1:], INPUTS[1:], "run", "old"):
        Path(root, folder).mkdir()
    mount("none", f"{root}{SCRATCH}", "tmpfs", _NOSUID | _NODEV, f"size={sandbox.scratch_mb}m,mode=1777".encode())
    _make_devices(root)
    for kind, source, target in sandbox.mounts:
        place = Path(f"{root}{target}")
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            place.symlink_to(source)
        else:
            _bind(source, place, read_only=kind == "read")
    # If another /proc is partly covered, as in containers, the kernel rejects a new one; the sandbox then has none.
    _libc.mount(b"proc", os.fsencode(f"{root}/proc"), b"proc", _NOSUID | _NODEV | _NOEXEC, None)
    call("pivot_root", _libc.pivot_root(os.fsencode(root), os.fsencode(f"{root}/old")))
    os.chdir("/")
    call("umount2", _libc.umount2(b"/old", _DETACH))
    Path("/old").rmdir()
    mount("none", "/", None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV)


def _make_devices(root: str) -> None:
    mount("none", f"{root}/dev", "tmpfs", _NOSUID | _NOEXEC, b"size=64k,mode=755")
    for name in _DEVICES:
        _bind(f"/dev/{name}", Path(root, "dev", name), read_only=False)
    Path(root, "dev/fd").symlink_to("/proc/self/fd")
    shared = Path(root, "dev", "shm")
    shared.mkdir()
    mount("none", str(shared), "tmpfs", _NOSUID | _NODEV, _SHARED_MEMORY)


def _bind(source: str, place: Path, *, read_only: bool) -> None:
    if os.path.isdir(source):  # noqa: PTH112 - bind mounts follow links, too
        place.mkdir(exist_ok=True)
    elif not place.exists():  # files in an existing mount cannot be created
        place.touch()
    mount(source, str(place), None, _BIND | _REC)
    if read_only:
        _make_read_only(str(place))


def _make_read_only(place: str) -> None:
    attributes = struct.pack("QQQQ", _RDONLY | _NOSUID | _NODEV, 0, 0, 0)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    arguments = (_AT_FDCWD, os.fsencode(place), _AT_RECURSIVE, buffer, ctypes.c_size_t(len(attributes)))
    if _libc.syscall(_MOUNT_SETATTR, *arguments) == 0:
        return
    # Kernels before 5.12. Flags that are set cannot be removed in a user namespace.
    kept = os.statvfs(place).f_flag & (_NOSUID | _NODEV | _NOEXEC | 1024 | 2048 | 4096)
    mount("none", place, None, _REMOUNT | _BIND | _RDONLY | kept)


def mount(source: str | None, target: str, kind: str | None, flags: int, data: bytes | None = None) -> None:
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    try:
        call("mount", _libc.mount(*encoded, flags, data))
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} ({source} on {target})") from None


# -- end and privileges ---------------------------------------------------------------------------------------


def end_with_parent() -> None:
    parent = os.getppid()
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _exit_like(child: int) -> None:
    """Wait for a child, reap its descendants, and exit with its status; after a signal, like a shell."""
    close_from(3)
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def close_from(first: int) -> None:
    """Close all descriptors from this one on."""
    os.closerange(first, _MOST_DESCRIPTORS)


def drop_capabilities() -> None:
    """Drop all capabilities permanently."""
    drop_bounding()
    clear_capabilities()


def drop_bounding() -> None:
    """Prevent programs from regaining capabilities; allowed only for root, who alone would have them."""
    for capability in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def clear_capabilities() -> None:
    _libc.prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    call("capset", _libc.capset(header, (ctypes.c_uint32 * 6)()))


def filter_calls(sandbox: Sandbox) -> None:
    """Filter the system calls of this process and its descendants permanently."""
    call("prctl", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    seccomp.install(sandbox)


def call(name: str, result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
