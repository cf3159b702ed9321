"""The metrics of a package that is installed: on /metrics, and never in the way of the others."""

from __future__ import annotations

import runpy
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from forebay.api.metrics.package_metrics import load_package_metrics
from forebay.packages import failures
from tests._packages import installed, write_package
from tests.api._service import Service, serving

ROOT = Path(__file__).parents[2]
METRICS = """
from forebay.api.metrics.metric import Metric, Sample
from forebay.api.metrics.package_metrics import PackageMetrics

JOBS = Metric("forebay_orders", "gauge", ("pipeline",), "orders that there are")
TOLD = Metric("forebay_orders_told_total", "counter", ("worker",), "orders that a worker has seen")

async def read(conn):
    return [Sample(JOBS, count, (name,)) for name, count in await conn.fetch("QUERY")]

def told(worker):
    yield Sample(TOLD, worker.shared["orders"]["told"], (worker.name,))

METRICS = PackageMetrics((JOBS, TOLD), from_worker=told, from_database=read)
"""
QUERY = "select name, count(*) from forebay.pipeline group by name"
WORKER = "insert into forebay.worker (name, started_at, seen_at, stats) values ($1, now(), now(), $2)"


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    write_package(tmp_path, 'metrics="metrics:METRICS"', metrics=METRICS.replace("QUERY", QUERY))
    with installed(tmp_path):
        async with serving(dsn) as running:
            yield running


async def _shown(service: Service) -> dict[str, dict[tuple[str, ...], float]]:
    async with service.client("root") as root:
        answer = await root.get("/metrics")
    assert answer.status_code == 200
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return found


async def test_samples_come_from_a_query_and_from_workers(service: Service) -> None:
    await service.admin.execute(WORKER, "one", '{"shared": {"orders": {"told": 3}}}')
    await service.admin.execute(WORKER, "old", '{"shared": {}}')
    with capture_logs() as logs:
        shown = await _shown(service)
    assert shown["forebay_orders"] == {("pages",): 1}
    assert shown["forebay_orders_told_total"] == {("one",): 3}
    assert set(shown["forebay_worker_up"]) == {("one",), ("old",)}
    (failed,) = [log for log in logs if log["event"] == "package_metrics_failed"]
    assert (failed["package"], failed["worker"]) == ("orders", "old")


async def test_a_query_that_fails_hides_nothing_else(dsn: str, tmp_path: Path) -> None:
    write_package(tmp_path, 'metrics="metrics:METRICS"', metrics=METRICS.replace("QUERY", "select * from nowhere"))
    with installed(tmp_path):
        async with serving(dsn) as service:
            with capture_logs() as logs:
                shown = await _shown(service)
    assert "forebay_orders" not in shown
    assert shown["forebay_database_up"] == {(): 1}
    (failed,) = [log for log in logs if log["event"] == "package_metrics_failed"]
    assert failed["error"] == 'relation "nowhere" does not exist'


def test_the_reference_has_a_section_for_them(tmp_path: Path) -> None:
    write_package(tmp_path, 'metrics="metrics:METRICS"', metrics=METRICS)
    with installed(tmp_path):
        page: str = runpy.run_path(str(ROOT / "scripts" / "metrics_docs.py"))["page"]()
    section = page.partition("\n## Package orders\n\n")[2]
    assert "| `forebay_orders` | gauge | `pipeline` | orders that there are |  |\n" in section


@pytest.mark.parametrize(("name", "owner"), [("forebay_items", "forebay"), ("forebay_provider_problem", "sheets")])
def test_a_metric_has_one_owner(tmp_path: Path, name: str, owner: str) -> None:
    write_package(tmp_path, 'metrics="metrics:METRICS"', metrics=METRICS.replace('"forebay_orders"', f'"{name}"'))
    reason = f"orders declares the metric {name}, which {owner} already has: rename it"
    with installed(tmp_path):
        assert "orders" not in load_package_metrics()
        assert [failure.reason for failure in failures()] == [f"DefinitionError: {reason}"]
