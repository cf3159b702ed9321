"""The client of Lark: tokens that live in memory only, instances, and the addresses of their files."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from forebay.errors import ConfigError, DataError, PermanentError
from forebay.pipelines.attachments.lark_errors import TokenRejected, answer_error
from forebay.pipelines.attachments.lark_forms import Form, read_form
from forebay.services.egress import FetchRequest, Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from forebay.errors import StepError
    from forebay.pipelines.attachments.db import DownloadTask
    from forebay.pipelines.attachments.settings import AttachmentsSettings
    from forebay.services.egress import Fetched, Http

_PURPOSE = "attachments.lark"
_MAX_ANSWER = 8 << 20
_TIMEOUT_S = 20.0
_EARLY_S = 120.0  # a token is replaced this long before it expires
_FORMS = 256  # instances whose addresses are remembered
_FORM_S = 240.0  # addresses are promised for five minutes at least
_TOKEN_PATH = "/open-apis/auth/v3/tenant_access_token/internal"  # noqa: S105 - a path
_FILE_TOKEN = re.compile(r"[A-Za-z0-9_-]{5,200}")


class LarkClient:
    """Calls the API of Lark with the token of the tenant."""

    def __init__(self, http: Http, settings: AttachmentsSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._http, self._settings, self._clock = http, settings, clock
        self._base = settings.lark_url.rstrip("/")
        self.origin = Origin.of(self._base)
        self._token, self._good_until = "", 0.0
        self._lock = asyncio.Lock()
        self._forms: OrderedDict[str, tuple[float, Form]] = OrderedDict()

    async def instance(self, code: str) -> Form:
        """The form of an instance, with fresh addresses of its files.

        Raises: StepError.
        """
        answer = await self._ask(f"/open-apis/approval/v4/instances/{quote(code, safe='')}")
        data: Any = json.loads(answer.content).get("data")
        if not isinstance(data, dict):
            raise DataError(f"Lark has no instance {code}")
        form = read_form(data)  # pyright: ignore[reportUnknownArgumentType]
        self._forms[code] = (self._clock() + _FORM_S, form)
        self._forms.move_to_end(code)
        while len(self._forms) > _FORMS:
            self._forms.popitem(last=False)
        return form

    async def file_url(self, task: DownloadTask, *, fresh: bool) -> str:
        """The address of a file; `fresh`: an earlier one has failed, so that the form is read again.

        Raises: StepError; PermanentError if the form no longer has the file.
        """
        until, form = self._forms.get(task.instance_key, (0.0, None))
        if fresh or form is None or until < self._clock():
            form = await self.instance(task.instance_key)
        address = form.addresses.get(task.key)
        if address is None:
            raise PermanentError(f"the form no longer has the file {task.name}")
        if address.startswith(("http://", "https://")):
            return address
        if not _FILE_TOKEN.fullmatch(address):
            raise PermanentError(f"the form has no valid address for the file {task.name}")
        return f"{self._base}/open-apis/drive/v1/medias/{address}/download"

    async def headers(self, origin: str) -> Mapping[str, str]:
        """The headers of a request for a file: the token goes to the API only."""
        return {"authorization": f"Bearer {await self.token()}"} if origin == str(self.origin) else {}

    def error(self, status: int, headers: Mapping[str, str], body: bytes, place: str) -> StepError | None:
        return answer_error(status, headers, self._without_token(body), place, is_content=True)

    # Tokens.

    async def token(self) -> str:
        """The token of the tenant; all callers that need a new one share a request.

        Raises: StepError.
        """
        async with self._lock:
            if self._clock() >= self._good_until:
                self._token, self._good_until = await self._fetch_token()
            return self._token

    def forget_token(self, rejected: str) -> None:
        """Have the next call fetch a new one, unless that has happened."""
        if rejected == self._token:
            self._good_until = 0.0

    @property
    def last_token(self) -> str:
        return self._token

    async def _fetch_token(self) -> tuple[str, float]:
        own, began = self._settings, self._clock()
        secret = own.lark_app_secret.get_secret_value()
        if not secret:
            raise ConfigError("FOREBAY_ATTACHMENTS_LARK_APP_SECRET is not set")
        body = json.dumps({"app_id": own.lark_app_id, "app_secret": secret}).encode()
        answer = await self._http.fetch(self._request(_TOKEN_PATH, {}, body))
        if error := answer_error(answer.status, answer.headers, answer.content, self._base + _TOKEN_PATH):
            raise error
        read: Any = json.loads(answer.content)
        token, expire = read.get("tenant_access_token"), read.get("expire")
        if not isinstance(token, str) or not isinstance(expire, int):
            raise DataError("Lark sent no token")
        return token, began + max(expire - _EARLY_S, expire / 2)

    # Requests.

    async def _ask(self, path: str) -> Fetched:
        """A GET of the API; a token that is rejected is replaced once.

        Raises: StepError.
        """
        for is_last in (False, True):
            token = await self.token()
            answer = await self._http.fetch(self._request(path, {"authorization": f"Bearer {token}"}))
            body = self._without_token(answer.content)
            error = answer_error(answer.status, answer.headers, body, self._base + path)
            if error is None:
                return answer
            if is_last or not isinstance(error, TokenRejected):
                raise error
            self.forget_token(token)
        raise AssertionError("unreachable")

    def _request(self, path: str, headers: Mapping[str, str], body: bytes | None = None) -> FetchRequest:
        return FetchRequest(
            self._base + path,
            _PURPOSE,
            _MAX_ANSWER,
            _TIMEOUT_S,
            headers={**headers, "content-type": "application/json; charset=utf-8"},
            method="GET" if body is None else "POST",
            body=body,
            raise_for_status=False,
            trusted=self.origin,
            robots=False,
            polite=False,
        )

    def _without_token(self, body: bytes) -> bytes:
        """An answer that repeats the token must not carry it into an error."""
        return body.replace(self._token.encode(), b"***") if self._token else body
