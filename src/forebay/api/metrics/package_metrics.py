"""The metrics that pipeline packages declare: `PipelinePackage.metrics` names a PackageMetrics.

ORDERS = Metric("forebay_orders", "gauge", ("status",), "orders by status")

async def _read(conn: Connection) -> list[Sample]:
    return [Sample(ORDERS, row["orders"], (row["status"],)) for row in await db.count_orders(conn)]

METRICS = PackageMetrics((ORDERS,), from_database=_read)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.api.metrics import names
from forebay.errors import DefinitionError, one_line
from forebay.log import get_logger
from forebay.packages import leave_out, packages

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping

    from forebay.api.metrics.metric import Metric, MetricSet, Sample
    from forebay.db.pool import Connection
    from forebay.engine.db.overview import WorkerRow
    from forebay.packages import PipelinePackage

log = get_logger("api")


@dataclass(frozen=True, slots=True)
class PackageMetrics:
    """The metrics of a package, and where their samples come from."""

    metrics: tuple[Metric, ...]
    from_worker: Callable[[WorkerRow], Iterable[Sample]] | None = None
    """Makes the samples of one worker from its last report: `worker.shared` has what its resources report."""
    from_database: Callable[[Connection], Awaitable[Iterable[Sample]]] | None = None
    """Reads samples at most every 30 seconds, with a connection that sees the rows of all owners."""


def load_package_metrics() -> dict[str, PackageMetrics]:
    """The metrics of all packages that declare some, by package name."""
    owners = dict.fromkeys((metric.name for metric in names.GENERAL), "forebay")
    found: dict[str, PackageMetrics] = {}
    for package in packages():
        if not package.metrics:
            continue
        try:
            declared: PackageMetrics = package.get(package.metrics)
            _check_owners(package, declared, owners)
        except Exception as error:  # any error of the package
            leave_out(package, error)
        else:
            found[package.name] = declared
    return found


def _check_owners(package: PipelinePackage, declared: PackageMetrics, owners: dict[str, str]) -> None:
    """Raises: DefinitionError for a metric that forebay or another package already has."""
    for metric in declared.metrics:
        if (owner := owners.setdefault(metric.name, package.name)) != package.name:
            raise DefinitionError(
                f"{package.module} declares the metric {metric.name}, which {owner} already has: rename it"
            )


async def read_samples(conn: Connection, declared: Mapping[str, PackageMetrics]) -> dict[str, list[Sample]]:
    """The samples that packages read from the database. A package that fails does not affect the others."""
    found: dict[str, list[Sample]] = {}
    for name, package in declared.items():
        if package.from_database is None:
            continue
        try:
            async with conn.transaction():
                found[name] = list(await package.from_database(conn))
        except Exception as error:
            if conn.is_closed():
                raise
            _warn(name, error)
    return found


def write_samples(
    metrics: MetricSet,
    declared: Mapping[str, PackageMetrics],
    workers: Collection[WorkerRow],
    read: Mapping[str, Iterable[Sample]],
) -> None:
    """Add the packages' samples from the database and from worker reports, which may come from another version."""
    for name, package in declared.items():
        with _isolated(name):
            metrics.add(read.get(name, ()))
        if package.from_worker is None:
            continue
        for worker in workers:
            with _isolated(name, worker=worker.name):
                metrics.add(package.from_worker(worker))


@contextmanager
def _isolated(package: str, **about: str) -> Generator[None]:
    """An error of one package does not affect the others."""
    try:
        yield
    except Exception as error:
        _warn(package, error, **about)


def _warn(package: str, error: Exception, **about: str) -> None:
    log.warning("package_metrics_failed", package=package, error=one_line(error), **about)
