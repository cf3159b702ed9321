"""The entry point of a child: receives the module search path before it imports modules. Standard library only."""

from __future__ import annotations

import faulthandler
import importlib
import json
import sys
from typing import TYPE_CHECKING, Any, cast

from forebay.runner.frames import Channel, Hello

if TYPE_CHECKING:
    import socket


def serve(sock: socket.socket, files: socket.socket) -> None:
    """Run tasks until the pool closes the connection."""
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):  # output must not be lost when the process is killed
        cast("Any", stream).reconfigure(line_buffering=True)
    link = Channel(sock)
    first = link.receive()
    if first is None:
        return
    hello = Hello(**json.loads(first[1]))
    link.max_bytes = hello.max_bytes
    sys.path[:] = hello.path
    sys.prefix = hello.prefix
    importlib.import_module("forebay.runner.child").work(link, files, hello)
