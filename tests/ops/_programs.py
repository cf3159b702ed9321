"""The processes that chart, compose file and units start, as one kind of description."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.ops._chart import of_kind, pods, render
from tests.ops._prometheus import OPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COMPOSE = [OPS / "compose.yaml", OPS / "compose.fleet.yaml"]
UNITS = sorted((OPS / "systemd").glob("*.service"))


@dataclass(frozen=True)
class Program:
    """A process: its command, variables, the folders that it may write, what is asked of it, how long it may stop."""

    name: str
    args: tuple[str, ...]
    variables: dict[str, str]
    folders: frozenset[str]
    files: frozenset[str] = frozenset()  # folders with files that it only reads
    probes: tuple[str, ...] = ()
    check: tuple[str, ...] = ()  # a command that asks whether it is well
    grace: float = 90.0
    after: tuple[str, ...] = field(default=())

    @property
    def command(self) -> str:
        return self.args[0]


# The image.


@cache
def image() -> tuple[tuple[str, ...], dict[str, str]]:
    """The entrypoint of the Dockerfile's last stage, and its variables."""
    text = (OPS / "Dockerfile").read_text("utf-8").rpartition("\nFROM ")[2]
    (entrypoint,) = re.findall(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)
    told = " ".join(re.findall(r"^ENV (.*)$", text, re.MULTILINE))
    variables = dict(each.split("=", 1) for each in shlex.split(told))
    assert variables.pop("PATH") == "/opt/forebay/bin:$PATH"
    return tuple(yaml.safe_load(entrypoint)), variables


def _of_image(args: list[str]) -> tuple[str, ...]:
    """What a container's arguments are for forebay."""
    entrypoint, _ = image()
    assert entrypoint == ("tini", "--", "forebay")
    return tuple(args)


# The chart.


def of_chart(values: Path, secrets: Mapping[str, Mapping[str, str]]) -> Iterator[Program]:
    """The containers of the chart, with the contents of these Secrets."""
    objects = render(values)
    ports = {port["targetPort"] for each in of_kind(objects, "Service") for port in each["spec"]["ports"]}
    for name, pod in pods(objects):
        (container,) = pod["containers"]
        assert {one["name"] for one in container.get("ports", ())} <= ports, name
        variables = dict(image()[1])
        for one in container.get("envFrom", ()):
            variables |= secrets[one["secretRef"]["name"]]
        for one in container["env"]:
            source = one.get("valueFrom", {}).get("secretKeyRef")
            variables[one["name"]] = one["value"] if source is None else secrets[source["name"]][source["key"]]
        probes = [container[kind]["httpGet"] for kind in container if kind.endswith("Probe")]
        named = {one["name"]: one["containerPort"] for one in container.get("ports", ())}
        for probe in probes:
            assert str(named[probe["port"]]) == variables["FOREBAY_API_PORT"], name
        yield Program(
            name,
            _of_image(container["args"]),
            variables,
            frozenset(one["mountPath"] for one in container["volumeMounts"] if not one.get("readOnly")),
            frozenset(one["mountPath"] for one in container["volumeMounts"] if one.get("readOnly")),
            tuple(dict.fromkeys(probe["path"] for probe in probes)),
            grace=pod["terminationGracePeriodSeconds"],
            after=("migrate",) if container["name"] != "migrate" else (),
        )


# The compose file.


def compose(given: Mapping[str, str], files: Sequence[Path] = COMPOSE) -> dict[str, Any]:
    """The services of the compose files with these variables in them.

    Raises: KeyError for a variable that has to be given.
    """

    def value(found: re.Match[str]) -> str:
        name, _, what = found[1].partition(":")
        if what.startswith("-"):
            return given.get(name, what[1:])
        assert what in {"", "?"}, found[0]
        if what == "?" and not given.get(name):
            raise KeyError(name)
        return given[name]

    services: dict[str, Any] = {}
    for file in files:
        text = re.sub(r"\$\{([^}]+)\}", value, file.read_text("utf-8"))
        services |= yaml.safe_load(text)["services"]
    return services


def of_compose(given: Mapping[str, str]) -> Iterator[Program]:
    """The services of the compose files that run the image."""
    for name, service in compose(given).items():
        if not service["image"].startswith("forebay:"):
            continue
        writable = {one.partition(":")[2] for one in service["volumes"]} | set(service["tmpfs"])
        yield Program(
            name,
            _of_image(service["command"]),
            image()[1] | {name: str(value) for name, value in service["environment"].items()},
            frozenset(writable),
            check=tuple(service.get("healthcheck", {}).get("test", ())),
            grace=float(service.get("stop_grace_period", "60s").removesuffix("s")),
            after=tuple(service.get("depends_on", ())),
        )


# The units.


def of_units(files: Mapping[str, Mapping[str, str]]) -> Iterator[Program]:
    """The processes of the units, with the contents of these EnvironmentFiles."""
    for unit in UNITS:
        told = re.findall(r"^(\w+)=(.*)$", unit.read_text("utf-8"), re.MULTILINE)
        variables: dict[str, str] = {}
        for name, value in told:
            if name == "EnvironmentFile":
                variables |= files.get(value.removeprefix("-"), {}) if value.startswith("-") else files[value]
        single = dict(told)
        path, *args = shlex.split(single["ExecStart"])
        assert path == "/opt/forebay/bin/forebay"
        assert single["WorkingDirectory"] == f"/var/lib/{single['StateDirectory']}"
        stop = single.get("TimeoutStopSec", "90")
        yield Program(unit.stem, tuple(args), variables, frozenset(("/var/lib/forebay",)), grace=float(stop))
