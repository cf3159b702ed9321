"""The declaration of a source, in TOML or JSON."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from forebay.errors import ConfigError
from forebay.services.egress.errors import InvalidUrl
from forebay.services.egress.urls import checked_url
from forebay.services.sources.names import matches, why_bad_name
from forebay.services.sources.source_url import SourceUrl, checked_place

SecretName = Literal["password", "key", "key_file", "access_key", "secret_key", "session_token"]

_SECRETS: dict[str, set[str]] = {
    "file": set(),
    "s3": {"access_key", "secret_key", "session_token"},
    "ftp": {"password"},
    "ftps": {"password"},
    "sftp": {"password", "key", "key_file"},
}
_FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}")
_KEY = re.compile(r"((?:ssh|ecdsa|sk)-[a-z0-9@.-]+) ([A-Za-z0-9+/]{32,}={0,2})")


def _fingerprint(text: str) -> str | None:
    """The fingerprint of a host key, given as such or as a line of known_hosts."""
    if _FINGERPRINT.fullmatch(text):
        return text
    found = _KEY.search(text)
    try:
        blob = base64.b64decode(found[2], validate=True) if found else b""
    except ValueError:
        return None
    return f"SHA256:{base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip('=')}" if blob else None


def _place(value: object) -> SourceUrl:
    if not isinstance(value, str):
        raise ValueError("must be a URL such as sftp://user@host/path")  # noqa: TRY004 - pydantic expects a ValueError
    return checked_place(value)


def _listed(value: object) -> list[object]:
    return [*value] if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]


Variable = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,99}$")]
Patterns = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]],
    Field(min_length=1, max_length=20),
    BeforeValidator(_listed),
]
HostKeys = Annotated[list[str], Field(max_length=10), BeforeValidator(_listed)]


class SourceSpec(BaseModel):
    """A source, and what to do with its files."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,49}$")]
    url: Annotated[SourceUrl, BeforeValidator(_place)]
    owner: Annotated[str, Field(min_length=1, max_length=200)]  # the owner of the jobs
    enabled: bool = True
    patterns: Patterns = ["*"]
    recursive: bool = False
    schedule: Annotated[str, Field(max_length=200)] | None = None  # cron; without a schedule it is scanned on request
    timezone: str = "UTC"
    settle_s: Annotated[float, Field(ge=0, le=86400)] = 30.0
    after: Literal["keep", "delete", "move"] = "keep"
    move_to: Annotated[str, Field(min_length=1, max_length=200)] = "taken"
    max_bytes: Annotated[int, Field(ge=1)] = 2 << 30
    max_entries: Annotated[int, Field(ge=1, le=10_000_000)] = 100_000
    timeout_s: Annotated[float, Field(gt=0, le=3600)] = 60.0
    secrets: dict[SecretName, Variable] = {}
    endpoint: str | None = None  # of an S3-compatible service
    region: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")] = "us-east-1"
    anonymous: bool = False  # S3 without keys
    tls: Literal["explicit", "implicit"] | None = None  # of ftps; by default determined by the port
    host_keys: HostKeys = []
    # What to do with the files, which nothing here looks at. It was called `sheet` before other pipelines took files.
    options: Annotated[dict[str, Any], Field(validation_alias=AliasChoices("options", "sheet"))] = {}

    @field_validator("patterns")
    @classmethod
    def _are_patterns(cls, value: list[str]) -> list[str]:
        for pattern in value:
            parts = pattern.split("/")
            if parts.count("**") > 2 or any(part != "**" and why_bad_name(part) for part in parts):
                raise ValueError(f"{pattern!r} is not a pattern such as *.csv or 2026/**/*.csv")
        return value

    @field_validator("move_to")
    @classmethod
    def _is_below(cls, value: str) -> str:
        if any(why_bad_name(part) for part in value.split("/")):
            raise ValueError("must be a folder within the source, such as taken")
        return value

    @field_validator("timezone")
    @classmethod
    def _is_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ValueError, OSError, LookupError):
            raise ValueError(f"there is no time zone {value!r}") from None
        return value

    @field_validator("schedule")
    @classmethod
    def _is_cron(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            next(CronSim(value, datetime.now(UTC)))
        except CronSimError as error:
            raise ValueError(f"{value!r} is not a cron expression: {error}") from None
        except StopIteration:
            raise ValueError(f"{value!r} names a time that never comes") from None
        return value

    @field_validator("secrets")
    @classmethod
    def _are_not_ours(cls, value: dict[str, str]) -> dict[str, str]:
        for variable in value.values():
            if variable.startswith("FOREBAY_"):
                raise ValueError(f"{variable} is a setting of forebay and not for sources")
        return value

    @field_validator("endpoint")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        try:
            return None if value is None else checked_url(value).origin
        except InvalidUrl as error:
            raise ValueError(error.reason) from None

    @field_validator("host_keys")
    @classmethod
    def _are_keys(cls, value: list[str]) -> list[str]:
        for key in value:
            if _fingerprint(key) is None:
                raise ValueError(f"{key[:80]!r} is neither a fingerprint such as SHA256:… nor a line of known_hosts")
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if wrong := [*self._wrong_secrets(), *self._wrong_options()]:
            raise ValueError("\n".join(wrong))
        return self

    def _wrong_secrets(self) -> Iterator[str]:
        scheme, names = self.url.scheme, set(self.secrets)
        for name in sorted(names - _SECRETS[scheme]):
            yield f"secrets.{name}: is not used by {scheme}://"
        if scheme == "s3" and not self.anonymous and not {"access_key", "secret_key"} <= names:
            yield "secrets: access_key and secret_key are required, or else anonymous = true"
        if scheme in {"ftp", "ftps"} and self.url.user and "password" not in names:
            yield "secrets: password is required for a user"
        if scheme == "sftp" and not names & _SECRETS["sftp"]:
            yield "secrets: password, key or key_file is required"

    def _wrong_options(self) -> Iterator[str]:
        scheme, given = self.url.scheme, self.model_fields_set
        if scheme == "sftp" and not self.url.user:
            yield "url: must name a user, as in sftp://user@host/path"
        if scheme == "sftp" and not self.host_keys:
            yield f"host_keys: are required; `ssh-keyscan {self.url.host}` shows them: verify them with its operator"
        for name, of in (("host_keys", "sftp"), ("tls", "ftps"), ("endpoint", "s3"), ("region", "s3")):
            if name in given and scheme != of:
                yield f"{name}: is only for {of}://"
        if "anonymous" in given and scheme != "s3":
            yield "anonymous: is only for s3://; for FTP, omit the user in the URL"
        if "move_to" in given and self.after != "move":
            yield 'move_to: is only for after = "move"'

    @property
    def s3_endpoint(self) -> str:
        """The endpoint of the bucket, whose name is in the path, not in the host."""
        return self.endpoint or f"https://s3.{self.region}.amazonaws.com"

    @property
    def fingerprints(self) -> frozenset[str]:
        """The fingerprints of the accepted host keys."""
        return frozenset(filter(None, map(_fingerprint, self.host_keys)))

    @property
    def is_implicit_tls(self) -> bool:
        return self.tls == "implicit" or (self.tls is None and self.url.port == 990)

    def takes(self, path: str) -> bool:
        """Whether a file at this path would be taken."""
        if any(part.startswith(".") for part in path.split("/")) or self.is_moved(path):
            return False
        return (self.recursive or "/" not in path) and any(matches(path, pattern) for pattern in self.patterns)

    def is_moved(self, path: str) -> bool:
        """Whether this is the folder for moved files, or within."""
        return self.after == "move" and f"{path}/".startswith(f"{self.move_to}/")

    def secret(self, name: SecretName, environ: Mapping[str, str] = os.environ) -> str | None:
        """A secret; None if it is not declared.

        Raises: ConfigError when its variable is not set.
        """
        variable = self.secrets.get(name)
        if variable is None:
            return None
        value = environ.get(variable)
        if not value:
            raise ConfigError(f"source {self.name}: the variable {variable} with its {name} is not set")
        return value

    def missing_secrets(self, environ: Mapping[str, str] = os.environ) -> list[str]:
        """The variables that are not set."""
        return sorted({variable for variable in self.secrets.values() if not environ.get(variable)})
