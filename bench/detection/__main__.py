"""Score detection on the cases in ``bench/corpora``, print the table and write DETECTION.md.

    python -m bench.detection [--corpora DIR] [--sources DIR] [--only prices,csv] [--strict]

The files of some cases belong to other projects and are not part of this one. ``--sources`` (or BENCH_SOURCES) names
a folder that has them as ``owner+name/path``; without it those cases are left out, and the table says so.
"""

import argparse
import importlib
import os
from pathlib import Path

from bench.detection.score import Corpora, Measure, Score

HERE = Path(__file__).resolve().parent.parent
SETS = ("prices", "gtins", "csv", "encodings", "pages")


def main() -> int:
    arguments = _arguments()
    corpora = Corpora(arguments.corpora, arguments.sources)
    scores = {name: _measure(name)(corpora) for name in arguments.only.split(",")}
    table = _table(scores, complete=corpora.sources is not None)
    print(table)
    if arguments.write:
        (HERE / "DETECTION.md").write_text(table, encoding="utf-8")
    missed = [score for rows in scores.values() for score in rows if not score.holds]
    return 1 if missed and arguments.strict else 0


def _arguments() -> argparse.Namespace:
    sources = os.environ.get("BENCH_SOURCES")
    parser = argparse.ArgumentParser(prog="python -m bench.detection", description=__doc__)
    parser.add_argument("--corpora", type=Path, default=HERE / "corpora")
    parser.add_argument("--sources", type=Path, default=Path(sources) if sources else None)
    parser.add_argument("--only", default=",".join(SETS), help=f"some of {','.join(SETS)}")
    parser.add_argument("--write", action="store_true", help="write bench/DETECTION.md")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a bar does not hold")
    return parser.parse_args()


def _measure(name: str) -> Measure:
    module = "tables" if name == "csv" else name  # a module called csv would hide that of Python
    measure: Measure = importlib.import_module(f"bench.detection.{module}").measure
    return measure


def _table(scores: dict[str, list[Score]], *, complete: bool) -> str:
    lines = ["# Detection on test data of other projects", ""]
    if not complete:
        lines += ["Without the files that belong to other projects: cases that need them were left out.", ""]
    lines += ["| set | figure | cases | result | bar | aim | |", "|---|---|---|---|---|---|---|"]
    lines += [_line(name, score) for name, rows in scores.items() for score in rows]
    return "\n".join(lines) + "\n"


def _line(name: str, score: Score) -> str:
    sign = "≤" if score.at_most else "≥"
    bar = "" if score.bar is None else f"{sign} {score.bar:.1%}"
    aim = "" if score.aim is None else f"{score.aim:.1%}"
    verdict = "" if score.bar is None else "holds" if score.holds else "DOES NOT HOLD"
    return f"| {name} | {score.what} | {score.cases} | {score.share:.1%} | {bar} | {aim} | {verdict} |"


if __name__ == "__main__":
    raise SystemExit(main())
