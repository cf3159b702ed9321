"""How many files and sockets this process may have open: raised at its start, and what connections may take of it."""

from __future__ import annotations

import resource

from forebay.log import get_logger

_ENOUGH = 65_536
_RESERVED = 256  # for the database, files, logs and children

log = get_logger("process")


def raise_limit() -> int:
    """Raise the soft limit of open files as far as the hard one allows, or as we can use; answers the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError) as error:  # a sandbox around us may forbid it
            log.warning("open_files_not_raised", limit=soft, wanted=wanted, error=str(error))
    return limit()


def limit() -> int:
    """The most files that may be open now."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _ENOUGH if soft == resource.RLIM_INFINITY else soft


def room_for(most: int, *, files_each: int = 1) -> int:
    """How many connections may be open at a time: `most`, or as many as leave files for everything else."""
    allowed = limit()
    return max(1, min(most, (allowed - min(_RESERVED, allowed // 2)) // files_each))
