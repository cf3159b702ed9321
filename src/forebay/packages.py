"""Pipeline packages: everything that a pipeline brings, declared in one place and found without being named.

The packages in `forebay.pipelines` come with forebay. Others are installed distributions that name theirs in an entry
point of the group `forebay.pipelines`. Each is an importable package whose `__init__.py` has a `package`:

    package = PipelinePackage("notes", __name__, pipelines=("steps",), routes=("routes",))

What it has is named by modules below it, so that nothing is imported before it is used: `forebay --help` imports no
pipeline, and a child process that reads one picture imports no engine. What the named objects must be is written in
`forebay.hooks`.

A package that cannot be loaded is left out, and the others work on: see `failures`. Its jobs wait for it.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from forebay.entry_points import EntryPoint, entry_points

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from forebay.base_settings import PackageSettings
    from forebay.hooks import Check, Demo, JobHooks

GROUP = "forebay.pipelines"

_NONE: Mapping[str, Any] = MappingProxyType({})

# The records are named tuples: dataclasses take so long to make that `forebay --help` would be slower by a tenth.

BodySize: TypeAlias = Literal["middling", "body", "import", "upload"]
"""1 MiB; FOREBAY_API_MAX_BODY_BYTES; four times that; FOREBAY_API_MAX_UPLOAD_BYTES."""


class Command(NamedTuple):
    """A command of the command line: the module that has it under its own name, and its line in `forebay --help`."""

    module: str
    summary: str


class Chore(NamedTuple):
    """Periodic work: `function` (`module:name`, an async function of a `Context`) runs at the times of `cron` (UTC).

    Each run is a job: it is listed, retried after a failure, and done by one worker only.
    """

    name: str
    cron: str
    function: str
    timeout_s: float = 600.0  # an hour at most


class PipelinePackage(NamedTuple):
    """What one package has. Modules and objects (`module:name`) are named relative to `module`, its `__name__`."""

    name: str
    module: str
    pipelines: tuple[str, ...] = ()
    """Modules that have Pipeline objects at their top level."""
    routes: tuple[str, ...] = ()
    """Modules that have a FastAPI `router`."""
    commands: Mapping[str, Command] = _NONE
    """Commands of the command line by their names."""
    settings: str | None = None
    """Its settings: a subclass of `forebay.base_settings.PackageSettings`."""
    metrics: str | None = None
    """Its metrics: a `forebay.api.metrics.package_metrics.PackageMetrics`."""
    jobs: Mapping[str, str] = _NONE
    """By the name of a pipeline: its subclass of `forebay.hooks.JobHooks`."""
    checks: tuple[str, ...] = ()
    """What `forebay doctor` looks at: functions as `forebay.hooks.Check`."""
    chores: tuple[Chore, ...] = ()
    demo: str | None = None
    """What the first `forebay up` shows: a function as `forebay.hooks.Demo`."""
    first_steps: Mapping[str, str] = _NONE
    """What people may do first → the arguments of the command that does it; `forebay up` shows them."""
    page_links: Mapping[str, str] = _NONE
    """Titles by the paths of its pages, for the header of every page."""
    home_section: str | None = None
    """Its part of the home page: a file `NAME.html`, and beside it perhaps `NAME.js`; see `forebay.api.pages`."""
    larger_bodies: Mapping[str, BodySize] = _NONE
    """Requests whose bodies may have more than 64 KiB, as `POST /api/notes`; a path that ends in / is all below it."""

    def load(self, name: str) -> ModuleType:
        """One of its modules, imported."""
        return import_module(f"{self.module}.{name}")

    def get(self, place: str) -> Any:
        """The object at `module:name`."""
        module, _, name = place.partition(":")
        return getattr(self.load(module), name)

    def routers(self) -> Iterator[Any]:
        for name in self.routes:
            yield self.load(name).router

    def all_checks(self) -> Iterator[Check]:
        for place in self.checks:
            yield self.get(place)

    def settings_class(self) -> type[PackageSettings] | None:
        """Raises: DefinitionError when its variables are not FOREBAY_, its name and the setting's."""
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
    """A package that is left out: its entry point (`name = value`), the distribution that has it, and why."""

    entry_point: str
    distribution: str
    reason: str

    def __str__(self) -> str:
        return f"the pipeline package {self.entry_point} is left out: {self.reason}"

    @property
    def fix(self) -> str:
        return f"fix or upgrade {self.distribution}, or: pip uninstall {self.distribution}"


def packages() -> tuple[PipelinePackage, ...]:
    """All packages that can be loaded, those of forebay first, each group in the order of their names."""
    return tuple(_registry().packages.values())


def failures() -> tuple[Failure, ...]:
    """The packages that are left out, as far as that is known by now."""
    return tuple(_registry().failures)


def leave_out(package: PipelinePackage, error: Exception) -> None:
    """Go on without a package, as a part of it cannot be used; `failures` tells of it.

    Raises: the error, when the package is one of forebay's own.
    """
    registry = _registry()
    point = registry.points.get(package.name)
    if point is None:
        raise error
    registry.fail(point, _reason(error))
    registry.packages.pop(package.name, None)


def settings_classes() -> dict[str, type[PackageSettings]]:
    """The settings of all packages that have some, by the name of the package."""
    from forebay.settings import Settings  # noqa: PLC0415 - `forebay --help` needs none

    owners = dict.fromkeys(Settings.variables(), "forebay")
    found: dict[str, type[PackageSettings]] = {}
    for package in packages():
        try:
            kind = package.settings_class()
            _check_owners(package, kind, owners)
        except Exception as error:  # the package's own
            leave_out(package, error)
            continue
        if kind is not None:
            found[package.name] = kind
    return found


def _check_owners(package: PipelinePackage, kind: type[PackageSettings] | None, owners: dict[str, str]) -> None:
    """Raises: DefinitionError for a variable that another package, or forebay, has."""
    for variable in sorted(kind.variables()) if kind is not None else ():
        if owners.setdefault(variable, package.name) != package.name:
            raise _wrong(f"{package.module} reads {variable}, which is a setting of {owners[variable]}")


def job_hooks(pipeline: str) -> JobHooks:
    """How a pipeline takes part in what serves the jobs of every pipeline; the defaults, where it has nothing own."""
    made = _registry().job_hooks
    for package in packages():
        if pipeline in package.jobs:
            try:
                return made.get(pipeline) or made.setdefault(pipeline, package.get(package.jobs[pipeline])())
            except Exception as error:  # the package's own
                leave_out(package, error)
    from forebay.hooks import JobHooks  # noqa: PLC0415 - it is needed by few commands

    return JobHooks()


def all_job_hooks() -> list[JobHooks]:
    """Those of every pipeline that has its own."""
    return [job_hooks(pipeline) for package in packages() for pipeline in package.jobs]


# Finding them.


class _Registry:
    def __init__(self) -> None:
        self.packages = {package.name: package for package in _built_in()}
        self.points: dict[str, EntryPoint] = {}  # of those that were installed
        self.failures: list[Failure] = []
        self.job_hooks: dict[str, JobHooks] = {}

    def fail(self, point: EntryPoint, reason: str) -> None:
        if str(point) not in {failure.entry_point for failure in self.failures}:
            self.failures.append(Failure(str(point), point.distribution, reason))


@cache
def _registry() -> _Registry:
    registry = _Registry()
    for point in entry_points(GROUP):
        try:
            package = _loaded(point)
        except Exception as error:
            registry.fail(point, _reason(error))
            continue
        if package.name in registry.packages:
            other = registry.packages[package.name].module
            registry.fail(point, f"its name {package.name!r} is that of {other} already")
        else:
            registry.packages[package.name] = package
            registry.points[package.name] = point
    return registry


def _built_in() -> Iterator[PipelinePackage]:
    with os.scandir(import_module(GROUP).__path__[0]) as entries:
        names = sorted(
            entry.name for entry in entries if entry.is_dir() and entry.name.isidentifier() and entry.name[0] != "_"
        )
    for name in names:
        package = getattr(import_module(f"{GROUP}.{name}"), "package", None)  # a folder may hold only caches
        if isinstance(package, PipelinePackage):
            yield package


def _loaded(point: EntryPoint) -> PipelinePackage:
    package = point.load()
    if not isinstance(package, PipelinePackage):
        raise TypeError(f"it is no PipelinePackage, but {type(package).__name__}")
    return package


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _wrong(what: str) -> Exception:
    from forebay.errors import DefinitionError  # noqa: PLC0415 - `forebay --help` needs no errors

    return DefinitionError(what)
