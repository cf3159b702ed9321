"""The base of all settings: they are read from FOREBAY_… variables and .env, and some have alternative names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

Seconds = Annotated[float, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class OtherName:
    """The field that an alternative variable sets, and the factor for its value."""

    field: str
    factor: float = 1


class OtherNames(PydanticBaseSettingsSource):
    """Reads settings by their alternative names; the primary name takes precedence within one source."""

    def __init__(self, settings_cls: type[SettingsBase], variables: Mapping[str, str | None]) -> None:
        super().__init__(settings_cls)
        self._names = settings_cls.other_names
        self._variables = variables

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        if not self._names:
            return {}
        given = {name.upper(): text for name, text in self._variables.items() if text}
        found = {variable: other for variable, other in self._names.items() if variable in given}
        return {other.field: _scaled(given[variable], other.factor) for variable, other in found.items()}


def _scaled(text: str, factor: float) -> str | float:
    """The scaled number. Text that is not a number is returned unchanged, and validation of the setting rejects it."""
    try:
        return text if factor == 1 else float(text) * factor
    except ValueError:
        return text


class SettingsBase(BaseSettings):
    """A class of settings; the variable of a field is the prefix of the class and the name of the field."""

    model_config = SettingsConfigDict(env_prefix="FOREBAY_", env_file=".env", extra="ignore", frozen=True)

    other_names: ClassVar[Mapping[str, OtherName]] = {}
    """Alternative variables: names from other systems, and former names."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        assert isinstance(dotenv_settings, DotEnvSettingsSource)  # noqa: S101 - guaranteed by pydantic-settings
        return (
            init_settings,
            env_settings,
            OtherNames(cls, os.environ),
            dotenv_settings,
            OtherNames(cls, dotenv_settings.env_vars),
            file_secret_settings,
        )

    @classmethod
    def variable(cls, field: str) -> str:
        """The variable of a field."""
        return f"{cls.model_config.get('env_prefix', '')}{field}".upper()

    @classmethod
    def variables(cls) -> set[str]:
        """All variables that are read."""
        return {cls.variable(field) for field in cls.model_fields} | cls.other_names.keys()

    @classmethod
    def origins(cls) -> dict[str, str]:
        """The sources of the fields that are set: `environment` or `.env`."""
        in_file = DotEnvSettingsSource(cls)
        places = {
            ".env": {**OtherNames(cls, in_file.env_vars)(), **in_file()},
            "environment": {**OtherNames(cls, os.environ)(), **EnvSettingsSource(cls)()},
        }
        return {field: place for place, given in places.items() for field in given if field in cls.model_fields}


class PackageSettings(SettingsBase):
    """The base of a package's settings. The prefix is FOREBAY_ plus the name of the package:

        class NotesSettings(PackageSettings):
            model_config = SettingsConfigDict(env_prefix="FOREBAY_NOTES_")

    The package declares the class (`PipelinePackage.settings`), and reads it with `settings.of(NotesSettings)`.
    """
