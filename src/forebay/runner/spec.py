"""What a guard is told on its command line: what to run, its limits, its sandbox. Standard library only."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast

# The last one has neither a view of its own nor namespaces: only an account, limits and a filter of system calls.
Method = Literal["bubblewrap", "namespaces", "process"]
MountKind = Literal["read", "write", "link"]

INPUTS = "/inputs"  # where the files of a call are seen
SCRATCH = "/tmp"  # noqa: S108 - a file system of the sandbox's own
WALLED = "FOREBAY_WALLED"  # set where /tmp is the file system of a sandbox
OUTPUT = "/output"  # where the folder is that a program leaves its files in


@dataclass(frozen=True)
class Network:
    """The way to the egress proxy: where its sockets are taken over, and the port at which it is expected."""

    handover: str
    port: int


@dataclass(frozen=True)
class Sandbox:
    """What a sandboxed process sees and may do."""

    method: Method
    mounts: list[tuple[MountKind, str, str]]  # what, of the host, where
    scratch_mb: int
    uid_base: int | None  # root runs it as this number plus the guard's own; None: as the caller
    bubblewrap: str = ""
    root: str = ""  # an empty folder of the host, to mount the new root on
    network: Network | Literal["none", "host"] = "none"
    nesting: bool = False  # it may make namespaces itself

    @property
    def is_walled(self) -> bool:
        """Whether it has a file system and processes of its own."""
        return self.method != "process"


@dataclass(frozen=True)
class ResourceLimits:
    """What one process with all that it starts may use."""

    memory_mb: int
    cpu_s: float | None = None
    file_mb: int | None = None
    processes: int | None = None
    open_files: int | None = None


@dataclass(frozen=True)
class Spec:
    """All of it. `descriptors` are handed to the process that works."""

    control: int
    owner: int
    python: list[str]
    limits: ResourceLimits
    descriptors: list[int] = field(default_factory=list[int])
    module: str = ""  # its `serve(*sockets)` is called, or else
    argv: list[str] = field(default_factory=list[str])  # this program is run
    folder: str = ""  # removed when all is gone
    watched: str = ""  # a folder that may hold `watched_mb`
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
