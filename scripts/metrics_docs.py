"""Writes docs/reference/metrics.md from forebay.api.metrics.names, or with --check compares it."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

from forebay.api.metrics.names import ALL, Described

TARGET = Path(__file__).parent.parent / "docs" / "reference" / "metrics.md"

HEAD = """\
# Metrics

Written by `scripts/metrics_docs.py` from `forebay.api.metrics.names`.

`GET /metrics` shows these to Prometheus, `GET /api/statistics` as JSON to administrators, and to others the numbers of
their own work. What comes from the database is counted at most every 30 seconds, by index and minute by minute, and is
the same in every API process: take `max by (…)` over several. What is named for the API or the `db` is of one process:
take `sum`.
Dashboard, alerts and a scrape example: [ops](../../ops/README.md).

| name | type | labels | meaning | requirements |
|---|---|---|---|---|
"""


def page() -> str:
    return HEAD + "".join(_row(one) for one in ALL)


def _row(one: Described) -> str:
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
        difflib.unified_diff(stored.splitlines(True), text.splitlines(True), "metrics.md", "catalogue")
    )
    print("\ndocs/reference/metrics.md is not what the code says: run `python scripts/metrics_docs.py`")
    return 1


if __name__ == "__main__":
    sys.exit(main())
