"""Determines which sandbox this machine allows, by trying each once."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from forebay.errors import ConfigError
from forebay.log import get_logger
from forebay.runner import accounts, seccomp
from forebay.runner.mounts import program_mounts, python_mounts, system_mounts
from forebay.runner.python import GUARD, python_command
from forebay.runner.spec import ResourceLimits, Sandbox, Spec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forebay.runner.spec import Method, Network

log = get_logger("runner")

Mode = Literal["required", "preferred", "off"]
_NO_PROC = (
    "a sandbox has no /proc, because parts of this container's /proc are hidden: files that functions write must fit "
    "into their scratch space (scratch_mb)"
)
_PROBE_S = 30.0
_PASSING = ("timed out after", os.strerror(errno.EAGAIN))  # temporary: another try may succeed
_SEES_PROC = ("/bin/sh", "-c", "test -e /proc/self/fd")
_METHODS: tuple[Method, ...] = ("bubblewrap", "namespaces")


@dataclass(frozen=True)
class Available:
    """The method that works, or why none works."""

    method: Method | None
    bubblewrap: str
    uid_base: int | None
    because: str  # why there is none, or why the first one does not work


_known: dict[tuple[Method, ...], Available] = {}


def available(methods: tuple[Method, ...] = _METHODS) -> Available:
    """The first of these methods that this machine allows. The result is cached, except for temporary failures."""
    found = _known.get(methods)
    if found is None:
        found = _first_of(methods)
        if found.method is not None or not any(words in found.because for words in _PASSING):
            _known[methods] = found
    return found


def _first_of(methods: tuple[Method, ...]) -> Available:
    if sys.platform != "linux":
        return Available(None, "", None, "only Linux has namespaces")
    try:
        base = accounts.uid_base()
    except LookupError as error:
        return Available(None, "", None, str(error))
    reasons: list[str] = []
    for method in methods:
        program = shutil.which("bwrap") or "" if method == "bubblewrap" else ""
        because = "bwrap is not installed" if method == "bubblewrap" and not program else _tried(method, program, base)
        if because is None:
            return Available(method, program, base, "; ".join(reasons))
        reasons.append(f"{method}: {because}")
    return Available(None, "", None, "; ".join(reasons))


def _tried(method: Method, program: str, base: int | None, argv: tuple[str, ...] = ("/bin/true",)) -> str | None:
    """Why this method does not work, in the words of the program or the kernel; None if it works."""
    with tempfile.TemporaryDirectory(prefix="forebay-probe-") as root:
        mounts = [*system_mounts(), *python_mounts([])]
        sandbox = Sandbox(method, mounts, 16, base, bubblewrap=program, root=root)
        return _run(Spec(-1, os.getpid(), python_command(), ResourceLimits(256), argv=list(argv), sandbox=sandbox))


def _run(spec: Spec) -> str | None:
    try:
        tried = subprocess.run(
            [*spec.python, str(GUARD.with_name("probe.py")), spec.dump()],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PROBE_S,
            check=False,
            env={"LANG": "C.UTF-8"},
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = tried.stderr.strip().rpartition("\n")[2].removeprefix("sandbox: ").removeprefix("bwrap: ")
    return None if tried.returncode == 0 else said or f"it ended with {tried.returncode}"


def sandbox_for(
    mode: Mode, what: str, *, scratch_mb: int, programs: Iterable[str] = (), python: bool = True
) -> Sandbox | None:
    """The sandbox that the mode requires; None if it is off.

    Raises: ConfigError if a sandbox is required and this machine has none, or if the process would run as root without
    one.
    """
    if mode == "off":
        return None
    found = available()
    if found.method is None and mode == "required":
        raise ConfigError(
            f"{what} needs a sandbox, and this machine allows none ({found.because}): allow user namespaces for this "
            "account or install bubblewrap, or set FOREBAY_SANDBOX=preferred to run it with limits only"
        )
    if found.method is None:
        _warn_once(found.because)
        return Sandbox("process", [], scratch_mb, _uid_base_without_sandbox(what, programs, python=python))
    modules = python_mounts(_search_path() if python else [])  # the launcher needs it, too
    mounts = [*system_mounts(), *modules, *program_mounts(programs)]
    return Sandbox(found.method, mounts, scratch_mb, found.uid_base, bubblewrap=found.bubblewrap)


def check_network(mode: Mode, what: str, network: Network | Literal["none", "host"]) -> None:
    """Raises: ConfigError if the process would have access to this machine's network although it must be sandboxed."""
    if network == "host" and mode == "required":
        raise ConfigError(
            f"{what} may use the network only through the egress proxy, which cannot be enforced here: unset "
            "FOREBAY_EGRESS_CONFINE and allow user namespaces, or accept this with FOREBAY_SANDBOX=preferred"
        )


def _search_path() -> list[str]:
    return [entry or os.getcwd() for entry in sys.path]  # noqa: PTH109 - plain texts


@lru_cache(maxsize=1)
def _warn_once(because: str) -> None:
    log.warning("no_sandbox", because=because, consequence="untrusted files are read with limits only")


def _uid_base_without_sandbox(what: str, programs: Iterable[str], *, python: bool) -> int | None:
    """A separate user id for a process that sees the files of this machine; None if we are not root.

    Raises: ConfigError if there is no such id, or if it could not read what it needs: as root, it would see all files.
    """
    needed = [*programs, *([os.path.realpath(sys.executable), __file__, *_search_path()] if python else [])]
    try:
        base, lacking = accounts.uid_base(), ""
    except LookupError as error:
        base, lacking = None, str(error)
    closed = [path for path in filter(os.path.exists, needed) if not accounts.is_open_to_all(path)]
    if base is not None and closed:
        lacking = f"other accounts cannot read {closed[0]}"
    if lacking:
        raise ConfigError(
            f"{what} would run as root without a sandbox, because there is no other account for it ({lacking}): run "
            "forebay under a separate account, or accept this with FOREBAY_SANDBOX=off"
        )
    return base


def gaps() -> list[str]:
    """What the sandbox of this machine lacks."""
    lacking = seccomp.unavailable_reason()
    return [*([lacking] if lacking else []), *_gaps_of(available())]


def hides_proc() -> bool:
    """Whether processes in the sandbox of this machine have no /proc."""
    return _NO_PROC in _gaps_of(available())


@lru_cache(maxsize=8)
def _gaps_of(found: Available) -> list[str]:
    if found.method is None or _tried(found.method, found.bubblewrap, found.uid_base, _SEES_PROC) is None:
        return []
    return [_NO_PROC]
