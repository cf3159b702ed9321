"""Pipeline packages: everything that belongs to a pipeline, declared in one place and found by discovery.

The packages in `forebay.pipelines` are part of forebay. Others are installed distributions with an entry point in the
group `forebay.pipelines`. Each is an importable package whose `__init__.py` defines `package`:

    package = PipelinePackage("notes", __name__, pipelines=("steps",), routes=("routes",))

It refers to its modules by name, so that nothing is imported before it is used: `forebay --help` imports no pipeline,
and a child process that reads one picture does not import the engine. `forebay.hooks` defines the types of the objects.

A package that cannot be loaded is omitted, and the others work: see `failures`. Its jobs wait until it is available.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from forebay.entry_points import EntryPoint, entry_points

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from forebay.base_settings import PackageSettings
    from forebay.hooks import Check, Demo, JobHooks, OutsideViews, OwnerExport, SearchSource, Suggest
    from forebay.intake.target import IntakeTarget

GROUP = "forebay.pipelines"

_NONE: Mapping[str, Any] = MappingProxyType({})

# The records are named tuples: creating dataclasses would make `forebay --help` slower by a tenth.

BodySize: TypeAlias = Literal["medium", "body", "import", "upload"] | int
"""1 MiB; FOREBAY_API_MAX_BODY_BYTES; four times that; FOREBAY_API_MAX_UPLOAD_BYTES; an int: that many bytes."""


class Command(NamedTuple):
    """A command of the command line: the module that contains it under its name, and its line in `forebay --help`."""

    module: str
    summary: str


class Chore(NamedTuple):
    """Periodic work: `function` (`module:name`, an async function of a `Context`) runs at the times of `cron` (UTC).

    Each run is a job: it is listed, retried after a failure, and executed by only one worker.
    """

    name: str
    cron: str
    function: str
    timeout_s: float = 600.0  # at most an hour

    @property
    def schedule(self) -> str:
        return chore_schedule(self.name)


def chore_schedule(name: str) -> str:
    """The name of the schedule of a chore."""
    return f"forebay: {name}"


class PipelinePackage(NamedTuple):
    """The declaration of a package. Modules and objects (`module:name`) are relative to `module`, its `__name__`."""

    name: str
    module: str
    pipelines: tuple[str, ...] = ()
    """Modules with Pipeline objects at their top level."""
    routes: tuple[str, ...] = ()
    """Modules with a FastAPI `router`."""
    commands: Mapping[str, Command] = _NONE
    """Commands of the command line, by name."""
    settings: str | None = None
    """Its settings: a subclass of `forebay.base_settings.PackageSettings`."""
    metrics: str | None = None
    """Its metrics: a `forebay.api.metrics.package_metrics.PackageMetrics`."""
    jobs: Mapping[str, str] = _NONE
    """Subclasses of `forebay.hooks.JobHooks`, by the name of the pipeline."""
    intake: Mapping[str, str] = _NONE
    """By the name of a pipeline that files are submitted to: its `forebay.intake.target.IntakeTarget`."""
    checks: tuple[str, ...] = ()
    """Checks of `forebay doctor`: functions of the type `forebay.hooks.Check`."""
    chores: tuple[Chore, ...] = ()
    outside_views: str | None = None
    """Its views in other schemas, which a restore keeps: a `forebay.hooks.OutsideViews`."""
    demo: str | None = None
    """What the first `forebay up` submits: a function of the type `forebay.hooks.Demo`."""
    first_steps: Mapping[str, str] = _NONE
    """Suggested first actions → the arguments of the command; `forebay up` shows them."""
    suggestions: str | None = None
    """What `GET /api/suggest` offers: a function of the type `forebay.hooks.Suggest`."""
    owner_export: str | None = None
    """What it adds to the archive of an owner: a function of the type `forebay.hooks.OwnerExport`."""
    search: str | None = None
    """The documents that it puts into the index: a `forebay.hooks.SearchSource`."""
    api_lifespan: str | None = None
    """What it opens with the API and closes after it: an async context manager, a function of the FastAPI app."""
    page_links: Mapping[str, str] = _NONE
    """Titles by the paths of its HTML pages, for the header of every page that is not part of the web app."""
    features: str | None = None
    """What is switched on or installed, for the web app: a function of the settings that returns booleans by name."""
    larger_bodies: Mapping[str, BodySize] = _NONE
    """Requests with bodies of more than 64 KiB, such as `POST /api/notes`; a path that ends in / includes all below
    it."""

    def load(self, name: str) -> ModuleType:
        """Import one of its modules."""
        return import_module(f"{self.module}.{name}")

    def get(self, place: str) -> Any:
        """The object at `module:name`."""
        module, _, name = place.partition(":")
        return getattr(self.load(module), name)

    def routers(self) -> Iterator[Any]:
        for name in self.routes:
            yield self.load(name).router
        for target in self.intake_targets():
            yield from target.routers()

    def all_checks(self) -> Iterator[Check]:
        for place in self.checks:
            yield self.get(place)
        for target in self.intake_targets():
            yield target.check_sources

    def intake_targets(self) -> Iterator[IntakeTarget]:
        """Raises: DefinitionError when a target has another name than the manifest says."""
        for name, place in self.intake.items():
            target: IntakeTarget = self.get(place)
            if target.name != name:
                raise _wrong(f"{self.module} declares the intake target {target.name!r} as {name!r}")
            yield target

    def settings_class(self) -> type[PackageSettings] | None:
        """Raises: DefinitionError if the prefix of its variables is not FOREBAY_ and the name of the package."""
        if self.settings is None:
            return None
        found: type[PackageSettings] = self.get(self.settings)
        prefix = f"FOREBAY_{self.name.replace('-', '_').upper()}_"
        if found.variable("") != prefix:
            raise _wrong(f"{self.module} has settings that begin with {found.variable('')}, not with {prefix}")
        return found

    def submit_demo(self) -> Demo | None:
        return None if self.demo is None else self.get(self.demo)


class Failure(NamedTuple):
    """A package that is omitted: its entry point (`name = value`), its distribution, and the reason."""

    entry_point: str
    distribution: str
    reason: str

    def __str__(self) -> str:
        return f"the pipeline package {self.entry_point} is left out: {self.reason}"

    @property
    def fix(self) -> str:
        return f"fix or upgrade {self.distribution}, or: pip uninstall {self.distribution}"


def packages() -> tuple[PipelinePackage, ...]:
    """All packages that can be loaded, those of forebay first, each group sorted by name."""
    return tuple(_registry().packages.values())


def failures() -> tuple[Failure, ...]:
    """The omitted packages, as far as known."""
    return tuple(_registry().failures)


def leave_out(package: PipelinePackage, error: Exception) -> None:
    """Omit a package because a part of it cannot be used; `failures` lists it.

    Raises: the error, if the package is part of forebay.
    """
    registry = _registry()
    point = registry.points.get(package.name)
    if point is None:
        raise error
    registry.fail(point, _reason(error))
    registry.packages.pop(package.name, None)


def settings_classes() -> dict[str, type[PackageSettings]]:
    """The settings classes of all packages that have one, by the name of the package."""
    from forebay.settings import Settings  # noqa: PLC0415 - `forebay --help` needs none

    owners = dict.fromkeys(Settings.variables(), "forebay")
    found: dict[str, type[PackageSettings]] = {}
    for package in packages():
        try:
            kind = package.settings_class()
            _check_owners(package, kind, owners)
        except Exception as error:  # raised by the package
            leave_out(package, error)
            continue
        if kind is not None:
            found[package.name] = kind
    return found


def _check_owners(package: PipelinePackage, kind: type[PackageSettings] | None, owners: dict[str, str]) -> None:
    """Raises: DefinitionError for a variable that another package, or forebay, uses."""
    for variable in sorted(kind.variables()) if kind is not None else ():
        if owners.setdefault(variable, package.name) != package.name:
            raise _wrong(f"{package.module} reads {variable}, which is a setting of {owners[variable]}")


def intake_targets() -> dict[str, IntakeTarget]:
    """The targets of all packages by their names, of which each has its own: it is the key of rows in the database."""
    found: dict[str, IntakeTarget] = {}
    for package in packages():
        try:
            own = _own_targets(package, found)
        except Exception as error:  # raised by the package
            leave_out(package, error)
        else:
            found |= own
    return found


def _own_targets(package: PipelinePackage, others: Mapping[str, IntakeTarget]) -> dict[str, IntakeTarget]:
    """Raises: DefinitionError for a target that another package has."""
    own = {target.name: target for target in package.intake_targets()}
    if taken := own.keys() & others.keys():
        raise _wrong(f"{package.module} declares the intake target {min(taken)!r}, which another package has")
    return own


def package_of(pipeline: object) -> str | None:
    """The name of the package that declares this pipeline; None for a module of the setting `pipelines`."""
    for package in packages():
        for name in package.pipelines:
            module = sys.modules.get(f"{package.module}.{name}")
            if module is not None and any(value is pipeline for value in vars(module).values()):
                return package.name
    return None


def larger_bodies() -> dict[str, BodySize]:
    """Of all packages: requests whose bodies may have more than 64 KiB."""
    found: dict[str, BodySize] = {f"PATCH {each.uploads_path}/": "upload" for each in intake_targets().values()}
    for package in packages():
        found.update(package.larger_bodies)
    return found


def job_hooks(pipeline: str) -> JobHooks:
    """The hooks of a pipeline; the defaults if it has none."""
    made = _registry().job_hooks
    for package in packages():
        if pipeline in package.jobs or pipeline in package.intake:
            try:
                return made.get(pipeline) or made.setdefault(pipeline, _own_hooks(package, pipeline))
            except Exception as error:  # raised by the package
                leave_out(package, error)
    from forebay.hooks import JobHooks  # noqa: PLC0415 - few commands need it

    return JobHooks()


def _own_hooks(package: PipelinePackage, pipeline: str) -> JobHooks:
    if pipeline in package.jobs:
        hooks: JobHooks = package.get(package.jobs[pipeline])()
        return hooks
    target: IntakeTarget = package.get(package.intake[pipeline])
    return target.job_hooks()


def all_job_hooks() -> list[JobHooks]:
    """The hooks of all pipelines that have some."""
    return [job_hooks(pipeline) for package in packages() for pipeline in package.jobs]


def outside_views() -> list[OutsideViews]:
    """Those of all packages that have some."""
    return _objects("outside_views")


def suggesters() -> list[Suggest]:
    """Those of all packages that have one."""
    return _objects("suggestions")


def owner_exports() -> list[OwnerExport]:
    """Those of all packages that have one."""
    return _objects("owner_export")


def search_sources() -> list[SearchSource]:
    """Those of all packages that have one."""
    return _objects("search")


def api_lifespans() -> list[Any]:
    """Those of all packages that have one."""
    return _objects("api_lifespan")


def _objects(field: str) -> list[Any]:
    """The objects that packages name in this field of their declarations."""
    found: list[Any] = []
    for package in packages():
        place: str | None = getattr(package, field)
        try:
            found += [] if place is None else [package.get(place)]
        except Exception as error:  # raised by the package
            leave_out(package, error)
    return found


# -- discovery ------------------------------------------------------------------------------------------------


class _Registry:
    def __init__(self) -> None:
        self.packages: dict[str, PipelinePackage] = {}
        self.points: dict[str, EntryPoint] = {}  # of installed distributions
        self.failures: list[Failure] = []
        self.job_hooks: dict[str, JobHooks] = {}
        self._owners: dict[tuple[str, str], PipelinePackage] = {}
        for package in _built_in():
            self.add(package)

    def add(self, package: PipelinePackage) -> None:
        """Raises: DefinitionError for a name that another package has."""
        named = [("command", name) for name in package.commands] + [("chore", chore.name) for chore in package.chores]
        for kind, name in named:
            if (owner := self._owners.get((kind, name))) is not None:
                raise _wrong(f"the {kind} {name!r} of {package.module} is one of {owner.module} already: rename it")
        self._owners |= dict.fromkeys(named, package)
        self.packages[package.name] = package

    def fail(self, point: EntryPoint, reason: str) -> None:
        if str(point) not in {failure.entry_point for failure in self.failures}:
            self.failures.append(Failure(str(point), point.distribution, reason))


@cache
def _registry() -> _Registry:
    registry = _Registry()
    for point in entry_points(GROUP):
        try:
            package = _loaded(point)
            if package.name in registry.packages:
                other = registry.packages[package.name].module
                registry.fail(point, f"its name {package.name!r} is that of {other} already")
                continue
            registry.add(package)
        except Exception as error:  # raised by the package
            registry.fail(point, _reason(error))
        else:
            registry.points[package.name] = point
    return registry


def _built_in() -> Iterator[PipelinePackage]:
    with os.scandir(import_module(GROUP).__path__[0]) as entries:
        names = sorted(
            entry.name for entry in entries if entry.is_dir() and entry.name.isidentifier() and entry.name[0] != "_"
        )
    for name in names:
        package = getattr(import_module(f"{GROUP}.{name}"), "package", None)  # a folder may contain only caches
        if isinstance(package, PipelinePackage):
            yield package


def _loaded(point: EntryPoint) -> PipelinePackage:
    package = point.load()
    if not isinstance(package, PipelinePackage):
        raise TypeError(f"it is not a PipelinePackage but {type(package).__name__}")
    return package


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _wrong(what: str) -> Exception:
    from forebay.errors import DefinitionError  # noqa: PLC0415 - `forebay --help` needs no errors

    return DefinitionError(what)
