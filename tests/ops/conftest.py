"""What several tests of operations need."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.ops._chart import free_ports, program

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A NATS server for dispatchers and runners, with the user of the compose file."""
    folder = tmp_path_factory.mktemp("nats")
    port = free_ports(1)[0]
    listen = ["--addr", "127.0.0.1", "--port", str(port), "--user", "forebay", "--pass", "secret"]
    command = [program("nats-server"), "--jetstream", "--store_dir", str(folder), *listen]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        yield f"nats://forebay:secret@127.0.0.1:{port}"
        process.terminate()
