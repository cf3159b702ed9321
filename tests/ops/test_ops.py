"""What stands in ops/ works: the alerts and the dashboard on a real Prometheus, the units in the eyes of systemd."""

# demands: S1-98, S1-104, S1-105, S1-106, S1-107, S1-109, S1-118, S1-123, S3-70, S3-79, S3-91, S4-120, S4-121, S4-122
# demands: S4-123, S4-124, S4-125, S5-117, S5-179

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from forebay.api.app import create_app
from forebay.api.metrics import service as service_metrics
from forebay.settings import Settings
from forebay.testing import Testbed, testbed
from tests.api._errands import Errand, errands
from tests.api._service import Service, pages, serving
from tests.cli._run import Cli
from tests.ops._prometheus import OPS, Prometheus, listening, scraping, tool

_NAME = re.compile(r"\bforebay_[a-z0-9_]+")
_UNITS = sorted((OPS / "systemd").glob("*.service"))
# What the test makes happen; the others are made to fire in alerts_test.yml.
_FIRING = {"ForebayDeadLettersGrow", "ForebayRepeatedFailures"}


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((OPS / "grafana" / "forebay.json").read_text("utf-8"))["panels"]
    return found


def queries() -> list[tuple[str, str]]:
    """Every query of the dashboard with its panel's title, as Grafana would send it."""
    return [
        (panel["title"], target["expr"].replace("$__rate_interval", "5m").replace("$pipeline", ".*"))
        for panel in panels()
        for target in panel["targets"]
    ]


def test_the_alerts_are_valid_and_fire_when_they_should() -> None:
    for args in (
        ["check", "rules", OPS / "prometheus" / "alerts.yml"],
        ["check", "config", OPS / "prometheus" / "prometheus.yml"],
        ["test", "rules", Path(__file__).with_name("alerts_test.yml")],
    ):
        ran = subprocess.run([tool("promtool"), *map(str, args)], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_alert_is_tested() -> None:
    rules = (OPS / "prometheus" / "alerts.yml").read_text("utf-8")
    tested = Path(__file__).with_name("alerts_test.yml").read_text("utf-8")
    alerts = re.findall(r"- alert: (\w+)", rules)
    assert len(alerts) == len(set(alerts)) == rules.count("action:")
    for alert in alerts:
        assert re.search(rf"alertname: {alert}\n.*\n +exp_alerts:\n", tested), alert


def test_the_panels_have_places_of_their_own() -> None:
    places = [panel["gridPos"] for panel in panels()]
    cells = [(x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23
    assert len({panel["id"] for panel in panels()}) == len(places)


async def test_a_real_prometheus_finds_what_dashboard_and_alerts_ask_for(
    dsn: str, broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("prometheus")
    monkeypatch.setattr(service_metrics, "_FRESH", 0.0)  # else rates would take half a minute to show
    app = create_app(dsn, Settings(), [pages])
    quick = Settings(egress_confine=False)
    async with (
        serving(dsn) as service,
        testbed(dsn, [pages, errands], migrated=True, settings=quick) as bed,
        dispatching(dsn, broker, tmp_path),
    ):
        with listening(app) as target:
            await use(service, bed, target)
            async with scraping(target, tmp_path) as prometheus:
                await prometheus.until("forebay_pending_tasks")
                await use(service, bed, target)
                await prometheus.until('increase(forebay_attempts_total{step="fetch", outcome="ERROR"}[5m]) > 10')
                await prometheus.until('increase(forebay_worker_processed_total{step="fetch"}[5m]) > 10')
                await prometheus.until('increase(forebay_egress_refused_total{reason="address"}[5m]) > 0')
                await prometheus.until("delta(forebay_dead_letters[15m]) > 0")
                await prometheus.until('rate(forebay_api_requests_total{route="/api/pending"}[5m]) > 0')
                await prometheus.until(
                    "forebay_fleet_broker_up == 1 and rate(forebay_fleet_lost_offers_total[5m]) == 0"
                )
                await check_all(prometheus, await exposed(target))


@asynccontextmanager
async def dispatching(dsn: str, broker: str, folder: Path) -> AsyncIterator[None]:
    """A dispatcher of another pipeline, in a process of its own: a worker is known by its process."""
    process = Cli(folder).fork("dispatch", FOREBAY_DATABASE_URL=dsn, FOREBAY_BROKER_URL=broker)
    try:
        await asyncio.to_thread(process.says, "dispatcher_started")
        yield
    finally:
        process.kill()


async def use(service: Service, bed: Testbed, target: str) -> None:
    """Some work is done, some fails, some waits; and people look at it."""
    headers = {"authorization": f"Bearer {service.tokens['ann']}"}
    async with httpx.AsyncClient(base_url=f"http://{target}", headers=headers, trust_env=False) as client:
        for titles in (["a"] * 5 + ["broken"] * 20 + ["missing"], ["waits"] * 3):
            body = {"pipeline": "pages", "items": [{"title": title} for title in titles]}
            answer = await client.post("/api/jobs", json=body)
            assert answer.status_code == 201, answer.text
            if "waits" not in titles:
                await bed.submit(errands, Errand())
                await bed.finish()
                await bed.worker.report_status()
        job_id = answer.json()["jobId"]
        for path in ("/api/pending", f"/api/jobs/{job_id}/items", "/api/jobs", "/api/attempts", "/api/dead-letters"):
            assert (await client.get(path)).status_code == 200


async def exposed(target: str) -> set[str]:
    """The names of all samples that /metrics shows; promtool has nothing to say against it."""
    async with httpx.AsyncClient(trust_env=False) as client:
        text = (await client.get(f"http://{target}/metrics")).text
    lint = await asyncio.to_thread(
        subprocess.run, [tool("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (lint.returncode, lint.stdout + lint.stderr) == (0, "")
    return {line.partition("{")[0].partition(" ")[0] for line in text.splitlines() if not line.startswith("#")}


async def check_all(prometheus: Prometheus, names: set[str]) -> None:
    for title, query in queries():
        assert set(_NAME.findall(query)) <= names, title
        assert await prometheus.values(query), f"{title}: {query}"
    for rule in await prometheus.rules():
        assert (rule["health"], rule.get("lastError", "")) == ("ok", ""), rule["name"]
        assert set(_NAME.findall(rule["query"])) <= names, rule["name"]
        found = await prometheus.values(rule["query"])
        assert bool(found) == (rule["name"] in _FIRING), rule["name"]


@pytest.mark.parametrize("unit", _UNITS, ids=[unit.stem for unit in _UNITS])
def test_systemd_understands_the_units(unit: Path, tmp_path: Path) -> None:
    text = unit.read_text("utf-8")
    assert "KillMode=mixed" in text or unit.stem in {"forebay-api", "forebay-migrate"}
    assert "PrivateDevices=yes" in text
    assert verified(unit, tmp_path) == (0, "")


def test_systemd_understands_the_drop_in_for_a_gpu(tmp_path: Path) -> None:
    (drop_in,) = (OPS / "systemd").glob("*.service.d/*.conf")
    text = drop_in.read_text("utf-8")
    assert "PrivateDevices=no" in text  # otherwise all of them are hidden
    for unit in ("forebay-runner.service", "forebay-worker.service"):
        (tmp_path / f"{unit}.d").mkdir()
        (tmp_path / f"{unit}.d" / drop_in.name).write_text(text, encoding="utf-8")
        assert verified(OPS / "systemd" / unit, tmp_path) == (0, "")
        (tmp_path / f"{unit}.d" / "wrong.conf").write_text("[Service]\nDeviceAlow=x\n", encoding="utf-8")
        assert "Unknown key" in verified(OPS / "systemd" / unit, tmp_path)[1]  # it does read drop-ins here


def verified(unit: Path, folder: Path) -> tuple[int, str]:
    """What systemd says about a unit, in a folder with its drop-ins."""
    here = folder / unit.name
    text = unit.read_text("utf-8").replace("/opt/forebay/bin/forebay", "/bin/true").replace("=forebay\n", "=root\n")
    here.write_text(text, encoding="utf-8")
    ran = subprocess.run([tool("systemd-analyze"), "verify", here], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr
