"""Writes docs/reference/metrics.md from the metrics that the code declares, or with --check compares it."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from pathlib import Path

from forebay.api.metrics import names
from forebay.api.metrics.metric import Metric
from forebay.api.metrics.package_metrics import load_package_metrics

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
    text = page()
    if "--check" not in sys.argv:
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        TARGET.write_text(text, "utf-8")
        return 0
    stored = TARGET.read_text("utf-8") if TARGET.exists() else ""
    if stored == text:
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(stored.splitlines(True), text.splitlines(True), "metrics.md", "the code")
    )
    print("\ndocs/reference/metrics.md is not what the code says: run `python scripts/metrics_docs.py`")
    return 1


if __name__ == "__main__":
    sys.exit(main())
