"""Where an export goes: standard output, or a file that gets its name only when it is whole."""

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

_READER_LEFT = 141  # what shells say of a program that wrote to a closed pipe


@dataclass
class Sink:
    """A file whose trouble is told as its own: a full disk is not a lost database."""

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
    if isinstance(error, BrokenPipeError):  # `| head` has seen enough; the interpreter shall not try again at its end
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
    """Standard output or the file, which gets its name only when it is whole: half an export looks like one."""
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
    except OSError:  # what could not be written before cannot be written now
        pass
    finally:
        if part is not None:
            part.unlink(missing_ok=True)
