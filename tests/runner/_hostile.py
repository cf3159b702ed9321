"""The attacks of a parser or program under hostile control; each reports its result. Standard library only."""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

_HEAD = struct.Struct("!cQ")
_SYSTEM_CALLS = {"x86_64": {
    "bpf": 321, "keyctl": 250, "userfaultfd": 323, "io_uring_setup": 425, "setns": 308,
    "memfd_create": 319, "memfd_secret": 447, "shmget": 29,
}}  # fmt: skip


def attempts(targets: dict[str, Any], given: Path) -> dict[str, str]:
    """All attacks, by name."""
    tries: dict[str, Callable[[], object]] = {
        "environment": lambda: _found(targets["secret"], [json.dumps(dict(os.environ))]),
        "processes": lambda: _found(targets["secret"], _everywhere("environ", "cmdline")),
        "memory of the worker": lambda: _read(f"/proc/{targets['worker']}/mem"),
        "files of the worker": lambda: _read(f"/proc/{targets['worker']}/cwd/password"),
        "root of the first process": lambda: _names(f"/proc/1/root{targets['folder']}"),
        "password": lambda: _read(f"{targets['folder']}/password"),
        "blob": lambda: _read(f"{targets['folder']}/blobs/b"),
        "data folder": lambda: _names(targets["folder"]),
        "shadow": lambda: _read("/etc/shadow"),
        "accounts": lambda: _read("/etc/passwd"),
        "homes": lambda: _not_empty(_strangers(Path("/home"))),
        "run": lambda: _not_empty(_names("/run")),
        "temporary files": lambda: _not_empty([name for name in _names("/tmp") if name == targets["marker"]]),
        "postgres": lambda: _connect(socket.AF_INET, ("127.0.0.1", targets["port"])),
        "IPv6": lambda: _connect(socket.AF_INET6, ("::1", targets["port"])),
        "outside": lambda: _connect(socket.AF_INET, ("1.1.1.1", 53)),
        "datagrams": lambda: _connect(socket.AF_INET, ("1.1.1.1", 53), socket.SOCK_DGRAM),
        "abstract socket": lambda: _connect(socket.AF_UNIX, f"\0{targets['marker']}"),
        "socket": lambda: _connect(socket.AF_UNIX, f"{targets['folder']}/socket"),
        "vsock": lambda: socket.socket(socket.AF_VSOCK),
        "packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
        "write: system": lambda: Path("/usr/forebay").write_text("x"),
        "write: root": lambda: Path("/forebay").write_text("x"),
        "write: given": lambda: given.write_text("x"),
        "write: given folder": lambda: (given.parent / "more").write_text("x"),
        "write: modules": lambda: Path(__file__).with_name("more.py").write_text("x"),
        "chmod": lambda: given.chmod(0o666),
        "kill": lambda: os.kill(targets["worker"], 0),
        "ptrace": lambda: _checked(ctypes.CDLL(None, use_errno=True).ptrace(16, os.getppid(), 0, 0)),
        "unshare": lambda: _checked(ctypes.CDLL(None, use_errno=True).unshare(0x10000000)),
        "mount": lambda: _checked(ctypes.CDLL(None, use_errno=True).mount(b"none", b"/tmp", b"tmpfs", 0, None)),
        "root": lambda: os.setuid(0),
        "limits": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)),
    }
    for name, number in _SYSTEM_CALLS.get(os.uname().machine, {}).items():
        tries[name] = partial(_call, number)
    return {name: _tried(attempt) for name, attempt in tries.items()}


def facts(given: Path) -> dict[str, Any]:
    """Facts about the process, and proof that it can do its work."""
    status, first = _status("self"), _status("1")
    wanted = ("CapEff", "CapBnd", "CapPrm", "NoNewPrivs", "Seccomp")
    scratch = Path(os.environ["TMPDIR"], "mine")
    scratch.write_text("mine")
    return {
        "given": given.read_text(),
        "scratch": scratch.read_text(),
        "ids": [*os.getresuid(), *os.getresgid(), *os.getgroups()],
        "pids": sorted(int(name) for name in _names("/proc") if name.isdecimal()),
        "environment": sorted(os.environ),
        "first process": [first["NoNewPrivs"].strip(), first["Seccomp"].strip()],
        **{name: status[name].strip() for name in wanted},
    }


def _status(process: str) -> dict[str, str]:
    return dict(line.split(":\t", 1) for line in _read(f"/proc/{process}/status").splitlines() if ":\t" in line)


def look(targets: dict[str, Any], given: Path) -> dict[str, Any]:
    return {"attempts": attempts(targets, given), "facts": facts(given)}


def fork_bomb() -> int:
    """Start as many processes as possible; return how many."""
    children: list[int] = []
    try:
        while len(children) < 3000:
            pid = os.fork()
            if pid == 0:
                signal.pause()
            children.append(pid)
    except OSError:
        pass
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return len(children)


def fill_disk() -> int:
    """Write as many files as possible; return how many MB."""
    written = 0
    try:
        for n in range(4096):
            Path(os.environ["TMPDIR"], f"{n}").write_bytes(b"x" * (1 << 20))
            written += 1
    except OSError:
        pass
    return written


def fill_scratch() -> None:
    """Fill the scratch space without handling the error."""
    for n in range(4096):
        Path(os.environ["TMPDIR"], f"{n}").write_bytes(b"x" * (1 << 20))


def eat() -> int:
    return len([bytearray(b"x" * (1 << 20)) for _ in range(4096)])


def outlive(marker: str) -> None:
    """Leave a process in a separate session."""
    subprocess.Popen(["/bin/sleep", marker], start_new_session=True).returncode = 0


def outlive_and_hang(marker: str) -> None:
    outlive(marker)
    time.sleep(600)


def forge(how: str, folder: str) -> str:
    """Write to the pool directly."""
    pool = min(fd for fd in range(3, 64) if _is_socket(fd))
    if how == "pickle":
        body = pickle.dumps(_Evil(folder))
        os.write(pool, _HEAD.pack(b"r", len(body)) + body)
    elif how == "huge":
        os.write(pool, _HEAD.pack(b"r", 1 << 40))
    elif how == "unknown":
        os.write(pool, _HEAD.pack(b"?", 3) + b"abc")
    elif how == "class":
        body = json.dumps({"c": ["subprocess:Popen", {"args": ["touch", folder]}]}).encode()
        os.write(pool, _HEAD.pack(b"r", len(body) + 4) + struct.pack("!I", len(body)) + body)
    elif how == "values":
        body = b"[" + b"[]," * 6_000_000 + b"0]"
        os.write(pool, _HEAD.pack(b"r", len(body) + 4) + struct.pack("!I", len(body)))
        _write_all(pool, body)
    elif how == "error":
        body = json.dumps({"o": {"class": "builtins:SystemExit", "text": 1}}).encode()
        os.write(pool, _HEAD.pack(b"e", len(body) + 4) + struct.pack("!I", len(body)) + body)
    return how


class _Evil:
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (self._folder,)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _is_socket(fd: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


def _tried(attempt: Callable[[], object]) -> str:
    try:
        return f"done: {str(attempt())[:200]}"
    except Exception as error:
        return type(error).__name__


def _names(folder: str) -> list[str]:
    return [path.name for path in Path(folder).iterdir()]


def _strangers(folder: Path) -> list[str]:
    """What is in a folder beside the way to this program and to Python, which may be somebody's home."""
    ways = [Path(__file__).parents[2], Path(sys.prefix), Path(sys.base_prefix)]
    found: list[str] = []
    for path in folder.iterdir():
        if path in ways:
            continue
        found += _strangers(path) if any(way.is_relative_to(path) for way in ways) else [str(path)]
    return found


def _read(path: str) -> str:
    return Path(path).read_text()


def _everywhere(*names: str) -> list[str]:
    texts: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        for name in names:
            try:
                texts.append((process / name).read_text())
            except OSError:
                continue
    return texts


def _found(secret: str, texts: list[str]) -> str:
    if not any(secret[::-1] in text for text in texts):
        raise LookupError("it is not there")
    return "found"


def _not_empty(names: list[str]) -> list[str]:
    if not names:
        raise LookupError("nothing there")
    return names


def _connect(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> str:
    with socket.socket(family, kind) as sock:
        sock.settimeout(2)
        sock.connect(address)
        return "connected"


def _call(number: int) -> int:
    return _checked(ctypes.CDLL(None, use_errno=True).syscall(number, 0, 0, 0, 0))


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    if name == "look":
        print(json.dumps(look(json.loads(rest[0]), Path(rest[1]))))  # noqa: T201
    else:
        print(json.dumps(globals()[name](*rest)))  # noqa: T201
