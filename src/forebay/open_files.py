"""The limit of open files and sockets: raised at the start, and the part of it that connections may use."""

from __future__ import annotations

import resource

from forebay.log import get_logger

_ENOUGH = 65_536
_RESERVED = 256  # for the database, files, logs and children

log = get_logger("process")


def raise_limit() -> int:
    """Raise the soft limit of open files up to the hard limit, or as far as useful; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError) as error:  # an outer sandbox may forbid it
            log.warning("open_files_not_raised", limit=soft, wanted=wanted, error=str(error))
    return limit()


def limit() -> int:
    """The current limit of open files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _ENOUGH if soft == resource.RLIM_INFINITY else soft


def connection_limit(most: int, *, files_each: int = 1) -> int:
    """How many connections may be open at a time: `most`, or as many as leave enough files for everything else."""
    allowed = limit()
    return max(1, min(most, (allowed - min(_RESERVED, allowed // 2)) // files_each))
