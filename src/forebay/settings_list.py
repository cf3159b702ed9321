"""Every setting with its value, the origin of the value, its default and its meaning. Secrets are masked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from forebay.packages import settings_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

    from forebay.base_settings import SettingsBase
    from forebay.settings import Settings

MASK = "**********"
_CREDENTIALS = re.compile(r"(://)[^/@\s]+@")  # in an address


@dataclass(frozen=True, slots=True)
class SettingRow:
    package: str | None  # None: of forebay itself
    variable: str
    value: Any
    source: str  # default, environment or .env
    meaning: str
    default: Any
    is_secret: bool


def list_settings(settings: Settings) -> list[SettingRow]:
    """The settings of forebay, then those of each package."""
    rows = [*_rows(None, settings)]
    for package, kind in settings_classes().items():
        rows += _rows(package, settings.of(kind))
    return rows


def _rows(package: str | None, settings: SettingsBase) -> Iterator[SettingRow]:
    kind = type(settings)
    origins = kind.origins()
    for name, field in kind.model_fields.items():
        is_secret = "Secret" in str(field.annotation)
        yield SettingRow(
            package,
            kind.variable(name),
            _plain(getattr(settings, name)),
            origins.get(name, "default"),
            field.description or "",
            _plain(_default(field)),
            is_secret,
        )


def _default(field: FieldInfo) -> Any:
    value = field.get_default(call_default_factory=True, validated_data={})
    return None if value is PydanticUndefined else value


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return MASK
    if value is None or isinstance(value, bool | int | float):
        return value
    return _CREDENTIALS.sub(rf"\1{MASK}@", str(value))
