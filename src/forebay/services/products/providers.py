"""Providers: their requests and responses. The caller sends the requests through the egress proxy."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Protocol, TypeAlias, cast
from urllib.parse import urljoin

from forebay.errors import ConfigError, PermanentError, ThrottledError, TransientError
from forebay.services.egress.statuses import retry_after, status_error
from forebay.services.products.columns import FIELDS, FieldName
from forebay.services.products.normalizing import identity
from forebay.services.products.scoring import Candidate
from forebay.services.products.texts import clean
from forebay.types import Json

if TYPE_CHECKING:
    from forebay.services.products.provider_spec import ProviderLimits, ProviderSpec, ResponseSpec
    from forebay.services.products.strategies import Query


class ProviderResponse(Protocol):
    """A response with any status."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def content(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """A GET request. `secret_headers` must not be sent to another host after a redirect."""

    url: str = field(repr=False)  # both may contain secrets, which must not be logged
    headers: dict[str, str] = field(repr=False)
    secret_headers: frozenset[str] = frozenset()


# Given by the caller: sends a request through the egress proxy, within the limits of the provider.
Fetch: TypeAlias = Callable[[ProviderRequest], Awaitable[ProviderResponse]]
CandidateRows: TypeAlias = Iterable[Mapping[str, object]]
Function: TypeAlias = Callable[["Query", Fetch], Awaitable[CandidateRows]]


class Provider(ABC):
    """A provider that can be queried for a row."""

    def __init__(self, declaration: ProviderSpec, environ: Mapping[str, str] = os.environ) -> None:
        self._declared = declaration
        self._environ = environ

    def missing_secrets(self) -> list[str]:
        """The environment variables that are not set."""
        return sorted(name for name in self._declared.secrets.values() if not self._environ.get(name, "").strip())

    @property
    def name(self) -> str:
        return self._declared.name

    @property
    def priority(self) -> int:
        return self._declared.priority

    @property
    def limits(self) -> ProviderLimits:
        return self._declared.limits

    @property
    @abstractmethod
    def strategies(self) -> Collection[str]:
        """The names of its strategies."""

    @abstractmethod
    async def find(self, query: Query, fetch: Fetch) -> list[Candidate]:
        """The candidates for a query; empty if there are none.

        Raises: ThrottledError, TransientError, ConfigError, PermanentError or DataError, depending on the response.
        """

    def _candidates(self, found: CandidateRows, base: str | None = None) -> list[Candidate]:
        made = (self._candidate(each, base) for each in islice(found, self.limits.max_candidates))
        return [candidate for candidate in made if candidate is not None]

    def _candidate(self, found: Mapping[str, object], base: str | None) -> Candidate | None:
        raw: dict[FieldName, object] = {name: found[name] for name in FIELDS if found.get(name) is not None}
        for name in ("url", "image"):
            if base and isinstance(link := raw.get(name), str):
                raw[name] = _joined(base, link)
        fields = identity(raw, self._declared.currency).fields
        if not {"title", "gtin", "mpn", "sku"} & set(fields):
            return None
        return Candidate(provider=self.name, id=clean(found.get("id"), 200) or None, fields=fields)


class HttpProvider(Provider):
    """A service with GET requests and JSON responses."""

    def __init__(self, declaration: ProviderSpec, environ: Mapping[str, str] = os.environ) -> None:
        super().__init__(declaration, environ)
        if declaration.response is None:
            raise ValueError("response: is missing")
        self._response: ResponseSpec = declaration.response
        self._urls = declaration.url_templates()
        self._headers = declaration.header_templates()

    @property
    def strategies(self) -> Collection[str]:
        return self._urls.keys()

    async def find(self, query: Query, fetch: Fetch) -> list[Candidate]:
        answer = await fetch(self.request(query))
        return self.candidates(answer.status, answer.headers, answer.content)

    def request(self, query: Query) -> ProviderRequest:
        """The request for a query; secrets are read from the environment and not stored.

        Raises: ConfigError when a secret is not set; DataError when the query cannot be part of a URL.
        """
        secrets = {name: self._secret(variable) for name, variable in self._declared.secrets.items()}
        values: dict[str, str] = {**{str(name): value for name, value in query.values.items()}, "text": query.text}
        headers = {"accept": "application/json"} | {each.name: each.render(secrets) for each in self._headers}
        secret = frozenset(each.name for each in self._headers if each.is_secret)
        return ProviderRequest(self._urls[query.strategy].render(values, secrets), headers, secret)

    def _secret(self, variable: str) -> str:
        value = self._environ.get(variable, "").strip()
        if not value:
            raise ConfigError(f"provider {self.name}: set the environment variable {variable} and restart")
        if not all(" " <= each <= "~" for each in value):
            raise ConfigError(f"provider {self.name}: {variable} has characters that cannot be sent")
        return value

    def candidates(self, status: int, headers: Mapping[str, str], body: bytes) -> list[Candidate]:
        """The candidates of a response; empty if it reports no results.

        Raises: ThrottledError, TransientError, ConfigError or PermanentError.
        """
        if len(body) > self.limits.max_bytes:
            raise PermanentError(f"{self.name} answered more than {self.limits.max_bytes} bytes")
        headers = {name.lower(): value for name, value in headers.items()}
        document = _parsed(body) if self._declared.errors.code is not None else None
        if self._says_nothing_found(status, headers, document) or (status == 204 and not body):
            return []
        found = _parsed(body) if document is None else document
        if isinstance(found, _NoJson):
            raise found.error(self.name)
        items = self._response.items.values(found, self.limits.max_candidates)
        if not items:
            self._check_that_nothing_is_meant(status, found)
        base = next(iter(self._urls.values())).origin
        return self._candidates(map(self._extracted, items), base)

    def _says_nothing_found(self, status: int, headers: Mapping[str, str], document: Json) -> bool:
        """Whether the response reports no results; raises the error of another response without candidates."""
        declared = self._declared.errors
        code = self._code(document)
        said = f"{self.name} answered {status}" + (f" with code {code}" if code else "")
        if status in declared.throttled or code in _texts(declared.throttled_codes):
            self._throttled(said, headers)
        if status in declared.not_found or code in _texts(declared.not_found_codes):
            return True
        if status in declared.config or code in _texts(declared.config_codes):
            variables = " and ".join(sorted(self._declared.secrets.values()))
            raise ConfigError(f"{said}. Check {variables or 'its declaration, and whether it needs a key'}")
        if status in declared.transient or code in _texts(declared.transient_codes):
            raise TransientError(said)
        if error := status_error(status, headers, self.name, most_s=self.limits.longest_wait_s):
            raise error
        if not 200 <= status < 300:
            raise PermanentError(said)
        return False

    def _check_that_nothing_is_meant(self, status: int, found: Json) -> None:
        """A failure with a success status must not count as no results."""
        code = self._code(found)
        if code is not None and code not in _texts(self._declared.errors.ok_codes):
            raise TransientError(f"{self.name} answered {status} with code {code}, which its declaration does not list")
        expects = self._response.expects
        if expects is not None and not expects.values(found, 1):
            raise TransientError(f"{self.name} answered {status} without {expects.text}")

    def _throttled(self, said: str, headers: Mapping[str, str]) -> NoReturn:
        told = headers.get(self._declared.errors.retry_after.lower(), "")
        wait = retry_after({"retry-after": told}, most_s=self.limits.longest_wait_s)
        raise ThrottledError(said, retry_after=self.limits.throttled_wait_s if wait is None else wait)

    def _code(self, document: Json) -> str | None:
        path = self._declared.errors.code
        if path is None or document is None or isinstance(document, _NoJson):
            return None
        code = path.scalar(document)
        return None if code is None else clean(code, 100)

    def _extracted(self, item: Json) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, paths in self._response.fields.items():
            found[name] = next((value for path in paths if (value := path.scalar(item)) is not None), None)
        if self._response.id is not None:
            found["id"] = next((value for path in self._response.id if (value := path.scalar(item)) is not None), None)
        if self._response.price_divisor != 1:
            found["price"] = _divided(found.get("price"), self._response.price_divisor)
        return found


class FunctionProvider(Provider):
    """A custom async function: `async def find(query, fetch)` returns mappings of fields."""

    def __init__(self, declaration: ProviderSpec, function: Function) -> None:
        super().__init__(declaration)
        self._function = function

    @property
    def strategies(self) -> Collection[str]:
        return self._declared.strategies

    async def find(self, query: Query, fetch: Fetch) -> list[Candidate]:
        found = cast("object", await self._function(query, fetch))
        if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
            raise ConfigError(f"provider {self.name}: its function must return a list of mappings")
        listed = list(islice(cast("Iterable[object]", found), self.limits.max_candidates))
        if not all(isinstance(each, Mapping) for each in listed):
            raise ConfigError(f"provider {self.name}: its function must return a list of mappings")
        return self._candidates(cast("list[Mapping[str, object]]", listed))


class _NoJson(NamedTuple):
    """An invalid response, and whether a retry may help."""

    reason: str
    is_lasting: bool

    def error(self, name: str) -> PermanentError | TransientError:
        text = f"{name} answered {self.reason}"
        return PermanentError(text) if self.is_lasting else TransientError(text)


def _parsed(body: bytes) -> Json:
    try:
        return json.loads(body, parse_constant=lambda _: None)
    except RecursionError:
        return _NoJson("JSON that is nested too deeply", is_lasting=True)
    except ValueError:  # an HTML error page, or a truncated response
        return _NoJson("something that is not JSON", is_lasting=False)


def _texts(codes: Iterable[str | int]) -> frozenset[str | None]:
    return frozenset(map(str, codes))


def _divided(price: object, divisor: int) -> object:
    try:
        return Decimal(clean(price, 50)) / divisor
    except InvalidOperation:
        return price


def _joined(base: str, link: str) -> str:
    try:
        return urljoin(base, link)
    except ValueError:
        return link
