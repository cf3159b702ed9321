"""Running the command line as its users do: as a process, from an empty folder, with nothing in its environment.

What runs to its end is forked from a process that has imported everything; what goes on is started as people start it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import psycopg

from tests.cli._forks import Forked

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


# What belongs to users is not ours to name; nor are what steps, workers, files and the like are called.
_NAMES_OF_OTHERS = {"input", "inputs", "result", "results", "meta", "normalized", "by_step", "shared"}


def _names_otherwise(value: Any) -> Iterator[str]:
    """The names of fields that are not in snake_case, as all of the command line are."""
    if isinstance(value, list):
        for each in value:
            yield from _names_otherwise(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if re.search("[A-Z]", name) and not name.isupper():  # statuses are keys, too
                yield name
            if name not in _NAMES_OF_OTHERS:
                yield from _names_otherwise(each)


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        found = json.loads(self.out)
        assert not (others := set(_names_otherwise(found))), f"not in snake_case: {others}"
        return found


class Cli:
    """The command line in one folder, on one database."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder
        (folder / "notes.py").write_text(PIPELINE)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FOREBAY_", "PYTEST_"))}
        own = {"FOREBAY_DATA_DIR": str(folder / "data"), "XDG_STATE_HOME": str(folder / "state")}
        self.env = {**kept, "FOREBAY_PIPELINES": "notes", "COLUMNS": "120", **own, **variables}

    def run(self, *args: str, given: str | None = None, **variables: str) -> Result:
        """Run a command to its end."""
        with (
            Path(os.devnull).open("rb") if given is None else _file(given) as stdin,
            _file() as out,
            _file() as err,
        ):
            files = (stdin.fileno(), out.fileno(), err.fileno())
            forked = Forked(args, self.folder, {**self.env, **variables}, files)
            try:
                code = forked.wait(PATIENCE)
            finally:
                forked.kill()
            return Result(code, _read(out), _read(err))

    def on_terminal(self, *args: str, typed: str = "", **variables: str) -> Result:
        """Run a command to its end on a terminal, where standard output and error are the same."""
        ours, theirs = os.openpty()
        os.write(ours, typed.encode())
        try:
            forked = Forked(args, self.folder, {**self.env, **variables}, (theirs, theirs, theirs))
        finally:
            os.close(theirs)
        said = b""
        with suppress(OSError):  # how Linux tells that the other end is closed
            while piece := os.read(ours, 65536):
                said += piece
        os.close(ours)
        return Result(forked.wait(PATIENCE), said.decode().replace("\r\n", "\n"), "")

    def start(self, *args: str, **variables: str) -> Process:
        """Start a command that goes on, as people start it."""
        return Process(self, args, {**self.env, **variables}, _Started)

    def fork(self, *args: str, **variables: str) -> Process:
        """Begin a command that goes on, and is needed rather than looked at."""
        return Process(self, args, {**self.env, **variables}, Forked)


def _file(text: str = "") -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(text.encode())
    file.seek(0)
    return file


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


@contextmanager
def starting(begin: Callable[..., Process]) -> Iterator[Callable[..., Process]]:
    """Starts commands that are killed at the end."""
    started: list[Process] = []

    def start(*args: str, **variables: str) -> Process:
        started.append(begin(*args, **variables))
        return started[-1]

    yield start
    for process in started:
        process.kill()


class _Started(subprocess.Popen[bytes]):
    """What `Forked` is, started as a program."""

    def __init__(self, args: tuple[str, ...], folder: Path, env: dict[str, str], files: tuple[int, int, int]) -> None:
        stdin, out, err = files
        command = [sys.executable, "-m", "forebay", *args]
        super().__init__(command, cwd=folder, env=env, stdin=stdin, stdout=out, stderr=err, start_new_session=True)

    def has_ended(self) -> bool:
        return self.poll() is not None


class Process:
    """A command that is running, with all that it has said."""

    def __init__(
        self, cli: Cli, args: tuple[str, ...], env: dict[str, str], begin: type[_Started] | type[Forked]
    ) -> None:
        self._file = cli.folder / f"{args[0]}-{time.monotonic_ns()}.out"
        with self._file.open("wb") as output, Path(os.devnull).open("rb") as nothing:
            self._process = begin(args, cli.folder, env, (nothing.fileno(), output.fileno(), output.fileno()))
        self.pid = self._process.pid

    @property
    def said(self) -> str:
        return self._file.read_text(errors="replace")

    @property
    def has_ended(self) -> bool:
        return self._process.has_ended()

    def says(self, text: str, times: int = 1) -> None:
        """Wait until it has said that."""
        until(lambda: self.said.count(text) >= times or self._raise_if_ended(text), lambda: self.said)

    def _raise_if_ended(self, text: str) -> bool:
        if self.has_ended and text not in self.said:
            raise AssertionError(f"it ended with {self._process.wait()} and never said {text!r}:\n{self.said}")
        return False

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def ends(self) -> int:
        return self._process.wait(PATIENCE)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def until(condition: Callable[[], T], explain: Callable[[], object] = lambda: "", *, pause: float = 0.05) -> T:
    """What the condition answers once that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"this did not happen in {PATIENCE} s; {explain()}"
        time.sleep(pause)
    return answer


def ask(dsn: str, question: str, *values: object) -> Any:
    """The first column of the first row that a query answers."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        cursor = conn.execute(question.encode(), values or None)
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None
