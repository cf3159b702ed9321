"""Writes docs/reference/metrics.md from the metrics that the code declares, or with --check compares it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from forebay.api.metrics import names
from forebay.api.metrics.metric import Metric
from forebay.api.metrics.package_metrics import load_package_metrics
from scripts.generated_files import write_or_check

TARGET = Path(__file__).parent.parent / "docs" / "reference" / "metrics.md"

HEAD = """\
# Metrics

Written by `scripts/metrics_docs.py` from `forebay.api.metrics.names` and from what packages declare.

`GET /metrics` returns these metrics to Prometheus. `GET /api/statistics` returns them as JSON: to administrators all of
them, to other users those of their own jobs.

Values from the database are counted at most every 30 seconds and are the same in every API process: use `max by (…)`
over several processes. Metrics whose names begin with `forebay_api_` or `forebay_db_` belong to one process: use `sum`.

A dashboard, alerts and an example of a scrape configuration are in [ops](../../ops/README.md).
"""
TABLE = """
| name | type | labels | meaning | demands |
|---|---|---|---|---|
"""


def page() -> str:
    packages = load_package_metrics()
    sections = [f"\n## Package {name}\n{_table(package.metrics)}" for name, package in packages.items()]
    return f"{HEAD}{_table(names.GENERAL)}{''.join(sections)}"


def _table(metrics: Iterable[Metric]) -> str:
    return TABLE + "".join(_row(metric) for metric in metrics)


def _row(one: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in one.labels)
    return f"| `{one.name}` | {one.kind} | {labels} | {one.text} | {one.answers.replace(' ', ', ')} |\n"


def main() -> int:
    return write_or_check({TARGET: page()})


if __name__ == "__main__":
    sys.exit(main())
