"""A figure of detection: how many cases of a set came out right, beside its bar and its aim."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Corpora:
    """Where the cases are, and where files lie that we may read but not ship (None: leave those cases out)."""

    cases: Path
    sources: Path | None

    def source_file(self, repository: str, path: str) -> bytes | None:
        """Return a file of another project, ``owner+name/path`` below the sources, or None where it is missing."""
        if self.sources is None:
            return None
        found = self.sources / repository / path
        return found.read_bytes() if found.is_file() else None


@dataclass(frozen=True)
class Score:
    """``right`` of ``cases``; without a bar the figure is printed for information only."""

    what: str
    right: int
    cases: int
    bar: float | None = None
    aim: float | None = None
    at_most: bool = False

    @property
    def share(self) -> float:
        return self.right / self.cases if self.cases else 0.0

    @property
    def holds(self) -> bool:
        if self.bar is None or not self.cases:
            return True
        return self.share <= self.bar if self.at_most else self.share >= self.bar


Measure = Callable[[Corpora], list[Score]]


def as_table(scores: dict[str, list[Score]], *, complete: bool) -> str:
    """All figures as Markdown; `complete` when no case was left out for want of its file."""
    lines = ["# Detection on test data of other projects", ""]
    if not complete:
        lines += ["Without the files that belong to other projects: cases that need them were left out.", ""]
    lines += ["| set | figure | cases | result | bar | aim | |", "|---|---|---|---|---|---|---|"]
    lines += [_line(name, score) for name, rows in scores.items() for score in rows if score.cases]
    return "\n".join(lines) + "\n"


def _line(name: str, score: Score) -> str:
    sign = "≤" if score.at_most else "≥"
    bar = "" if score.bar is None else f"{sign} {score.bar:.1%}"
    aim = "" if score.aim is None else f"{score.aim:.1%}"
    verdict = "" if score.bar is None else "holds" if score.holds else "DOES NOT HOLD"
    return f"| {name} | {score.what} | {score.cases} | {score.share:.1%} | {bar} | {aim} | {verdict} |"
