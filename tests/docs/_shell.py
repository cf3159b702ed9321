"""The shell commands of a document, run as a reader runs them."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.cli._forks import program_folder


def shell_environment(variables: Mapping[str, str], programs: Path | None = None) -> dict[str, str]:
    """An environment without settings of forebay, except these; `forebay` is the one in `programs`, or is forked."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FOREBAY_")}
    return {**kept, "PATH": f"{programs or program_folder()}{os.pathsep}{kept['PATH']}", **variables}


def run_shell(script: str, folder: Path, variables: Mapping[str, str], programs: Path | None = None) -> str:
    """Return the output of a script, which must succeed."""
    done = subprocess.run(
        ["bash", "-ec", script],
        cwd=folder,
        env=shell_environment(variables, programs),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
