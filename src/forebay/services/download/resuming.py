"""Downloads a URL into a partial file, and continues only if the content is provably the same.

The proof is a strong ETag, or a Last-Modified that is strong by its age (RFC 9110, 8.8.2). It is sent as If-Range; the
response is accepted only if its Content-Range, ETag and total match the partial file.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Protocol

from forebay.errors import DataError, PermanentError, TransientError
from forebay.services.download.receiving import Breaks, append_all
from forebay.services.egress.answers import media_type_and_charset
from forebay.services.egress.errors import UrlNotFound
from forebay.services.egress.statuses import status_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from forebay.services.download.partial_file import PartialFile
    from forebay.services.download.receiving import Report
    from forebay.services.egress.answers import FetchRequest, Response

_CONTENT_RANGE = re.compile(r"bytes (?:([0-9]{1,18})-([0-9]{1,18})|\*)/([0-9]{1,18}|\*)")
_KEPT = ("content-disposition", "content-type", "date", "etag", "last-modified")  # headers in the journal
_LONGEST_HEADER = 2000


class StreamingClient(Protocol):
    """Sends requests: `Http`, or what adds something to each request."""

    def stream(self, wanted: FetchRequest) -> AbstractAsyncContextManager[Response]: ...


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A complete file; `url` is the final URL after redirects."""

    path: Path
    size: int
    sha256: str
    url: str
    headers: Mapping[str, str]

    @property
    def media_type(self) -> str:
        return media_type_and_charset(self.headers.get("content-type", ""))[0]

    @property
    def etag(self) -> str | None:
        return self.headers.get("etag")

    @property
    def modified(self) -> str | None:
        return self.headers.get("last-modified")


@dataclass(frozen=True, slots=True)
class ContentRange:
    """The range of a response: `start` to before `end`; None in a 416."""

    start: int | None
    end: int | None
    total: int | None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> ContentRange | None:
        found = _CONTENT_RANGE.fullmatch(headers.get("content-range", "").strip())
        if found is None:
            return None
        total = None if found[3] == "*" else int(found[3])
        if found[1] is None:
            return cls(None, None, total)
        start, end = int(found[1]), int(found[2]) + 1
        is_possible = start < end and (total is None or end <= total)
        return cls(start, end, total) if is_possible else None


async def download(
    http: StreamingClient,
    wanted: FetchRequest,
    partial: PartialFile,
    *,
    report: Report | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Downloaded:
    """Download a URL; content of an earlier attempt in the partial file is not fetched again.

    `wanted.max_bytes` and `wanted.timeout` apply to the whole download; after an error the partial file stays for the
    next attempt. The URL may differ from the earlier one, as signed URLs do.

    Raises: what `Http.fetch` raises; DataError when it is too large; ResourceError when the disk is full.
    """
    deadline = clock() + wanted.timeout
    breaks = Breaks(partial)
    one = _Download(http, wanted, partial, report)
    while True:
        left = deadline - clock()
        try:
            await one.fetch_rest(max(left, 0.001))
        except TransientError:
            if not breaks.may_continue() or clock() >= deadline:
                raise
        except (DataError, UrlNotFound):
            partial.discard()
            raise
        else:
            about = dict(partial.journal.about)
            return Downloaded(partial.path, partial.size, partial.sha256, about.pop("url", wanted.url), about)


class _Download:
    def __init__(
        self, http: StreamingClient, wanted: FetchRequest, partial: PartialFile, report: Report | None
    ) -> None:
        self._http, self._partial, self._report = http, partial, report
        # Compressed responses cannot be continued, and their total size is unknown.
        self._wanted = replace(wanted, headers={**wanted.headers, "accept-encoding": "identity"})

    async def fetch_rest(self, timeout: float) -> None:
        if self._partial.is_whole:
            return
        wanted = replace(self._wanted, timeout=timeout)
        if not (self._partial.size and await self._continue(wanted)):
            async with self._http.stream(replace(wanted, raise_for_status=True)) as answer:
                await self._receive_all(answer)

    async def _continue(self, wanted: FetchRequest) -> bool:
        """Fetch the rest; false when the response does not prove that it is the rest."""
        size, proof = self._partial.size, self._partial.journal.proof or ""
        headers = {**wanted.headers, "range": f"bytes={size}-", "if-range": proof}
        async with self._http.stream(replace(wanted, headers=headers, raise_for_status=False)) as answer:
            if answer.status == 200:
                await self._receive_all(answer)
                return True
            part = ContentRange.of(answer.headers)
            if answer.status == 416:
                return part is not None and part.total == size and self._is_same(answer)
            if answer.status >= 400 and (error := status_error(answer.status, answer.headers, answer.url.place)):
                raise error
            if not self._is_rest(answer, part):
                return False
            assert part is not None  # noqa: S101 - it is the rest
            await self._append(answer, part.end)
        if part.total is not None and self._partial.size < part.total:  # a server may send less than requested
            raise TransientError(f"{answer.url.place} sent {self._partial.size} of {part.total} bytes")
        return True

    async def _receive_all(self, answer: Response) -> None:
        """Raises: PermanentError when the response has no content, such as 204."""
        if answer.status != 200:
            raise PermanentError(f"{answer.url.place} answered {answer.status}, which is not a whole file")
        is_plain = answer.headers.get("content-encoding", "identity").strip().lower() in ("", "identity")
        declared = answer.headers.get("content-length", "")
        total = int(declared) if is_plain and declared.isdecimal() and len(declared) < 19 else None
        about = {name: answer.headers[name][:_LONGEST_HEADER] for name in _KEPT if name in answer.headers}
        proof = _proof(answer.headers) if is_plain else None
        await self._partial.begin(proof, total, {**about, "url": str(answer.url)})
        await self._append(answer, total)

    async def _append(self, answer: Response, end: int | None) -> None:
        await append_all(
            self._partial,
            answer.chunks(),
            name=answer.url.place,
            max_bytes=self._wanted.max_bytes,
            end=end,
            report=self._report,
        )

    def _is_rest(self, answer: Response, part: ContentRange | None) -> bool:
        """Raises: DataError when the whole is too large."""
        known = self._partial.journal.total
        if answer.status != 206 or part is None or part.start != self._partial.size:
            return False
        if answer.headers.get("content-encoding", "identity").strip().lower() != "identity":
            return False
        if known is not None and part.total not in (None, known):
            return False
        if part.total is not None and part.total > self._wanted.max_bytes:
            raise DataError(f"{answer.url.place} has {part.total} bytes; at most {self._wanted.max_bytes} are allowed")
        return self._is_same(answer)

    def _is_same(self, answer: Response) -> bool:
        """Whether the validators of the response, if any, match the proof."""
        known = self._partial.journal.about
        return all(
            answer.headers[name] == known[name]
            for name in ("etag", "last-modified")
            if name in answer.headers and name in known
        )


def _proof(headers: Mapping[str, str]) -> str | None:
    """The validator that later proves that the content is identical."""
    etag = headers.get("etag", "")
    if etag.startswith('"') and len(etag) <= _LONGEST_HEADER:
        return etag
    modified = headers.get("last-modified", "")
    try:
        age = parsedate_to_datetime(headers.get("date", "")) - parsedate_to_datetime(modified)
    except (TypeError, ValueError):
        return None
    return modified if age.total_seconds() >= 1 else None
