"""Sources out of a folder of declarations, one in each .toml or .json file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from forebay.errors import ConfigError
from forebay.services.declared import declared_files, read_declared, wrongs
from forebay.services.sources.declarations import Declaration

if TYPE_CHECKING:
    from forebay.settings import Settings


def load_sources(settings: Settings) -> list[Declaration]:
    """The sources that are enabled, by name; none without a folder of them.

    Raises: ConfigError, with everything that is wrong, by file and field.
    """
    folder = settings.sheets_sources
    if folder is None:
        return []
    if not folder.is_dir():
        raise ConfigError(f"FOREBAY_SHEETS_SOURCES: there is no folder {folder}")
    found: dict[str, tuple[Path, Declaration]] = {}
    wrong: list[str] = []
    for path in declared_files(folder):
        try:
            declared = Declaration.model_validate(read_declared(path))
            if declared.name in found:
                raise ValueError(f"name: {declared.name} is the name of {found[declared.name][0].name}, too")  # noqa: TRY301
            found[declared.name] = path, declared
            if declared.enabled and declared.url.scheme == "file":
                root_of(declared, settings)
        except ValueError as error:
            wrong += [f"{path.name}: {line}" for line in wrongs(error)]
    if wrong:
        raise ConfigError("\n".join(["sources are declared wrongly:", *wrong]))
    return [declared for _, (_, declared) in sorted(found.items()) if declared.enabled]


def root_of(declared: Declaration, settings: Settings) -> tuple[Path, list[str]]:
    """The root that the operator has allowed, and the way from there to the folder of a source.

    Raises: ValueError when it lies under none.
    """
    roots = settings.sheets_root_folders
    if not roots:
        raise ValueError("url: folders are refused until FOREBAY_SHEETS_ROOTS names those that files may be taken from")
    folder = Path(declared.url.path)
    for root in roots:
        if folder.is_relative_to(root):
            return root, list(folder.relative_to(root).parts)
    raise ValueError(f"url: {folder} is not under {', '.join(map(str, roots))}, which FOREBAY_SHEETS_ROOTS allows")
