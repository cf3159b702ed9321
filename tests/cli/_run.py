"""Running the command line as its users do: as a process, from an empty folder, with nothing in its environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg

T = TypeVar("T")

PATIENCE = 90.0

# A pipeline that needs no time; `body` decides what becomes of an item.
PIPELINE = """
import time
from pydantic import BaseModel
from forebay import Context, Pipeline
from forebay.errors import ConfigError, DataError

class Note(BaseModel):
    body: str

notes = Pipeline("notes", Note)

@notes.step()
def size(ctx: Context, note: Note) -> int:
    if note.body == "broken":
        raise DataError("broken on purpose")
    if note.body == "unset":
        raise ConfigError("no key for the size service")
    if note.body == "slow":
        time.sleep(600)
    return len(note.body)
"""


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Cli:
    """The command line in one folder, on one database."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder
        (folder / "notes.py").write_text(PIPELINE)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FOREBAY_", "PYTEST_"))}
        self.env = {**kept, "FOREBAY_PIPELINES": "notes", "COLUMNS": "120", **variables}

    def run(self, *args: str, given: str | None = None, **variables: str) -> Result:
        """Run a command to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "forebay", *args],
            cwd=self.folder,
            env={**self.env, **variables},
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def start(self, *args: str, **variables: str) -> Process:
        """Start a command that goes on."""
        return Process(self, args, {**self.env, **variables})


@contextmanager
def starting(cli: Cli) -> Iterator[Callable[..., Process]]:
    """Starts commands that are killed at the end."""
    started: list[Process] = []

    def start(*args: str, **variables: str) -> Process:
        started.append(cli.start(*args, **variables))
        return started[-1]

    yield start
    for process in started:
        process.kill()


class Process:
    """A command that is running, with all that it has said."""

    def __init__(self, cli: Cli, args: tuple[str, ...], env: dict[str, str]) -> None:
        self._file = cli.folder / f"{args[0]}-{time.monotonic_ns()}.out"
        with self._file.open("wb") as output:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "forebay", *args],
                cwd=cli.folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pid = self.popen.pid

    @property
    def said(self) -> str:
        return self._file.read_text(errors="replace")

    def says(self, text: str, times: int = 1) -> None:
        """Wait until it has said that."""
        until(lambda: self.said.count(text) >= times or self._raise_if_ended(text), lambda: self.said)

    def _raise_if_ended(self, text: str) -> bool:
        if self.popen.poll() is not None and text not in self.said:
            raise AssertionError(f"it ended with {self.popen.returncode} and never said {text!r}:\n{self.said}")
        return False

    def signal(self, number: int) -> None:
        self.popen.send_signal(number)

    def ends(self) -> int:
        return self.popen.wait(PATIENCE)

    def kill(self) -> None:
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait()


def until(condition: Callable[[], T], explain: Callable[[], object] = lambda: "") -> T:
    """What the condition answers once that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"this did not happen in {PATIENCE} s; {explain()}"
        time.sleep(0.05)
    return answer


def ask(dsn: str, question: str, *values: object) -> Any:
    """The first column of the first row that a query answers."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        cursor = conn.execute(question.encode(), values or None)
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None
