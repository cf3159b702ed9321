"""Writes docs/reference/demands.md: every demand of the source documents, its state, and the tests that hold it.

What is demanded is in demands.csv, beside this script. Which test holds a demand is said by the test: a line
`# demands: S2-02, S2-03` in a file of tests/ or bench/. A demand is met when a test names it; so a claim goes when its
test goes, and --check fails. In demands.csv a demand may have another state than that:

    planned      comes with a later part, which the note names; no test may claim it
    partly       the note says what is missing; a test holds the rest
    otherwise    the note is the number of the decision that says what is done instead, and why
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.generated_files import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT = Path(__file__).parent.parent
STATES = ("met", "partly", "otherwise", "planned")
SOURCES = {
    "S1": "Media downloads",
    "S2": "Bookmarks",
    "S3": "Attachments",
    "S4": "Embeddings of articles",
    "S5": "Sheets",
    "X": "Across the documents",
}
HEAD = """\
<!-- Written by scripts/demands.py from scripts/demands.csv and the lines `# demands:` in tests and benchmarks. -->

# Demands

forebay replaces five systems. Their documents make {count} demands. This page lists them with their state and the tests
that cover them. *Otherwise* means that a decision explains what is done instead; *planned* names the part that a demand
comes with.
"""
_LINE = re.compile(r"^# demands: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Demand:
    id: str
    text: str
    state: str
    note: str

    @property
    def source(self) -> str:
        return self.id.partition("-")[0]


def demands(root: Path) -> list[Demand]:
    with (root / "scripts" / "demands.csv").open(newline="", encoding="utf-8") as file:
        return [Demand(row["id"], row["text"], row["state"] or "met", row["note"]) for row in csv.DictReader(file)]


def claims(root: Path) -> dict[str, list[str]]:
    """The files that name each demand."""
    found: dict[str, list[str]] = defaultdict(list)
    for folder in ("tests", "bench"):
        for path in sorted((root / folder).rglob("*.py")):
            for line in _LINE.findall(path.read_text("utf-8")):
                for name in line.split(", "):
                    found[name].append(path.relative_to(root).as_posix())
    return found


def faults(root: Path, listed: Iterable[Demand], claimed: Mapping[str, list[str]]) -> Iterator[str]:
    """What contradicts itself, in words."""
    known = {each.id: each for each in listed}
    for name, files in claimed.items():
        if name not in known:
            yield f"{files[0]}: there is no demand {name} in scripts/demands.csv"
        elif known[name].state == "planned":
            yield f"{files[0]}: {name} is planned by scripts/demands.csv; remove that, or the claim"
    for each in known.values():
        if each.state not in STATES:
            yield f"scripts/demands.csv: {each.id} has the state {each.state}; it must be one of {', '.join(STATES)}"
        elif each.state in {"met", "partly"} and each.id not in claimed:
            yield f"scripts/demands.csv: no test names {each.id}: add it to a line `# demands:`, or change its state"
        elif each.state == "otherwise" and not _decisions(root, each.note):
            yield f"scripts/demands.csv: {each.id} names decision {each.note}, which is not in docs/decisions"
        elif each.state in {"partly", "planned"} and not each.note:
            yield f"scripts/demands.csv: {each.id} is {each.state} and needs a note"


def _decisions(root: Path, number: str) -> list[Path]:
    return sorted((root / "docs" / "decisions").glob(f"{number}-*.md")) if re.fullmatch(r"\d{4}", number) else []


def page(root: Path, listed: list[Demand], claimed: Mapping[str, list[str]]) -> str:
    sections = [_section(root, source, title, listed, claimed) for source, title in SOURCES.items()]
    return HEAD.format(count=len(listed)) + _summary(listed) + "".join(sections)


def _summary(listed: list[Demand]) -> str:
    rows = ["\n| | met | partly | otherwise | planned | all |\n|---|---|---|---|---|---|\n"]
    for source, title in (*SOURCES.items(), ("", "**all**")):
        counted = Counter(each.state for each in listed if source in {"", each.source})
        cells = " | ".join(str(counted[state]) for state in STATES)
        rows.append(f"| {f'{source} ' if source else ''}{title} | {cells} | {counted.total()} |\n")
    return "".join(rows)


def _section(root: Path, source: str, title: str, listed: list[Demand], claimed: Mapping[str, list[str]]) -> str:
    rows = [_row(root, each, claimed.get(each.id, [])) for each in listed if each.source == source]
    return f"\n## {source}: {title}\n\n| id | demand | state | where |\n|---|---|---|---|\n{''.join(rows)}"


def _row(root: Path, demand: Demand, files: list[str]) -> str:
    where = [f"`{file}`" for file in files]
    if demand.state == "otherwise":
        where = [f"[decision {int(demand.note)}](../decisions/{_decisions(root, demand.note)[0].name})", *where]
    note = f": {demand.note}" if demand.state in {"partly", "planned"} else ""
    return f"| {demand.id} | {demand.text} | {demand.state}{note} | {', '.join(where)} |\n"


def main(root: Path = ROOT) -> int:
    listed, claimed = demands(root), claims(root)
    if wrong := list(faults(root, listed, claimed)):
        print("\n".join(wrong))
        return 1
    return write_or_check({root / "docs" / "reference" / "demands.md": page(root, listed, claimed)})


if __name__ == "__main__":
    sys.exit(main())
