"""Schema parts: packages that have tables or routines of their own in the schema `forebay`.

A part is a package with `sql/migrations` (NNNN_name.sql, numbered from 0001) and `sql/routines` (functions, views,
triggers and rights, which are replaced as a whole). The engine is one, and needs no other. The service has five,
identity, storage, api, intake and search, and each pipeline package may have one: all these need the engine and those
before them.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.db.sql_files import SqlFile
from forebay.errors import DefinitionError
from forebay.packages import leave_out, packages

if TYPE_CHECKING:
    from collections.abc import Iterable

_MIGRATION = re.compile(r"(\d{4})_(\w+)\.sql", re.ASCII)
_FORMER = re.compile(r"^-- formerly (\d{4})$", re.MULTILINE)
_EXTENSION = re.compile(r"-- with the extension (\w+)$", re.MULTILINE)
_CONTRACTS = re.compile(r"^-- contracts$", re.MULTILINE)
_TABLE = re.compile(
    r"^\s*create (?:unlogged )?(?:table|materialized view|sequence|type|domain) (?:if not exists )?forebay\.(\w+)",
    re.MULTILINE | re.IGNORECASE,
)
_CREATE = r"^\s*create (?:or replace )?"
_MADE = re.compile(rf"{_CREATE}(function|procedure|view) (?:forebay\.)?(\w+)", re.MULTILINE | re.IGNORECASE)
_TRIGGER = re.compile(
    rf"{_CREATE}(?:constraint )?trigger (\w+)\s[^;]*?\son (?:forebay\.)?(\w+)", re.MULTILINE | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Migration:
    """One change of a part's tables; the first line of its file may say how it is applied."""

    part: str
    version: int
    name: str
    sql: str

    @property
    def file(self) -> SqlFile:
        return SqlFile(f"migrations/{self.version:04}_{self.name}.sql", self.sql)

    @property
    def runs_outside_transaction(self) -> bool:
        return self.sql.startswith("-- outside a transaction")

    @property
    def follows_routines(self) -> bool:
        return self.sql.startswith("-- after the routines")

    @property
    def extension(self) -> str | None:
        """The extension of PostgreSQL without which it is left out, until a later migrate finds it."""
        found = _EXTENSION.match(self.sql)
        return found[1] if found else None

    @property
    def contracts(self) -> bool:
        """Whether releases that do not know it cannot work with the schema after it; most migrations only add."""
        return _CONTRACTS.search(self.sql) is not None

    @property
    def former_version(self) -> int | None:
        """Its number at the time when all parts were numbered together."""
        found = _FORMER.search(self.sql)
        return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """A package with a schema; `package` is its import name, although it is not imported here."""

    name: str
    package: str

    @property
    def is_built_in(self) -> bool:
        """Whether it comes with forebay."""
        return self.package.partition(".")[0] == "forebay"

    @property
    def migrations(self) -> tuple[Migration, ...]:
        """All numbered migrations, in order.

        Raises: DefinitionError for a file without a number, or with a number that another file has.
        """
        return _migrations(self)

    @property
    def newest(self) -> int:
        return max((migration.version for migration in self.migrations), default=0)

    @property
    def newest_required(self) -> int:
        """Without those that need an extension, which the server may not have."""
        return max((migration.version for migration in self.migrations if migration.extension is None), default=0)

    @property
    def table_names(self) -> frozenset[str]:
        """The tables, materialized views, sequences and types that its migrations create."""
        return frozenset(name for migration in self.migrations for name in _TABLE.findall(migration.sql))

    @property
    def routine_files(self) -> tuple[SqlFile, ...]:
        """The files with its functions, views, triggers and rights, in order."""
        return _routine_files(self)

    @property
    def routines(self) -> str:
        """The text of all these files."""
        return "\n".join(file.text for file in self.routine_files)

    @property
    def routine_names(self) -> frozenset[str]:
        """The names of its functions, views and triggers."""
        made, triggers = _MADE.findall(self.routines), _TRIGGER.findall(self.routines)
        return frozenset({name for _, name in made} | {name for name, _ in triggers})

    @property
    def routine_keys(self) -> frozenset[str]:
        """The same as "type name"; only one part may have each. The names of triggers belong to their tables."""
        made, triggers = _MADE.findall(self.routines), _TRIGGER.findall(self.routines)
        keys = {f"{'view' if kind.lower() == 'view' else 'function'} {name}" for kind, name in made}
        return frozenset(keys | {f"trigger {name} on forebay.{table}" for name, table in triggers})

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.routines.encode()).hexdigest()[:16]

    @property
    def folder(self) -> Path | None:
        """The folder of its SQL; None if the package has none, or is not installed."""
        spec = find_spec(self.package)
        for place in (spec and spec.submodule_search_locations) or ():
            folder = Path(place) / "sql"
            if (folder / "migrations").is_dir() or (folder / "routines").is_dir():
                return folder
        return None


@cache
def _migrations(part: SchemaPart) -> tuple[Migration, ...]:
    files = sorted(part.folder.glob("migrations/*.sql")) if part.folder else []
    found: dict[int, Migration] = {}
    for file in files:
        named = _MIGRATION.fullmatch(file.name)
        if named is None or int(named[1]) == 0:
            raise DefinitionError(f"{_short(part, file)}: the names of migrations are NNNN_name.sql, from 0001 on")
        migration = Migration(part.name, int(named[1]), named[2], file.read_text("utf-8"))
        if (other := found.setdefault(migration.version, migration)) is not migration:
            raise DefinitionError(f"{_short(part, file)}: {other.file.name} has that number already: rename one")
    return tuple(found.values())


@cache
def _routine_files(part: SchemaPart) -> tuple[SqlFile, ...]:
    if part.folder is None:
        return ()
    files = sorted(part.folder.glob("routines/**/*.sql"))
    return tuple(SqlFile(file.relative_to(part.folder).as_posix(), file.read_text("utf-8")) for file in files)


def _short(part: SchemaPart, file: Path) -> str:
    """The package and the path of a migration, for messages."""
    return f"{part.package}, sql/migrations/{file.name}"


ENGINE = SchemaPart("engine", "forebay.engine")
SERVICE = tuple(SchemaPart(name, f"forebay.{name}") for name in ("identity", "storage", "api", "intake", "search"))


@cache
def package_parts() -> tuple[SchemaPart, ...]:
    """The parts of the pipeline packages that are installed; a package with the name of one of forebay's own parts is
    left out."""
    own, found = {part.name for part in (ENGINE, *SERVICE)}, list[SchemaPart]()
    for package in packages():
        if package.name in own:
            reason = f"{package.module} has the name {package.name!r}, which forebay uses itself: rename it"
            leave_out(package, DefinitionError(reason))
        elif (part := SchemaPart(package.name, package.module)).folder is not None:
            found.append(part)
    return tuple(found)


def all_parts() -> tuple[SchemaPart, ...]:
    """Every part that is installed, in the order in which they are migrated."""
    return (ENGINE, *SERVICE, *package_parts())


def leave_out_part(part: SchemaPart, error: Exception) -> None:
    """Omit the package of a part that cannot be used.

    Raises: the error, if the part comes with forebay.
    """
    package = next((package for package in packages() if package.module == part.package), None)
    if package is None:
        raise error
    leave_out(package, error)
    package_parts.cache_clear()


def parts_for(modules: Iterable[str]) -> tuple[SchemaPart, ...]:
    """The parts that code in these modules needs: the engine, for code of the service or of a pipeline package also the
    service, and the part of the package."""
    modules = list(modules)
    used = [package for package in packages() if any(_is_within(name, package.module) for name in modules)]
    if not used and not any(_is_within(name, part.package) for name in modules for part in SERVICE):
        return (ENGINE,)
    names = {package.name for package in used}
    return (ENGINE, *SERVICE, *(part for part in package_parts() if part.name in names))


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
