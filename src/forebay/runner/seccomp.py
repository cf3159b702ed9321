"""A filter of system calls for sandboxed processes: denies what a parser, a browser or a downloader never needs.

It is not a complete allowlist, which would break with each new library: it denies calls that enlarge the kernel's
attack surface, calls that inspect other processes, and socket families that no namespace confines. Standard library
only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.runner.spec import Sandbox

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _GIVE = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020000  # all CLONE_NEW… flags of clone

# System call numbers on x86_64 and on aarch64.
_DENIED = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "setns": (308, 268), "quotactl": (179, 60),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89),
    "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112),
}  # fmt: skip
# Calls that Chromium needs, for its own sandbox and to share memory between its processes. Other programs could use
# them to keep memory that belongs to no process, so that it would not be counted.
_CHROMIUM = {
    "unshare": (272, 97), "chroot": (161, 51), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "shmget": (29, 194),
}  # fmt: skip
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOCAL = (socket.AF_UNIX,)
_NETWORK = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)

_INSTRUCTION = struct.Struct("HBBI")
_Instruction = tuple[int, int, int, int]


def unavailable_reason() -> str | None:
    """Why there is no filter on this machine; None if there is one."""
    machine = os.uname().machine
    return None if machine in _MACHINES else f"system calls are not filtered on {machine}"


def install(sandbox: Sandbox) -> None:
    """Filter the calls of this process and its descendants permanently; `no_new_privs` must be set."""
    code = compiled(sandbox)
    if not code:
        return
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // _INSTRUCTION.size, ctypes.addressof(buffer))
    holder = ctypes.create_string_buffer(header, len(header))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.c_void_p(ctypes.addressof(holder)), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def compiled(sandbox: Sandbox) -> bytes:
    """The filter in the kernel's format; empty if this machine has none."""
    known = _MACHINES.get(os.uname().machine)
    families = _LOCAL if sandbox.network == "none" else _NETWORK
    program = [] if known is None else _program(*known, families, nesting=sandbox.nesting)
    return b"".join(_INSTRUCTION.pack(*instruction) for instruction in program)


def _program(column: int, arch: int, families: tuple[int, ...], *, nesting: bool) -> list[_Instruction]:
    program: list[_Instruction] = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_EQUAL, 1, 0, arch),
        _return_error(errno.ENOSYS),  # other architectures have other numbers
        (_LOAD, 0, 0, 0),  # the number of the call
        (_AT_LEAST, 0, 1, _X32),  # x32 has other numbers, too
        _return_error(errno.ENOSYS),
        # The flags of clone3 are in memory, which a filter cannot read: the C library then falls back to clone.
        *_if_call(_CLONE3[column], [_return_error(errno.ENOSYS)]),
    ]
    denied = _DENIED if nesting else _DENIED | _CHROMIUM
    for numbers in denied.values():
        program += _if_call(numbers[column], [_return_error(errno.EPERM)])
    if not nesting:
        looked = [
            (_LOAD, 0, 0, 16),
            (_ANY_BIT, 0, 1, _NEW_NAMESPACES),
            _return_error(errno.EPERM),
            (_GIVE, 0, 0, _ALLOW),
        ]
        program += _if_call(_CLONE[column], looked)
    program += _if_call(_SOCKET[column], _families(families))
    return [*program, (_GIVE, 0, 0, _ALLOW)]


def _if_call(number: int, then: list[_Instruction]) -> list[_Instruction]:
    """These instructions for one call; each list ends with a return."""
    return [(_EQUAL, 0, len(then), number), *then]


def _families(allowed: tuple[int, ...]) -> list[_Instruction]:
    count = len(allowed)
    return [
        (_LOAD, 0, 0, 16),  # its first argument
        *((_EQUAL, count - n, 0, family) for n, family in enumerate(allowed)),
        _return_error(errno.EAFNOSUPPORT),
        (_GIVE, 0, 0, _ALLOW),
    ]


def _return_error(number: int) -> _Instruction:
    return _GIVE, 0, 0, _ERRNO | number
