"""A real cluster: three nodes, each with etcd, Patroni and PostgreSQL, with the configuration of ops/patroni."""

from __future__ import annotations

import secrets
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import httpx

from forebay.db.pool import connected
from tests.crash._rig import eventually
from tests.ha._node import PASSWORD, Node

if TYPE_CHECKING:
    from pathlib import Path

_NODES = 3
_AUTH = ("patroni", PASSWORD)


class Network:
    """The addresses of the nodes: on the loopback, or each in a network namespace of its own with a cable to cut."""

    def __init__(self, *, cables: bool) -> None:
        self._id = secrets.token_hex(2)
        self._cables = cables
        first, second = secrets.randbelow(200) + 20, secrets.randbelow(250)
        self._prefix = f"10.{first}.{second}" if cables else f"127.{first}.{second}"
        self.addresses = [f"{self._prefix}.{number + 11}" for number in range(_NODES)]
        self.namespaces = [f"fb{self._id}-{number}" if cables else None for number in range(_NODES)]

    def set_up(self) -> None:
        if not self._cables:
            return
        bridge = f"fb{self._id}"
        _ip("link", "add", bridge, "type", "bridge")
        _ip("addr", "add", f"{self._prefix}.1/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        for number, address in enumerate(self.addresses):
            space, cable = f"fb{self._id}-{number}", self._cable(number)
            _ip("netns", "add", space)
            _ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
            _ip("link", "set", cable, "master", bridge, "up")
            _ip("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
            for link in ("eth0", "lo"):
                _ip("-n", space, "link", "set", link, "up")

    def cut(self, number: int) -> None:
        """Nothing reaches the node any more, and nothing tells the others."""
        _ip("link", "set", self._cable(number), "down")

    def heal(self, number: int) -> None:
        _ip("link", "set", self._cable(number), "up")

    def tear_down(self) -> None:
        for space in self.namespaces:
            if space is not None:
                with suppress(subprocess.CalledProcessError):  # not all of it may have been set up
                    _ip("netns", "del", space)
        if self._cables:
            with suppress(subprocess.CalledProcessError):
                _ip("link", "del", f"fb{self._id}")

    def _cable(self, number: int) -> str:
        return f"fb{self._id}c{number}"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Cluster:
    """The nodes of one test."""

    def __init__(self, folder: Path, *, cables: bool = False) -> None:
        self._network = Network(cables=cables)
        places = zip(self._network.addresses, self._network.namespaces, strict=True)
        self.nodes = [
            Node(f"db{number + 1}", address, folder / f"db{number + 1}", space)
            for number, (address, space) in enumerate(places)
        ]

    async def __aenter__(self) -> Self:
        self._http = httpx.AsyncClient(timeout=2, auth=_AUTH, trust_env=False)
        try:
            self._network.set_up()
            for node in self.nodes:
                node.start(self.nodes)
            await self.complete()
            async with connected(self._dsn("postgres"), "tests") as conn:
                await conn.execute("create database forebay")
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()
        for node in self.nodes:
            print(node.logs())  # noqa: T201 - pytest shows it when the test fails
            node.kill()
        self._network.tear_down()

    @property
    def dsn(self) -> str:
        """All addresses."""
        return self._dsn("forebay")

    def _dsn(self, database: str) -> str:
        hosts = ",".join(f"{node.address}:5432" for node in self.nodes)
        return f"postgresql://postgres:{PASSWORD}@{hosts}/{database}?sslmode=disable"

    async def members(self) -> dict[str, dict[str, Any]]:
        """What the nodes say about the cluster, by name; empty if none answers."""
        for node in self.nodes:
            with suppress(httpx.HTTPError, KeyError, ValueError):
                found = await self._http.get(f"http://{node.address}:8008/cluster")
                return {member["name"]: member for member in found.json()["members"]}
        return {}

    async def primary(self) -> Node:
        """The node that itself says that it is the primary."""
        return await eventually("a node is the primary", self._primary)  # type: ignore[no-any-return]

    async def _primary(self) -> Node | None:
        for node in self.nodes:
            with suppress(httpx.HTTPError):
                if (await self._http.get(f"http://{node.address}:8008/primary")).status_code == 200:
                    return node
        return None

    async def complete(self, *, synchronous: bool = True) -> None:
        """Wait until all nodes belong to it, and commits wait for a standby."""

        async def is_complete() -> bool:
            members = await self.members()
            states = [member["state"] for member in members.values()]
            roles = {member["role"] for member in members.values()}
            is_quorum = not synchronous or bool(roles & {"quorum_standby", "sync_standby"})
            return sorted(states) == ["running", "streaming", "streaming"] and "leader" in roles and is_quorum

        await eventually("the cluster is complete", is_complete, 90)

    async def configure(self, **changes: Any) -> None:
        """Change its configuration, for all nodes."""
        node = await self.primary()
        (await self._http.patch(f"http://{node.address}:8008/config", json=changes)).raise_for_status()

    async def switch_over(self) -> None:
        """Hand over to a standby, as planned."""
        node = await self.primary()
        answer = await self._http.post(f"http://{node.address}:8008/switchover", json={"leader": node.name}, timeout=60)
        assert answer.status_code == 200, answer.text

    def restart(self, node: Node) -> None:
        node.start(self.nodes)

    def cut(self, node: Node) -> None:
        self._network.cut(self.nodes.index(node))

    def heal(self, node: Node) -> None:
        self._network.heal(self.nodes.index(node))
