"""The API port of `forebay up`: the configured one, or the first free one from the default on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from forebay.cli.api import listen
from forebay.errors import InvalidField

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forebay.settings import Settings

_TRIES = 20
_LISTENING = "0A"  # as Linux writes the state of a socket


def choose_port(settings: Settings) -> tuple[int, str]:
    """The port to use, and a sentence if it is not the default because that is in use.

    Raises: InvalidField when the configured port is in use.
    """
    wanted = settings.api_port
    if "api_port" in settings.model_fields_set:
        return _free(settings.api_host, wanted), ""
    for port in range(wanted, wanted + _TRIES):
        try:
            _free(settings.api_host, port)
        except InvalidField:
            continue
        moved = f"Port {wanted} is in use{_by(wanted)}: the API uses {port}. FOREBAY_API_PORT selects another one."
        return port, "" if port == wanted else moved
    return _free(settings.api_host, 0), f"Ports {wanted} to {wanted + _TRIES - 1} are in use: the API uses another one."


def _free(host: str, port: int) -> int:
    """The port, or for 0 one that the system chooses."""
    try:
        with listen(host, port) as listener:
            return int(listener.getsockname()[1])
    except InvalidField as error:
        taken = f"{error.reason}{_by(port)}. Stop that program, or choose another port with FOREBAY_API_PORT or --port"
        raise InvalidField(error.field, taken) from error


def _by(port: int) -> str:
    """The process that listens there, if this account may see it."""
    inodes = set(_listeners(port))
    for fds in Path("/proc").glob("[0-9]*/fd") if inodes else ():
        try:
            if any(str(fd.readlink()) in inodes for fd in fds.iterdir()):
                name = (fds.parent / "comm").read_text().strip()
                return f" by {name} (process {fds.parent.name})"
        except OSError:  # of another account, or ended
            continue
    return ""


def _listeners(port: int) -> Iterator[str]:
    """The sockets that listen on a port, as named in /proc/PID/fd."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:  # not Linux
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                yield f"socket:[{fields[9]}]"
