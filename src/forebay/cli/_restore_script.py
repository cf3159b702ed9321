"""Restoring a backup as an SQL script, for servers that are older than the program that reads it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from forebay.errors import ForebayError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# pg_restore 17 and newer begin with this, which older servers reject.
_UNKNOWN = b"SET transaction_timeout = 0;\n"


def run_script(pg_restore: Sequence[str], psql: Sequence[str], environment: Mapping[str, str]) -> None:
    """Pass the script that `pg_restore` writes to `psql`, without the setting that an older server does not know.

    Raises: ForebayError with the messages of the program that failed. Nothing is committed then.
    """
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as answered:
        with (
            subprocess.Popen(pg_restore, env=environment, stdout=subprocess.PIPE, stderr=said) as reading,
            subprocess.Popen(
                psql, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=answered
            ) as writing,
        ):
            try:
                was_taken = _copy(reading, writing)
                if reading.wait() != 0:
                    writing.kill()  # it would commit what it has got at the end of its input
            except BaseException:
                reading.kill()
                writing.kill()
                raise
        if was_taken and reading.returncode != 0 and writing.returncode <= 0:  # psql was killed because of it
            raise failed("pg_restore", _read(said, reading))
        if writing.returncode != 0 or not was_taken:
            raise failed("psql", _read(answered, writing))


def _copy(reading: subprocess.Popen[bytes], writing: subprocess.Popen[bytes]) -> bool:
    """Return whether psql has taken the whole script; if not, pg_restore is killed."""
    source, sink = reading.stdout, writing.stdin
    assert source is not None  # noqa: S101 - both are pipes
    assert sink is not None  # noqa: S101
    try:
        for line in source:
            if line == _UNKNOWN:
                break
            sink.write(line)
        shutil.copyfileobj(source, sink)
        sink.flush()
    except BrokenPipeError:  # psql has failed, and says why
        reading.kill()
        with suppress(BrokenPipeError):
            sink.close()
        return False
    return True


def _read(messages: IO[bytes], program: subprocess.Popen[bytes]) -> bytes:
    messages.seek(0)
    return messages.read() or f"exit code {program.returncode}".encode()  # one that was killed says nothing


def failed(name: str, said: bytes) -> ForebayError:
    """The error of a client program, with the beginning of its messages."""
    first = said.decode(errors="replace").strip().splitlines()[:3]
    return ForebayError(f"{name} failed: {' '.join(first)}")
