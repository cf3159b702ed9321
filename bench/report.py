"""What a run found: records for machines (results.json), tables for people (RESULTS.md)."""

import json
import os
import platform
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from bench.bars import BARS, BY_NAME, Bar
from bench.measure import QUIET_CORES, Usage, half_range, median

HERE = Path(__file__).resolve().parent
INTRODUCTION = "Written by `make bench`. Each ratio is of two measurements of this run on this machine."
CLAIM_LIMIT = "limit: claim 500 / done 500"
CLIENTS = ("asyncpg", "uvloop")
LEGEND = (
    "Medians of all runs; ± is half the range. Foreign cores: CPU that was neither the contender's, "
    "PostgreSQL's nor the harness's, in the worst of the runs. Where both sides of a bar have runs with less "
    f"than {QUIET_CORES:g} of it, only those count for the bar."
)


@dataclass(frozen=True)
class Record:
    bar: Bar
    ours: float
    against: float
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.ours / self.against

    @property
    def holds(self) -> bool:
        return self.bar.holds(self.ratio)

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.bar.name,
            "ours": round(self.ours, 3),
            "against": round(self.against, 3),
            "ratio": round(self.ratio, 4),
            "bar": self.bar.bar,
            "holds": self.holds,
            "direction": self.bar.direction,
            "aim": self.bar.aim,
            "unit": self.bar.unit,
            "what": self.bar.what,
            "against_what": self.bar.against,
            "note": self.note,
        }

    def as_line(self) -> str:
        mark = "holds" if self.holds else "DOES NOT HOLD"
        bar = f"{self.bar.direction} {self.bar.bar:g}"
        return f"{self.bar.name}: {self.ratio:.2f} x {self.bar.against} ({bar}: {mark})"


@dataclass
class Report:
    mode: str
    postgres: str
    records: list[Record] = field(default_factory=list)
    samples: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    units: dict[str, str] = field(default_factory=dict)
    foreign: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    facts: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    detection: str = ""
    detection_is_complete: bool = False

    def sample(self, name: str, value: float, unit: str, usage: Usage | None = None) -> None:
        self.samples[name].append(value)
        self.units[name] = unit
        if usage:
            self.foreign[name].append(usage.foreign_cores)

    def pair(self, ours: str, against: str) -> tuple[float, float]:
        """The medians of two series: of the runs with quiet cores if both have such, else of all of both."""
        quiet = self._quiet(ours), self._quiet(against)
        mine, theirs = quiet if all(quiet) else (self.samples[ours], self.samples[against])
        return median(mine), median(theirs)

    def record(self, name: str, ours: float, against: float, note: str = "") -> Record:
        found = Record(BY_NAME[name], ours, against, note)
        self.records.append(found)
        return found

    def save(self, folder: Path = HERE) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        found = json.dumps([record.as_json() for record in self._ordered()], indent=2, ensure_ascii=False)
        (folder / "results.json").write_text(found + "\n")
        (folder / "RESULTS.md").write_text(self.as_markdown())
        if self.detection_is_complete:  # figures of fewer cases do not replace those of all
            (folder / "DETECTION.md").write_text(self.detection, encoding="utf-8")

    def as_markdown(self) -> str:
        parts = [
            "# Benchmark results",
            INTRODUCTION,
            self._machine(),
            "## Bars",
            _table(
                ("what", "ours", "against", "ratio", "bar", "aim", "holds"),
                [_bar_row(record) for record in self._ordered()],
            ),
            self._notes(),
            "## Measurements",
            LEGEND,
            _table(
                ("measurement", "median", "±", "runs", "of the claim loop", "foreign cores"),
                self._sample_rows(),
            ),
            self._failures(),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _ordered(self) -> list[Record]:
        order = {bar.name: place for place, bar in enumerate(BARS)}
        return sorted(self.records, key=lambda record: order[record.bar.name])

    def _machine(self) -> str:
        facts = {
            "Run": self.mode,
            "Cores": str(os.cpu_count()),
            "PostgreSQL": f"{self.postgres}, fsync, full_page_writes and synchronous_commit on",
            "Python": ", ".join([platform.python_version(), *(f"{name} {version(name)}" for name in CLIENTS)]),
            "System": f"{platform.system()} on {platform.machine()}",
            **self.facts,
        }
        return "\n".join(f"- {name}: {value}" for name, value in facts.items())

    def _notes(self) -> str:
        return "\n".join(f"- `{record.bar.name}`: {record.note}" for record in self._ordered() if record.note)

    def _sample_rows(self) -> list[tuple[str, ...]]:
        return [self._sample_row(name, values) for name, values in self.samples.items()]

    def _sample_row(self, name: str, values: list[float]) -> tuple[str, ...]:
        foreign = f"{max(self.foreign[name]):.2f}" if name in self.foreign else ""
        shown = f"{number(median(values))} {self.units[name]}"
        return name, shown, f"{half_range(values):.0%}", str(len(values)), self._of_limit(name), foreign

    def _of_limit(self, name: str) -> str:
        """A drain as a share of the bare claim loop, so that runs of different days compare."""
        if self.units[name] != "tasks/s" or CLAIM_LIMIT not in self.samples:
            return ""
        return f"{median(self.samples[name]) / median(self.samples[CLAIM_LIMIT]):.2f}"

    def _quiet(self, name: str) -> list[float]:
        runs = zip(self.samples[name], self.foreign.get(name, []), strict=False)
        return [value for value, cores in runs if cores < QUIET_CORES]

    def _failures(self) -> str:
        if not self.failures:
            return ""
        return "## Failed\n\n" + "\n".join(f"- {failure}" for failure in self.failures)


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"


def _bar_row(record: Record) -> tuple[str, ...]:
    bar = record.bar
    sign = "≥" if bar.direction == ">=" else "≤"
    return (
        bar.what,
        f"{number(record.ours)} {bar.unit}",
        f"{bar.against}: {number(record.against)}",
        f"**{record.ratio:.2f}**",
        f"{sign} {bar.bar:g}",
        f"{sign} {bar.aim:g}" if bar.aim is not None else "",
        "yes" if record.holds else "**no**",
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
