"""Fetches files: each request waits for the rate, and is counted against the quota, of its sender, by all workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from forebay import resources
from forebay.engine.declare.limit import RESERVED_PREFIX, Limit
from forebay.engine.declare.resources import resource
from forebay.errors import ConfigError, DataError, ThrottledError
from forebay.pipelines.attachments import db
from forebay.pipelines.attachments.declared_sources import load_declared
from forebay.pipelines.attachments.file_sources import DeclaredFiles, LarkFiles
from forebay.pipelines.attachments.lark_client import LarkClient
from forebay.pipelines.attachments.lark_errors import TokenRejected
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.services.provider_gate import ProviderGate

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from forebay.engine.declare.resources import Resources
    from forebay.pipelines.attachments.db import DownloadTask
    from forebay.pipelines.attachments.file_sources import FileSource
    from forebay.pipelines.attachments.lark_forms import Form
    from forebay.services.download.partial_file import PartialFile
    from forebay.services.download.receiving import Report
    from forebay.services.download.resuming import Downloaded
    from forebay.services.egress import FetchRequest, Http
    from forebay.services.egress.answers import Response

_ERROR_BYTES = 4096
_ERROR_S = 5.0
_READS = 16  # concurrent reads of instances
_READ_RATE = 40.0  # Lark allows 50 a second
_LARK_DOWNLOADS = 32
_DAY_S = 86_400.0
_MOST_RENEWED = 1000  # files; one that is forgotten, as another worker may have taken it, gets one more token


@dataclass(frozen=True, slots=True)
class Allowance:
    """The requests for files that a sender allows; `app`: whose quota it is."""

    app: str
    rate: float | None
    per_day: int | None
    concurrency: int


class Wanted(NamedTuple):
    """A download: the file, whether its address must be fresh, where it goes."""

    task: DownloadTask
    fresh: bool
    partial: PartialFile
    report: Report | None


class CountedRequests:
    """An HTTP client for the files of one sender: every request, also one that continues a download, is counted."""

    def __init__(self, http: Http, given: Resources, source: FileSource, allowed: Allowance, times: Times) -> None:
        self._http, self._source, self._allowed, self._now = http, source, allowed, times.now
        self._pool, self._limits = given.pool, given.limits
        self._rate = Limit(f"{RESERVED_PREFIX}attachments {allowed.app}", rate=allowed.rate) if allowed.rate else None

    @asynccontextmanager
    async def stream(self, wanted: FetchRequest) -> AsyncGenerator[Response]:
        """Raises: ThrottledError while the sender allows no more; StepError for an answer that is an error."""
        headers = await self._source.headers(wanted.url)
        await self._admit()
        request = replace(wanted, headers={**wanted.headers, **headers}, raise_for_status=False)
        async with self._http.stream(request) as answer:
            if answer.status >= 400 and answer.status != 416:  # which says that the partial file is whole
                said = await answer.read_beginning(_ERROR_BYTES, _ERROR_S)
                error = self._source.error(answer.status, answer.headers, said.content, answer.url.place)
                if error is not None:
                    raise error
            yield answer

    async def _admit(self) -> None:
        if self._rate is not None:
            async with resources.permitted(self._limits, self._rate):
                pass  # only starts are limited
        if self._allowed.per_day is None:
            return
        now = self._now()
        until = await db.take_quota(self._pool, self._allowed.app, self._allowed.per_day, now)
        if until is not None:
            reason = f"the quota of {self._allowed.per_day} files in 24 hours is used up until {until:%H:%M} UTC"
            wait = (until - (now or datetime.now(UTC))).total_seconds()
            raise ThrottledError(reason, retry_after=min(max(wait, 1.0), _DAY_S), ours=True)


class SenderFiles:
    """The files of one sender behind a gate: a circuit breaker and adaptive concurrency."""

    def __init__(
        self, source: FileSource, client: CountedRequests, gate: Callable[..., Any], settings: AttachmentsSettings
    ) -> None:
        self._source, self._client, self._settings = source, client, settings
        self._bytes = 0
        self._renewed: dict[int, None] = {}  # files that wait after their token was replaced, the oldest first
        self.gate: ProviderGate[Wanted, Downloaded] = gate(self._download)

    async def fetch(self, wanted: Wanted) -> Downloaded:
        """Raises: StepError."""
        return await self.gate.ask(wanted)

    async def _download(self, wanted: Wanted) -> Downloaded:
        try:
            done = await self._renewing(wanted)
        except ThrottledError:
            raise  # the file has not ended: it waits its turn
        except BaseException:
            self._renewed.pop(wanted.task.id, None)
            raise
        self._renewed.pop(wanted.task.id, None)
        self._bytes += done.size
        return done

    async def _renewing(self, wanted: Wanted) -> Downloaded:
        """A token that is rejected is replaced once for each file, also if the second request has to wait its turn."""
        try:
            return await self._attempt(wanted)
        except TokenRejected:
            if wanted.task.id in self._renewed or not self._source.renew():
                raise
        if len(self._renewed) >= _MOST_RENEWED:
            del self._renewed[next(iter(self._renewed))]
        self._renewed[wanted.task.id] = None
        return await self._attempt(wanted._replace(fresh=True))

    async def _attempt(self, wanted: Wanted) -> Downloaded:
        from forebay.services.download.resuming import download  # noqa: PLC0415 - an extra
        from forebay.services.egress import FetchRequest  # noqa: PLC0415

        task, own = wanted.task, self._settings
        url = await self._source.url(task, fresh=wanted.fresh)
        request = FetchRequest(
            url,
            f"attachments.{self._source.name}",
            own.max_bytes,
            own.timeout_s,
            trusted=self._source.trusted,
            robots=False,
            polite=False,
        )
        done = await download(self._client, request, wanted.partial, report=wanted.report)
        _check(task, done)
        return done

    def describe(self) -> dict[str, Any]:
        return {**self.gate.describe(), "bytes": self._bytes}


def _check(task: DownloadTask, done: Downloaded) -> None:
    """Raises: DataError if it is not the file that was announced."""
    if task.expected_sha256 is not None and done.sha256 != task.expected_sha256.hex():
        raise DataError(f"{task.name} has another hash than its sender announced: {done.sha256}")
    if task.expected_size is not None and done.size != task.expected_size:
        raise DataError(f"{task.name} has {done.size} bytes; its sender announced {task.expected_size}")


class Files:
    """The files of all senders of a worker."""

    def __init__(self, by_name: Mapping[str, SenderFiles], lark: ProviderGate[str, Form] | None) -> None:
        self._by_name, self._lark = by_name, lark

    def of(self, source: str) -> SenderFiles:
        """Raises: ConfigError for a sender that is no longer configured."""
        if source not in self._by_name:
            raise ConfigError(f"the sender {source} is not configured on this machine: set it up, or delete its jobs")
        return self._by_name[source]

    async def form(self, code: str) -> Form:
        """The form of an approval.

        Raises: StepError.
        """
        if self._lark is None:
            raise ConfigError("approvals need FOREBAY_ATTACHMENTS_LARK_APP_ID and FOREBAY_ATTACHMENTS_LARK_OWNER")
        return await self._lark.ask(code)

    def describe(self) -> Mapping[str, Any]:
        return {name: each.describe() for name, each in self._by_name.items()}


@resource
async def files(given: Resources) -> AsyncGenerator[Files]:
    yield await open_files(given)


class Times(NamedTuple):
    """The clocks of a worker; tests have others. `now`: None is that of the database."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    now: Callable[[], datetime | None] = lambda: None


async def open_files(given: Resources, times: Times = Times()) -> Files:  # noqa: B008 - it is immutable
    """Raises: ConfigError for an invalid declaration, or a missing extra."""
    from forebay.services.egress.politeness import Politeness  # noqa: PLC0415 - an extra

    own = given.settings.of(AttachmentsSettings)
    http = await given.get(resources.http)
    clock = times.clock
    politeness = Politeness(given.settings, clock=clock, sleep=times.sleep)

    def made(source: FileSource, allowed: Allowance) -> SenderFiles:
        def gate(call: Any) -> ProviderGate[Wanted, Downloaded]:
            return ProviderGate(f"{source.name} files", call, politeness, concurrency=allowed.concurrency, clock=clock)

        return SenderFiles(source, CountedRequests(http, given, source, allowed, times), gate, own)

    found: dict[str, SenderFiles] = {}
    lark: ProviderGate[str, Form] | None = None
    if own.has_lark:
        client = LarkClient(http, own, clock)
        reads = Limit(f"{RESERVED_PREFIX}attachments reads {own.lark_app_id}", rate=_READ_RATE)
        lark = ProviderGate(
            "lark",
            client.instance,
            politeness,
            concurrency=_READS,
            permits=lambda: resources.permitted(given.limits, reads),
            clock=clock,
        )
        allowed = Allowance(own.lark_app_id, own.lark_rate, own.lark_daily_quota, _LARK_DOWNLOADS)
        found["lark"] = made(LarkFiles(client), allowed)
    for declared in await asyncio.to_thread(load_declared, own.sources):
        limits = declared.limits
        allowed = Allowance(declared.name, limits.rate_per_s, limits.per_day, limits.concurrency)
        found[declared.name] = made(DeclaredFiles(declared), allowed)
    opened = Files(found, lark)
    given.add_description("attachments", opened.describe)
    return opened
