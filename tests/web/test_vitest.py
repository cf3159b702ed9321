"""The unit tests of the web app, as one test, so that one summary counts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.web import _browser


def test_the_units_of_the_web_app() -> None:
    _browser.build()
    done = subprocess.run(
        [sys.executable, str(_browser.ROOT / "scripts" / "web.py"), "test"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    if done.returncode != 0:
        pytest.fail(done.stdout + done.stderr, pytrace=False)
    assert "passed" in done.stdout
