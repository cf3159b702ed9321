"""The declaration of a sender of webhooks, in TOML or JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator

from forebay.errors import PermanentError
from forebay.pipelines.attachments.db import Announced, AnnouncedFile
from forebay.services.egress.errors import InvalidUrl
from forebay.services.egress.urls import checked_url
from forebay.services.products.json_paths import JsonPath
from forebay.services.products.templates import HeaderTemplate
from forebay.types import Json
from forebay.webhooks.signatures import GITHUB, STANDARD_WEBHOOKS, STRIPE, Delivery, Scheme, WebhookSource

_SCHEMES = {"github": GITHUB, "standard-webhooks": STANDARD_WEBHOOKS, "stripe": STRIPE}
_MOST_FILES = 1000
_LONGEST = {"key": 255, "title": 500, "state": 100, "name": 500, "file": 500, "fact": 2000}


def _path(value: object) -> JsonPath:
    if not isinstance(value, str):
        raise ValueError("must be a JSONPath such as $.name")  # noqa: TRY004 - pydantic expects a ValueError
    return JsonPath(value)


Path = Annotated[JsonPath, BeforeValidator(_path)]
Variable = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,99}$")]
SecretName = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,50}$")]


class _Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class SchemeSpec(_Declared):
    """How a sender signs, if it is none of the known ones: an HMAC over the raw body, and perhaps a time."""

    signature_header: str
    signature_pattern: str = r"^([0-9a-f]{64})$"
    signed: str = "{body}"
    encoding: Literal["hex", "base64"] = "hex"
    timestamp_header: str | None = None
    id_header: str | None = None
    key_paths: list[str] = []

    def scheme(self) -> Scheme:
        return Scheme(
            self.signature_header.lower(),
            self.signature_pattern,
            self.signed,
            encoding=self.encoding,
            timestamp_header=_lower(self.timestamp_header),
            id_header=_lower(self.id_header),
            key_paths=tuple(self.key_paths),
        )


class Condition(_Declared):
    """A delivery is ignored unless the header, or the value at the path, is one of these."""

    header: str | None = None
    path: Path | None = None
    values: list[str] = Field(min_length=1)

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        if (self.header is None) == (self.path is None):
            raise ValueError("needs either header or path")
        return self

    def holds(self, body: Json, headers: Mapping[str, str]) -> bool:
        found = headers.get(self.header) if self.header else self.path.scalar(body) if self.path else None
        return found is not None and str(found) in self.values


class InstanceSpec(_Declared):
    """The JSONPaths of what an instance is."""

    key: Path
    title: Path | None = None
    state: Path | None = None
    facts: dict[str, Path] = {}


class FilesSpec(_Declared):
    """The JSONPaths of files; all but `each` are looked for within a file."""

    each: Path
    url: Path
    name: Path
    key: Path | None = None  # identifies it; without one, its address does
    size: Path | None = None
    sha256: Path | None = None


class SourceLimits(_Declared):
    """How much may be asked of the host of the files."""

    rate_per_s: Annotated[float, Field(gt=0, le=1000)] | None = None
    per_day: Annotated[int, Field(ge=1)] | None = None
    concurrency: Annotated[int, Field(ge=1, le=1000)] = 8


class SourceSpec(_Declared):
    """A sender: how it signs, which deliveries count, and where its files are in them."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,49}$")]
    owner: str = ""
    owner_variable: Variable | None = None
    signing: Literal["github", "standard-webhooks", "stripe"] | SchemeSpec
    signing_secrets: list[Variable] = Field(min_length=1, max_length=10)
    when: list[Condition] = []
    instance: InstanceSpec
    files: FilesSpec
    secrets: dict[SecretName, Variable] = {}
    headers: dict[str, str] = {}
    header_hosts: list[str] = []  # only they get headers with secrets
    limits: SourceLimits = SourceLimits()

    @model_validator(mode="after")
    def _is_usable(self) -> Self:
        if bool(self.owner) == (self.owner_variable is not None):
            raise ValueError("needs either owner or owner_variable")
        for variable in (*self.signing_secrets, *self.secrets.values()):
            if variable.startswith("FOREBAY_"):
                raise ValueError(f"{variable} is a setting of forebay and not for senders")
        if any(each.is_secret for each in self.header_templates()) and not self.header_hosts:
            raise ValueError("header_hosts: is missing; it lists the hosts that get headers with secrets")
        return self

    def header_templates(self) -> list[HeaderTemplate]:
        made: list[HeaderTemplate] = []
        for name, text in self.headers.items():
            try:
                made.append(HeaderTemplate(name, text, self.secrets))
            except ValueError as error:
                raise ValueError(f"headers.{name}: {error}") from None
        return made


class DeclaredSource:
    """A declared sender, with the variables of this process."""

    def __init__(self, spec: SourceSpec, environ: Mapping[str, str] = os.environ) -> None:
        self.spec, self.name, self.limits = spec, spec.name, spec.limits
        self.owner = spec.owner or environ.get(spec.owner_variable or "", "")
        self._environ = environ
        self._headers = spec.header_templates()

    def missing(self) -> str | None:
        """The variables that requests for files need and that are not set."""
        unset = [each for each in self.spec.secrets.values() if not self._environ.get(each)]
        return f"{' and '.join(unset)} is not set" if unset else None

    def webhook(self, max_bytes: int) -> WebhookSource:
        signing = self.spec.signing
        scheme = _SCHEMES[signing] if isinstance(signing, str) else signing.scheme()
        secrets = [SecretStr(self._environ.get(each, "")) for each in self.spec.signing_secrets]
        return WebhookSource(self.name, scheme, secrets, max_bytes=max_bytes)

    def request_headers(self, host: str) -> dict[str, str]:
        """The headers of a request for a file; those with secrets only for declared hosts."""
        values = {name: self._environ.get(variable, "") for name, variable in self.spec.secrets.items()}
        allowed = host in self.spec.header_hosts
        return {each.name: each.render(values) for each in self._headers if allowed or not each.is_secret}

    def read(self, delivery: Delivery, headers: Mapping[str, str]) -> tuple[str | None, Announced | None]:
        """The event, and what it announces; None if a condition does not hold, or it names no instance."""
        try:
            body: Json = json.loads(delivery.body)
            if not all(each.holds(body, headers) for each in self.spec.when):
                return _event(headers), None
            return _event(headers), self._announced(body)
        except (ValueError, RecursionError, PermanentError):
            return _event(headers), None

    def _announced(self, body: Json) -> Announced | None:
        about = self.spec.instance
        key = _text(about.key, body, "key")
        if key is None:
            return None
        facts = [
            {"name": name, "value": value}
            for name, path in about.facts.items()
            if (value := _text(path, body, "fact")) is not None
        ]
        files = [file for each in self.spec.files.each.values(body, _MOST_FILES) if (file := self._file(each))]
        title, state = _text(about.title, body, "title"), _text(about.state, body, "state")
        return Announced(key, title, state, facts, files)

    def _file(self, value: Json) -> AnnouncedFile | None:
        """None for one without an address: it is left out."""
        spec = self.spec.files
        url, name = spec.url.scalar(value), _text(spec.name, value, "name")
        try:
            address = str(checked_url(str(url or "")))
        except InvalidUrl:
            return None
        size = spec.size.scalar(value) if spec.size else None
        key = _text(spec.key, value, "file") or address[-_LONGEST["file"] :]
        return AnnouncedFile(
            key,
            name or address.partition("?")[0].rpartition("/")[2] or "file",
            address,
            size if isinstance(size, int) and 0 <= size < 2**63 else None,
            _digest(_text(spec.sha256, value, "fact")),
        )


def _digest(text: str | None) -> str | None:
    """A SHA-256, which may have the prefix that GitHub gives it."""
    plain = (text or "").removeprefix("sha256:").lower()
    return plain if len(plain) == 64 and all(each in "0123456789abcdef" for each in plain) else None


def _text(path: JsonPath | None, value: Json, kind: str) -> str | None:
    found: Any = None if path is None else path.scalar(value)
    if found is None or isinstance(found, bool):
        return None
    return str(found).replace("\0", "")[: _LONGEST[kind]] or None


def _event(headers: Mapping[str, str]) -> str | None:
    return headers.get("x-github-event")


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()
