"""Files on this machine: made safe on the disk, and the errors of a machine that has no room for them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from forebay.errors import ResourceError, classify_error
from forebay.types import ErrorClass

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


def flush(path: Path) -> None:
    """Return when a file, or the names in a folder, would survive a power failure."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def resource_error(error: OSError, place: object) -> ResourceError | None:
    """The error of a machine at its limit, such as a full disk; None for other errors."""
    if classify_error(error) is not ErrorClass.RESOURCE:
        return None
    return ResourceError(f"cannot write to {place}: {os.strerror(error.errno or 0)}")


@contextmanager
def resource_errors(place: object) -> Generator[None]:
    """Raises: ResourceError when the machine is at its limit."""
    try:
        yield
    except OSError as error:
        if (translated := resource_error(error, place)) is not None:
            raise translated from error
        raise
