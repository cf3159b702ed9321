"""The target of an export: standard output, or a file that is renamed when it is complete."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from forebay.errors import ForebayError

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import BinaryIO

_READER_LEFT = 141  # the exit code of a program that wrote to a closed pipe


@dataclass
class Sink:
    """A file whose errors name it: a full disk is not a database error."""

    stream: BinaryIO
    place: str
    size: int = 0

    def write(self, text: str) -> None:
        self.write_bytes(text.encode())

    def write_bytes(self, data: bytes) -> None:
        try:
            self.stream.write(data)
        except OSError as error:
            _refuse(error, self.place)
        self.size += len(data)


def _refuse(error: OSError, place: str) -> NoReturn:
    if isinstance(error, BrokenPipeError):  # `| head` has closed the pipe; the interpreter must not flush again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(_READER_LEFT) from None
    raise ForebayError(f"cannot write {place}: {error.strerror}") from error


@contextmanager
def _translating_errors(place: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        _refuse(error, place)


@contextmanager
def opened(output: str) -> Generator[Sink]:
    """Standard output or the file, which is renamed when it is complete: half an export would look like a whole one."""
    if output == "-":
        yield Sink(sys.stdout.buffer, "standard output")
        with _translating_errors("standard output"):
            sys.stdout.buffer.flush()
        return
    target = Path(output)
    is_special = target.exists() and not target.is_file()  # such as a named pipe
    part = target if is_special else target.with_name(f"{target.name}.part")
    with _translating_errors(output):
        stream = part.open("wb")
    try:
        yield Sink(stream, output)
        with _translating_errors(output):
            stream.close()
            part.replace(target)
    except BaseException:
        _discard(stream, part if not is_special else None)
        raise


def _discard(stream: BinaryIO, part: Path | None) -> None:
    try:
        stream.close()
    except OSError:  # flushing would fail again
        pass
    finally:
        if part is not None:
            part.unlink(missing_ok=True)
