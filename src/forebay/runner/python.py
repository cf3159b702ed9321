"""The Python interpreter for guards and sandboxed children: without virtual environment, site or settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

GUARD = Path(__file__).with_name("guard.py")


def python_command() -> list[str]:
    """The command. A child receives its module search path, so nothing slow or misleading is loaded."""
    return [os.path.realpath(sys.executable), "-I", "-S"]
