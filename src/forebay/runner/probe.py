"""Runs a program in a sandbox without a guard, to test whether it works: `probe.py SPEC`. Standard library only."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from forebay.runner.guard import work
from forebay.runner.spec import Spec


def main(text: str) -> int:
    spec = Spec.load(text)
    base = None if spec.sandbox is None else spec.sandbox.uid_base
    return work(spec, 0 if base is None else base + os.getpid(), -1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
