"""Where the files of a sender are fetched: the address, the headers, and what an error means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from forebay.errors import ConfigError, PermanentError
from forebay.pipelines.attachments.lark_errors import TokenRejected
from forebay.services.egress import Origin, checked_url
from forebay.services.egress.statuses import status_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forebay.errors import StepError
    from forebay.pipelines.attachments.db import DownloadTask
    from forebay.pipelines.attachments.lark_client import LarkClient
    from forebay.pipelines.attachments.source_spec import DeclaredSource


class FileSource(Protocol):
    """The files of one sender."""

    @property
    def name(self) -> str: ...
    @property
    def trusted(self) -> Origin | None: ...

    async def url(self, task: DownloadTask, *, fresh: bool) -> str:
        """Raises: StepError."""
        ...

    async def headers(self, url: str) -> Mapping[str, str]:
        """Raises: StepError."""
        ...

    def error(self, status: int, headers: Mapping[str, str], body: bytes, place: str) -> StepError | None: ...

    def renew(self) -> bool:
        """Forget a token that was rejected; false if there is none to renew."""
        ...


class LarkFiles:
    """Files of approvals: each attempt after the first reads the form again, because addresses expire."""

    name = "lark"

    def __init__(self, client: LarkClient) -> None:
        self.client = client
        self.trusted: Origin | None = client.origin

    async def url(self, task: DownloadTask, *, fresh: bool) -> str:
        return await self.client.file_url(task, fresh=fresh)

    async def headers(self, url: str) -> Mapping[str, str]:
        return await self.client.headers(checked_url(url).origin)

    def error(self, status: int, headers: Mapping[str, str], body: bytes, place: str) -> StepError | None:
        return self.client.error(status, headers, body, place)

    def renew(self) -> bool:
        self.client.forget_token(self.client.last_token)
        return True


class DeclaredFiles:
    """Files whose addresses a delivery has named."""

    trusted: Origin | None = None

    def __init__(self, source: DeclaredSource) -> None:
        self.name, self._source = source.name, source

    async def url(self, task: DownloadTask, *, fresh: bool) -> str:
        if task.url is None:
            raise PermanentError(f"the delivery had no address for the file {task.name}")
        return task.url

    async def headers(self, url: str) -> Mapping[str, str]:
        if missing := self._source.missing():
            raise ConfigError(f"files of {self.name} cannot be fetched: {missing}")
        return self._source.request_headers(checked_url(url).host)

    def error(self, status: int, headers: Mapping[str, str], body: bytes, place: str) -> StepError | None:
        if status == 401:
            return TokenRejected(f"{place} rejected the token of {self.name} (401)")
        return status_error(status, headers, place)

    def renew(self) -> bool:
        return False
