"""The declaration of a provider, in TOML or JSON."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from forebay.services.products.columns import FieldName
from forebay.services.products.json_paths import JsonPath
from forebay.services.products.price_texts import read_currency
from forebay.services.products.strategies import BY_NAME, NAMES
from forebay.services.products.templates import HeaderTemplate, UrlTemplate


def _path(value: object) -> JsonPath:
    if not isinstance(value, str):
        raise ValueError("must be a JSONPath such as $.name")  # noqa: TRY004 - pydantic expects a ValueError
    return JsonPath(value)


def _paths(value: object) -> list[object]:
    return [*value] if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]


Path = Annotated[JsonPath, BeforeValidator(_path)]
Paths = Annotated[list[Path], Field(min_length=1, max_length=10), BeforeValidator(_paths)]
Status = Annotated[int, Field(ge=400, le=599)]
Code = str | int
Variable = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,99}$")]
SecretName = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,50}$")]


class _Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class ProviderLimits(_Declared):
    """Limits of requests and responses of a provider."""

    rate_per_s: Annotated[float, Field(gt=0)] | None = None
    concurrency: Annotated[int, Field(ge=1, le=1000)] = 4
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 10.0
    max_bytes: Annotated[int, Field(ge=1024, le=64 << 20)] = 2 << 20
    max_candidates: Annotated[int, Field(ge=1, le=200)] = 20
    throttled_wait_s: Annotated[float, Field(gt=0)] = 30.0
    longest_wait_s: Annotated[float, Field(gt=0)] = 3600.0


class ResponseSpec(_Declared):
    """The JSONPaths of candidates and their fields in a response."""

    items: Path
    fields: dict[FieldName, Paths] = Field(min_length=1)
    id: Paths | None = None
    expects: Path | None = None  # present in every successful response, even without candidates
    price_divisor: Annotated[int, Field(ge=1, le=1_000_000)] = 1  # 100 where prices are in cents


class Errors(_Declared):
    """The meaning of statuses and of codes in the response; other statuses have their usual meaning."""

    throttled: list[Status] = [429]
    not_found: list[Status] = [404, 410]
    config: list[Status] = [401, 403]
    transient: list[Status] = []
    code: Path | None = None
    ok_codes: list[Code] = [0, 200, "ok", "OK", "success", "SUCCESS"]
    throttled_codes: list[Code] = []
    not_found_codes: list[Code] = []
    config_codes: list[Code] = []
    transient_codes: list[Code] = []
    retry_after: str = "retry-after"

    @model_validator(mode="after")
    def _codes_are_read(self) -> Self:
        codes = (self.throttled_codes, self.not_found_codes, self.config_codes, self.transient_codes)
        if self.code is None and any(codes):
            raise ValueError("code: is missing; it must be the JSONPath of the listed codes")
        return self


class ProviderSpec(_Declared):
    """A provider: URLs and a mapping of the response, or a Python function."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,49}$")]
    enabled: bool = True
    priority: int = 100  # smaller ones are queried first
    currency: str | None = None  # of prices without a currency
    secrets: dict[SecretName, Variable] = {}
    headers: dict[str, str] = {}
    queries: dict[str, str] = {}
    response: ResponseSpec | None = None
    errors: Errors = Errors()
    limits: ProviderLimits = ProviderLimits()
    function: Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")] | None = None
    strategies: list[str] = list(NAMES)  # of a function

    @field_validator("currency")
    @classmethod
    def _known_currency(cls, value: str | None) -> str | None:
        return None if value is None else read_currency(value)

    @field_validator("secrets")
    @classmethod
    def _not_ours(cls, value: dict[str, str]) -> dict[str, str]:
        for variable in value.values():
            if variable.startswith("FOREBAY_"):
                raise ValueError(f"{variable} is a setting of forebay and not for providers")
        return value

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        if self.function is not None and (self.queries or self.response or self.headers):
            raise ValueError("function: excludes queries, response and headers: remove them")
        if self.function is None and not (self.queries and self.response):
            raise ValueError("queries and response are required, or else function")
        for name in (*self.queries, *self.strategies):
            if name not in BY_NAME:
                raise ValueError(f"{name!r} is not a strategy; the strategies are {', '.join(NAMES)}")
        self.url_templates()
        self.header_templates()
        return self

    def url_templates(self) -> dict[str, UrlTemplate]:
        """The URLs by strategy."""
        made: dict[str, UrlTemplate] = {}
        for name, text in self.queries.items():
            try:
                made[name] = UrlTemplate(text, (*BY_NAME[name].needs, "text"), self.secrets)
            except ValueError as error:
                raise ValueError(f"queries.{name}: {error}") from None
        return made

    def header_templates(self) -> list[HeaderTemplate]:
        """The headers."""
        made: list[HeaderTemplate] = []
        for name, text in self.headers.items():
            try:
                made.append(HeaderTemplate(name, text, self.secrets))
            except ValueError as error:
                raise ValueError(f"headers.{name}: {error}") from None
        return made
