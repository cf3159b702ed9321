"""What a file of bookmarks has, counted before it is imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.pipelines.bookmarks.links import page_hash
from forebay.services.egress import InvalidUrl, Policy, allowed_url

if TYPE_CHECKING:
    from forebay.pipelines.bookmarks.files import Entry


@dataclass(frozen=True, slots=True)
class Counted:
    """`pages`: hashes of the different pages that the valid links lead to."""

    pages: list[bytes]
    repeated: int
    invalid: int
    folders: int


def counted(entries: Sequence[Entry], policy: Policy) -> Counted:
    """Count the bookmarks of a file as the import does: links to the same page are one bookmark."""
    pages = Counter(page for entry in entries if (page := _page(entry, policy)) is not None)
    valid = pages.total()
    folders = {entry.category for entry in entries if entry.category}
    return Counted(list(pages), valid - len(pages), len(entries) - valid, len(folders))


def _page(entry: Entry, policy: Policy) -> bytes | None:
    """The hash of the page; None if the import would reject the link."""
    try:
        return None if entry.fault is not None else page_hash(str(allowed_url(entry.url, policy)))
    except InvalidUrl:
        return None
