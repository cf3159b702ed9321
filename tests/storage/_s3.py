"""A real S3 server."""

from __future__ import annotations

import ctypes
import http.client
import json
import shutil
import signal
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ACCESS_KEY, SECRET_KEY = "forebay-tests", "forebay-tests-secret"
_PATIENCE = 60.0


@dataclass(frozen=True)
class S3:
    endpoint: str


@contextmanager
def s3_server(folder: Path) -> Iterator[S3]:
    """SeaweedFS, which makes buckets as they are needed."""
    program = Path(sysconfig.get_path("scripts")) / "weed"
    folder.mkdir()
    ports = _free_ports(8)
    (folder / "s3.json").write_text(json.dumps({"identities": [_IDENTITY]}))
    command = [
        str(program), "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-volume.max=100",
        "-master.volumeSizeLimitMB=64", "-master.telemetry=false",
        "-s3", "-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.config={folder / 's3.json'}",
        *(f"-{name}={port}" for name, port in zip(_PORTS, ports, strict=True)),
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=log,
            stderr=log,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - one call into the kernel
        )
    try:
        _wait(process, ports[0], folder / "log")
        yield S3(f"http://127.0.0.1:{ports[0]}")
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)
        for port in ports:  # it was killed: these it leaves
            for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                left.unlink()


_IDENTITY = {
    "name": "tests",
    "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
    "actions": ["Admin", "Read", "Write", "List"],
}
_PORTS = (
    "s3.port", "s3.port.grpc", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc",
    "filer.port", "filer.port.grpc",
)  # fmt: skip


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Until a bucket can be made: a server that answers may still have nowhere to write."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text(errors="replace")[-4000:]
        with suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/")
            status = connection.getresponse().status
            connection.close()
            if status == 403:  # it knows that we have not signed
                return
        time.sleep(0.1)
    raise AssertionError(log.read_text(errors="replace")[-4000:])
