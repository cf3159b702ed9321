"""The client: posts JSON and forms, validates responses, and reads streams of events."""

from __future__ import annotations

import json
import secrets
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from forebay.errors import TransientError
from forebay.services import egress
from forebay.services.openai.errors import answer_error, event_error
from forebay.services.openai.server_sent_events import EventReader

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from typing import TypeAlias

    from forebay.services.egress import FetchRequest, Http
    from forebay.services.openai.service import Service

    FormFields: TypeAlias = Mapping[str, str | tuple[str, ...]]

M = TypeVar("M", bound=BaseModel)

_MAX_BYTES = 32 << 20
_TIMEOUT_S = 90.0
_DONE = b"[DONE]"


@dataclass(frozen=True, slots=True)
class RequestFile:
    """A file in a form, such as a recording."""

    field: str
    name: str
    media_type: str
    content: bytes


class OpenAiClient:
    """Calls a service for one purpose."""

    def __init__(
        self, http: Http, service: Service, purpose: str, *, timeout: float = _TIMEOUT_S, max_bytes: int = _MAX_BYTES
    ) -> None:
        self.service = service
        self._http, self._purpose, self._timeout, self._max_bytes = http, purpose, timeout, max_bytes

    async def post(self, path: str, question: Mapping[str, Any], answer: type[M]) -> M:
        """Post a request, with the configured model, and return the validated response.

        Raises: ThrottledError, TransientError, ConfigError or DataError, as `errors` has them.
        """
        return await self._ask(self._wanted(path, "application/json", self._json(question)), answer)

    async def post_form(self, path: str, fields: FormFields, file: RequestFile, answer: type[M]) -> M:
        """The same for a form with a file, such as speech; a field may have several values.

        Raises: the same.
        """
        media_type, body = _form({"model": self.service.model, **fields}, file)
        return await self._ask(self._wanted(path, media_type, body), answer)

    async def stream(self, path: str, question: Mapping[str, Any], event: type[M]) -> AsyncGenerator[M]:
        """Stream the events of a response.

        The timeout bounds the time that the service takes for all of them; the time of the caller does not count.

        Raises: the same; TransientError when it ends before it is complete.
        """
        body = self._json({**question, "stream": True})
        reader = EventReader(f"the {self.service.name}")
        wanted = replace(self._wanted(path, "application/json", body, accept="text/event-stream"), times_reader=False)
        async with self._http.stream(wanted) as arriving:
            if arriving.status != 200:
                raise answer_error(
                    self.service, arriving.status, arriving.headers, (await arriving.read_beginning(65536, 10)).content
                )
            async with aclosing(arriving.chunks()) as pieces:
                async for piece in pieces:
                    for data in reader.feed(piece):
                        if data == _DONE:
                            return
                        if error := event_error(self.service, data):
                            raise error
                        yield self._validated(data, event)
        raise TransientError(f"the {self.service.name} ended its answer before it was complete")

    async def _ask(self, wanted: FetchRequest, answer: type[M]) -> M:
        fetched = await self._http.fetch(wanted)
        if fetched.status != 200:
            raise answer_error(self.service, fetched.status, fetched.headers, fetched.content)
        return self._validated(fetched.content, answer)

    def _validated(self, body: bytes, answer: type[M]) -> M:
        try:
            return answer.model_validate_json(body)
        except ValidationError as error:
            # Without the input, which may contain an owner's content; so the error itself is not chained.
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            reason = f"{where}: {first['msg']}" if where else first["msg"]
            raise TransientError(
                f"the {self.service.name} answered an invalid {answer.__name__}: {reason[:200]}"
            ) from None

    def _json(self, question: Mapping[str, Any]) -> bytes:
        return json.dumps({"model": self.service.model, **question}).encode()

    def _wanted(self, path: str, media_type: str, body: bytes, accept: str = "application/json") -> FetchRequest:
        headers = {"content-type": media_type, "accept": accept}
        if self.service.key is not None:
            headers["authorization"] = f"Bearer {self.service.key.get_secret_value()}"
        return egress.FetchRequest(
            f"{self.service.url}/{path}",
            self._purpose,
            self._max_bytes,
            self._timeout,
            headers=headers,
            method="POST",
            body=body,
            raise_for_status=False,
            secret_headers=frozenset({"authorization"}),
            trusted=self.service.origin,
        )


def _form(fields: FormFields, file: RequestFile) -> tuple[str, bytes]:
    """The media type and the body of a form."""
    boundary = secrets.token_hex(16)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"\r\n\r\n{value}\r\n'
        for name, values in fields.items()
        for value in ((values,) if isinstance(values, str) else values)
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(file.field)}"; '
        f'filename="{_quoted(file.name)}"\r\nContent-Type: {file.media_type}\r\n\r\n'
    )
    body = b"".join(["".join(parts).encode(), head.encode(), file.content, f"\r\n--{boundary}--\r\n".encode()])
    return f"multipart/form-data; boundary={boundary}", body


def _quoted(text: str) -> str:
    """Escape a name in a form, as specified by HTML."""
    return text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
