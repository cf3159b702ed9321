"""What the chart renders, and the containers in it."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.ops._prometheus import OPS

CHART = OPS / "helm" / "forebay"
EXAMPLES = sorted((OPS / "helm" / "examples").glob("*.yaml"))


def program(name: str) -> str:
    """A program that a development package installs beside Python."""
    return str(Path(sys.executable).with_name(name))


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    with ExitStack() as stack:
        return [stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(count)]


def helm(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program("helm"), *args], capture_output=True, text=True, check=False)


@cache
def render(values: Path, *options: str) -> list[dict[str, Any]]:
    """The objects that the chart renders with these values."""
    ran = helm("template", "forebay", str(CHART), "--namespace", "prod", "--values", str(values), *options)
    assert ran.returncode == 0, ran.stderr
    return [each for each in yaml.safe_load_all(ran.stdout) if each]


def of_kind(objects: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [each for each in objects if each["kind"] == kind]


def pods(objects: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """The name of each Deployment and Job, and the specification of its pods."""
    return [
        (each["metadata"]["name"], each["spec"]["template"]["spec"])
        for each in objects
        if each["kind"] in {"Deployment", "Job"}
    ]
