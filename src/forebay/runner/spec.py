"""The command line of a guard: what to run, its limits, its sandbox. Standard library only."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast

# The last one has no separate file system and no namespaces: only an account, limits and a filter of system calls.
Method = Literal["bubblewrap", "namespaces", "process"]
MountKind = Literal["read", "write", "link"]

INPUTS = "/inputs"  # where the files of a call are mounted
SCRATCH = "/tmp"  # noqa: S108 - a separate file system of the sandbox
ISOLATED = "FOREBAY_ISOLATED"  # set where /tmp is the file system of a sandbox
OUTPUT = "/output"  # where the output folder of a program is mounted


@dataclass(frozen=True)
class Network:
    """The connection to the egress proxy: where it receives sockets, and the port on which programs expect it."""

    handover: str
    port: int


@dataclass(frozen=True)
class Sandbox:
    """What a sandboxed process sees and may do."""

    method: Method
    mounts: list[tuple[MountKind, str, str]]  # kind, path on the host, path in the sandbox
    scratch_mb: int
    uid_base: int | None  # if started by root, its user id is this plus the guard's process id; None: the caller's
    bubblewrap: str = ""
    root: str = ""  # an empty folder of the host, to mount the new root on
    network: Network | Literal["none", "host"] = "none"
    nesting: bool = False  # it may create namespaces

    @property
    def is_isolated(self) -> bool:
        """Whether it has a separate file system and process namespace."""
        return self.method != "process"


@dataclass(frozen=True)
class ResourceLimits:
    """The resource limits of one process including its descendants."""

    memory_mb: int
    cpu_s: float | None = None
    file_mb: int | None = None
    processes: int | None = None
    open_files: int | None = None


@dataclass(frozen=True)
class Spec:
    """The complete specification. `descriptors` are passed to the working process."""

    control: int
    owner: int
    python: list[str]
    limits: ResourceLimits
    descriptors: list[int] = field(default_factory=list[int])
    module: str = ""  # its `serve(*sockets)` is called; if empty,
    argv: list[str] = field(default_factory=list[str])  # this program is run
    folder: str = ""  # removed when all processes have ended
    watched: str = ""  # a folder with at most `watched_mb`
    watched_mb: int = 0
    sandbox: Sandbox | None = None

    def dump(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Spec:
        data: dict[str, Any] = json.loads(text)
        data["limits"] = ResourceLimits(**data["limits"])
        sandbox = cast("dict[str, Any] | None", data["sandbox"])
        if sandbox is not None:
            network: Any = sandbox["network"]
            sandbox["network"] = network if isinstance(network, str) else Network(**network)
            data["sandbox"] = Sandbox(**sandbox)
        return cls(**data)
