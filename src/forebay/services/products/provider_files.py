"""Providers out of a folder of declarations, one in each .toml or .json file."""

from __future__ import annotations

import inspect
import json
import os
import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from forebay.errors import ConfigError
from forebay.services.products.declarations import Declaration
from forebay.services.products.providers import FunctionProvider, HttpProvider, Provider

_LARGEST = 1 << 20


def load_providers(folder: Path | None, environ: Mapping[str, str] = os.environ) -> list[Provider]:
    """The providers that are enabled, in the order of their priorities; none without a folder.

    Raises: ConfigError, with everything that is wrong, by file and field.
    """
    if folder is None:
        return []
    if not folder.is_dir():
        raise ConfigError(f"FOREBAY_SHEETS_PROVIDERS: there is no folder {folder}")
    found: dict[str, tuple[Path, Provider | None]] = {}
    wrong: list[str] = []
    for path in sorted(each for each in folder.iterdir() if each.suffix in {".toml", ".json"}):
        try:
            declared = read_declaration(path)
            if declared.name in found:
                raise ValueError(f"name: {declared.name} is the name of {found[declared.name][0].name}, too")  # noqa: TRY301
            found[declared.name] = path, _provider(declared, environ) if declared.enabled else None
        except ValueError as error:
            wrong += [f"{path.name}: {line}" for line in _lines(error)]
    if wrong:
        raise ConfigError("\n".join(["providers are declared wrongly:", *wrong]))
    return sorted((each for _, each in found.values() if each), key=lambda each: (each.priority, each.name))


def read_declaration(path: Path) -> Declaration:
    """The declaration in a file.

    Raises: ValueError (pydantic's ValidationError is one).
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    if len(data) > _LARGEST:
        raise ValueError(f"is larger than {_LARGEST} bytes")
    return Declaration.model_validate(_loaded(path, data))


def _loaded(path: Path, data: bytes) -> Any:
    try:
        return tomllib.loads(data.decode()) if path.suffix == ".toml" else json.loads(data)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"is no {path.suffix[1:].upper()}: {error}") from None


def _lines(error: ValueError) -> list[str]:
    if not isinstance(error, ValidationError):
        return [str(error)]
    told: list[str] = []
    for each in error.errors(include_url=False, include_input=False):
        field = ".".join(str(part) for part in each["loc"])
        message = each["msg"].removeprefix("Value error, ")
        told.append(f"{field}: {message}" if field else message)
    return told


def _provider(declared: Declaration, environ: Mapping[str, str]) -> Provider:
    if declared.function is None:
        return HttpProvider(declared, environ)
    module, _, name = declared.function.partition(":")
    try:
        function = getattr(import_module(module), name, None)
    except ImportError as error:
        raise ValueError(f"function: {module} cannot be imported: {error}") from None
    if not inspect.iscoroutinefunction(function):
        raise ValueError(f"function: {module} has no async function {name}")
    return FunctionProvider(declared, function)
