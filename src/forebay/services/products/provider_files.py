"""Loads providers from a folder of declarations, one per .toml or .json file."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from forebay.errors import ConfigError
from forebay.services.declared import declared_files, read_declared, wrongs
from forebay.services.products.provider_spec import ProviderSpec
from forebay.services.products.providers import FunctionProvider, HttpProvider, Provider

T = TypeVar("T")


def load_providers(folder: Path | None, environ: Mapping[str, str] = os.environ) -> list[Provider]:
    """The enabled providers, in order of priority; none without a folder.

    Raises: ConfigError, with everything that is wrong, by file and field.
    """
    made = _read(folder, lambda declared: _provider(declared, environ) if declared.enabled else None)
    return sorted((each for each in made if each), key=lambda each: (each.priority, each.name))


def load_declarations(folder: Path | None) -> list[ProviderSpec]:
    """All declarations, enabled or not, in the same order; imports no functions.

    Raises: ConfigError, with everything that is wrong, by file and field.
    """
    return sorted(_read(folder, lambda declared: declared), key=lambda each: (each.priority, each.name))


def _read(folder: Path | None, make: Callable[[ProviderSpec], T]) -> list[T]:
    if folder is None:
        return []
    if not folder.is_dir():
        raise ConfigError(f"FOREBAY_SHEETS_PROVIDERS: there is no folder {folder}")
    found: dict[str, tuple[Path, T]] = {}
    wrong: list[str] = []
    for path in declared_files(folder):
        try:
            declared = ProviderSpec.model_validate(read_declared(path))
            if declared.name in found:
                raise ValueError(f"name: {declared.name} is the name of {found[declared.name][0].name}, too")  # noqa: TRY301
            found[declared.name] = path, make(declared)
        except ValueError as error:
            wrong += [f"{path.name}: {line}" for line in wrongs(error)]
    if wrong:
        raise ConfigError("\n".join(["declarations of providers are invalid:", *wrong]))
    return [made for _, made in found.values()]


def _provider(declared: ProviderSpec, environ: Mapping[str, str]) -> Provider:
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
