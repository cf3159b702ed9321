"""Score detection on the cases in ``bench/corpora``, print the table and write DETECTION.md.

    python -m bench.detection [--corpora DIR] [--sources DIR] [--only prices,csv] [--strict]

The files of some cases belong to other projects and are not part of this one. ``--sources`` (or BENCH_SOURCES) names
a folder that has them as ``owner+name/path``; without it those cases are left out, and the table says so.
"""

import argparse
from pathlib import Path

from bench.detection import SETS, Corpora, default_corpora, measure_all
from bench.detection.score import as_table

HERE = Path(__file__).resolve().parent.parent


def main() -> int:
    arguments = _arguments()
    corpora = Corpora(arguments.corpora, arguments.sources)
    scores = measure_all(corpora, arguments.only.split(","))
    table = as_table(scores, complete=corpora.sources is not None)
    print(table)
    if arguments.write:
        (HERE / "DETECTION.md").write_text(table, encoding="utf-8")
    missed = [score for rows in scores.values() for score in rows if not score.holds]
    return 1 if missed and arguments.strict else 0


def _arguments() -> argparse.Namespace:
    default = default_corpora()
    parser = argparse.ArgumentParser(prog="python -m bench.detection", description=__doc__)
    parser.add_argument("--corpora", type=Path, default=default.cases)
    parser.add_argument("--sources", type=Path, default=default.sources)
    parser.add_argument("--only", default=",".join(SETS), help=f"some of {','.join(SETS)}")
    parser.add_argument("--write", action="store_true", help="write bench/DETECTION.md")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a bar does not hold")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
