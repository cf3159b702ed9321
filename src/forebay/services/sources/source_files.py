"""Loads sources from a folder of declarations, one per .toml or .json file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from forebay.errors import ConfigError
from forebay.services.declared import declared_files, read_declared, wrongs
from forebay.services.sources.source_spec import SourceSpec

if TYPE_CHECKING:
    from collections.abc import Sequence


class SettingNames(NamedTuple):
    """What messages call the settings that the folder of declarations and the roots come from."""

    sources: str = "the folder of sources"
    roots: str = "the setting of roots"


@dataclass(frozen=True, slots=True)
class InvalidSource:
    """An invalid declaration: its name and owner, if known, and its errors."""

    name: str
    owner: str | None
    reasons: list[str]  # each begins with the name of the file

    def error(self) -> ConfigError:
        return ConfigError(_told(self.reasons))


@dataclass(slots=True)
class Sources:
    """The declarations of a folder. An invalid one does not affect the others; using it raises its errors."""

    good: list[SourceSpec] = field(default_factory=list[SourceSpec])  # enabled ones, by name
    wrong: list[InvalidSource] = field(default_factory=list[InvalidSource])
    names: SettingNames = field(default_factory=SettingNames)

    @property
    def problem(self) -> str | None:
        """All errors, by file and field."""
        return _told([reason for each in self.wrong for reason in each.reasons]) if self.wrong else None

    def find(self, name: str) -> SourceSpec:
        """Raises: ConfigError for an unknown name, or with the errors of its declaration."""
        for declared in self.good:
            if declared.name == name:
                return declared
        for each in self.wrong:
            if each.name == name:
                raise each.error()
        raise ConfigError(f"there is no source {name!r}: declare it in the folder {self.names.sources}, or enable it")


def _told(reasons: list[str]) -> str:
    return "\n".join(["declarations of sources are invalid:", *reasons])


def load_sources(folder: Path | None, roots: Sequence[Path] = ()) -> list[SourceSpec]:
    """The valid and enabled sources of a folder, by name; local folders must be under these roots.

    Raises: ConfigError when the folder does not exist.
    """
    return read_sources(folder, roots).good


def read_sources(folder: Path | None, roots: Sequence[Path] = (), names: SettingNames | None = None) -> Sources:
    """The same, and those that are declared wrongly.

    Raises: ConfigError when the folder does not exist.
    """
    names = names or SettingNames()
    found = Sources(names=names)
    if folder is None:
        return found
    if not folder.is_dir():
        raise ConfigError(f"{names.sources}: there is no folder {folder}")
    files: dict[str, str] = {}
    for path in declared_files(folder):
        data: Any = None
        try:
            data = read_declared(path)
            declared = _checked(data, roots, files, names)
        except ValueError as error:
            found.wrong.append(_wrong(path, data, error))
        else:
            files[declared.name] = path.name
            found.good.append(declared)
    found.good = sorted((each for each in found.good if each.enabled), key=lambda each: each.name)
    return found


def _checked(data: Any, roots: Sequence[Path], files: dict[str, str], names: SettingNames) -> SourceSpec:
    """Raises: ValueError; of two with the same name, the second is wrong."""
    declared = SourceSpec.model_validate(data)
    if declared.name in files:
        raise ValueError(f"name: {declared.name} is the name of {files[declared.name]}, too")
    if declared.enabled and declared.url.scheme == "file":
        root_of(declared, roots, names)
    return declared


def _wrong(path: Path, data: Any, error: ValueError) -> InvalidSource:
    given: dict[str, Any] = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    name, owner = given.get("name"), given.get("owner")
    reasons = [f"{path.name}: {line}" for line in wrongs(error)]
    return InvalidSource(
        name if isinstance(name, str) else path.stem, owner if isinstance(owner, str) else None, reasons
    )


def root_of(declared: SourceSpec, roots: Sequence[Path], names: SettingNames) -> tuple[Path, list[str]]:
    """The root that the operator has allowed, and the way from there to the folder of a source.

    Raises: ValueError when it is under none.
    """
    if not roots:
        raise ValueError(f"url: folders are not allowed until {names.roots} names the permitted ones")
    folder = Path(declared.url.path)
    for root in roots:
        if folder.is_relative_to(root):
            return root, list(folder.relative_to(root).parts)
    raise ValueError(f"url: {folder} is not under {', '.join(map(str, roots))}, which {names.roots} allows")
