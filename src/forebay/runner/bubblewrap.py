"""The command line of bubblewrap for a sandbox. Standard library only."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from forebay.runner import seccomp
from forebay.runner.spec import INPUTS, SCRATCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from forebay.runner.spec import Sandbox

_MB = 1 << 20
_KINDS = {"read": "--ro-bind", "write": "--bind", "link": "--symlink"}
# The launcher inside needs these to change the account, and then drops them permanently; only root can grant them.
_RIGHTS = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")


def command(sandbox: Sandbox, inside: Sequence[str]) -> list[str]:
    """The command that runs `inside` in the sandbox; it inherits a descriptor for the filter."""
    return [sandbox.bubblewrap, *_options(sandbox), *_filter(sandbox), "--", *inside]


def _filter(sandbox: Sandbox) -> list[str]:
    """The launcher filters its own calls; this filter is for bubblewrap's first process, which may have the same
    account."""
    code = seccomp.compiled(sandbox)
    if not code:
        return []
    reading, writing = os.pipe()
    os.write(writing, code)  # smaller than the pipe's buffer
    os.close(writing)
    os.set_inheritable(reading, True)
    return ["--seccomp", str(reading)]


def _options(sandbox: Sandbox) -> Iterator[str]:
    yield from ("--die-with-parent", "--unshare-ipc", "--unshare-pid", "--unshare-uts")
    if sandbox.network != "host":
        yield "--unshare-net"
    if sandbox.uid_base is None:
        yield "--unshare-user"
    else:
        for right in _RIGHTS:
            yield from ("--cap-add", right)
    yield from ("--size", str(sandbox.scratch_mb * _MB), "--perms", "1777", "--tmpfs", SCRATCH)
    yield from ("--dir", INPUTS, "--dir", "/run", "--dev", "/dev", "--proc", "/proc")
    yield from ("--size", str(64 * _MB), "--perms", "1777", "--tmpfs", "/dev/shm")  # noqa: S108
    for folder in _parents(sandbox):  # otherwise bubblewrap creates them accessible to their owner only
        yield from ("--perms", "0755", "--dir", folder)
    for kind, source, target in sandbox.mounts:
        yield from (_KINDS[kind], source, target)
    yield from ("--remount-ro", "/", "--chdir", "/")


def _parents(sandbox: Sandbox) -> list[str]:
    """The parent folders of mounts, except those that are mounts."""
    mounted = {target for _, _, target in sandbox.mounts}
    found = {
        str(parent)
        for target in mounted
        for parent in PurePosixPath(target).parents
        if not any(str(each) in mounted for each in (parent, *parent.parents))
    }
    return sorted(found - {"/", SCRATCH, INPUTS, "/dev", "/proc"})
