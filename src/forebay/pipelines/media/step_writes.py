"""The statements with which steps write shares, in the transaction that settles them.

Each names the owner, so that a task can only change shares of its owner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_core import to_json

from forebay.pipelines.media.db import load
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forebay.pipelines.media.step_share import Share
    from forebay.storage import Stored


def write_facts(share: Share, found: Mapping[str, object]) -> Statement:
    """What is known before the download."""
    return Statement(load("write_facts"), (share.id, share.owner_id, to_json(dict(found)).decode()))


def write_failure(share: Share, reason: str, *, is_last: bool) -> Statement:
    return Statement(load("write_failure"), (share.id, share.owner_id, reason, is_last))


def write_file(share: Share, stored: Stored) -> Statement:
    """The statement that adds a stored file, unless the share was deleted."""
    content = bytes.fromhex(stored.sha256)
    given = (stored.file_id, share.owner_id, content, stored.name, stored.media_type, share.id)
    return Statement(load("add_share_file"), given)


def write_download(share: Share, stored: Stored, poster_id: int | None, found: Mapping[str, object]) -> Statement:
    """The statement that makes a stored file that of the share; it is ready then."""
    content, about = bytes.fromhex(stored.sha256), to_json(dict(found)).decode()
    given = (share.id, share.owner_id, stored.file_id, content, stored.size, poster_id, about)
    return Statement(load("write_download"), given)


def write_playlist(share: Share) -> Statement:
    return Statement(load("write_playlist"), (share.id, share.owner_id))


def write_spoken(share: Share) -> Statement:
    """The statement that makes the transcript searchable."""
    return Statement(load("write_spoken"), (share.id, share.owner_id))
