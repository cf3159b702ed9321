"""Loads the declarations of senders: those that forebay ships, and those in the folder of the setting."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from forebay.errors import ConfigError
from forebay.pipelines.attachments.source_spec import DeclaredSource, SourceSpec
from forebay.services.declared import declared_files, read_declared, wrongs

_SHIPPED = Path(__file__).parent / "senders"
_RESERVED = "lark"


def load_declared(folder: Path | None, environ: Mapping[str, str] = os.environ) -> list[DeclaredSource]:
    """The senders of the folder, and those that are shipped and set up, by name.

    Raises: ConfigError, with everything that is wrong, by file and field.
    """
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"FOREBAY_ATTACHMENTS_SOURCES: there is no folder {folder}")
    own = _read(declared_files(folder), environ) if folder is not None else {}
    shipped = _read([path for path in declared_files(_SHIPPED) if _is_set_up(path, environ)], environ)
    return [found for _, found in sorted((shipped | own).items())]


def _is_set_up(path: Path, environ: Mapping[str, str]) -> bool:
    """A declaration that forebay ships is not used, and needs no extra, before its owner is named."""
    return bool(environ.get(read_declared(path)["owner_variable"]))


def _read(paths: list[Path], environ: Mapping[str, str]) -> dict[str, DeclaredSource]:
    found: dict[str, DeclaredSource] = {}
    wrong: list[str] = []
    for path in paths:
        try:
            spec = SourceSpec.model_validate(read_declared(path))
            if spec.name in found or spec.name == _RESERVED:
                raise ValueError(f"name: {spec.name} is the name of another sender")  # noqa: TRY301
            found[spec.name] = DeclaredSource(spec, environ)
        except ValueError as error:
            wrong += [f"{path.name}: {line}" for line in wrongs(error)]
    if wrong:
        raise ConfigError("\n".join(["declarations of senders are invalid:", *wrong]))
    return found
