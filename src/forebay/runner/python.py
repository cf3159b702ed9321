"""The Python that guards and sandboxed children run on: ours without a virtual environment, site or settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

GUARD = Path(__file__).with_name("guard.py")


def python_command() -> list[str]:
    """Modules are found by the search path that a child is told, so that nothing slow or misleading is loaded."""
    return [os.path.realpath(sys.executable), "-I", "-S"]
