"""Hostile functions and programs obtain, reach, leave behind and disturb nothing: in every sandbox."""

# demands: S2-87

from __future__ import annotations

import json
import os
import pwd
import random
import subprocess
import sys
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from forebay.runner import seccomp
from forebay.runner.availability import available
from tests.runner import _escape

ROOT = Path(__file__).parents[2]
SYSTEM_PYTHON = "/usr/bin/python3"
NOBODY = 65534


@lru_cache
def _why_not_nobody() -> str | None:
    """Why root cannot run the same tests as an ordinary account, which needs a Python that every account can read."""
    if os.geteuid() != 0:
        return "only root can become somebody else"
    try:
        _run("nobody", "-c", "import forebay.engine.processes.pool, tests.runner")
    except (OSError, subprocess.CalledProcessError) as error:
        return f"{SYSTEM_PYTHON} cannot run this code as nobody: {error}"
    return None


def _command(account: str, *args: str) -> dict[str, Any]:
    if account == "self":
        return {"args": [sys.executable, *args], "cwd": ROOT, "env": dict(os.environ)}
    places = [str(ROOT / "src"), str(ROOT), *(entry for entry in sys.path if entry.endswith("site-packages"))]
    env = {"PYTHONPATH": ":".join(places), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.defpath}
    became = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    return {"args": [SYSTEM_PYTHON, *args], "cwd": ROOT, "env": env, **became}


def _run(account: str, *args: str, folder: str | None = None) -> str:
    command = _command(account, *args)
    if folder is not None:
        command["env"] |= {"TMPDIR": folder}
    done = subprocess.run(**command, stdout=subprocess.PIPE, check=True, text=True, timeout=300)
    return str(done.stdout)


def _marker() -> str:
    return f"987{random.randrange(10**9)}.5"


@pytest.fixture(params=["self", "nobody"])
def account(request: pytest.FixtureRequest) -> str:
    if request.param == "nobody" and (because := _why_not_nobody()) is not None:
        pytest.skip(because)
    return str(request.param)


@pytest.fixture(params=["bubblewrap", "namespaces"])
def method(request: pytest.FixtureRequest) -> str:
    found = available((request.param,))
    if found.method is None:
        pytest.skip(found.because)
    return str(request.param)


def test_nothing_escapes(account: str, method: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # its own, for what is left in it; all accounts can enter it
        Path(folder).chmod(0o1777)
        told = json.loads(_run(account, "-m", "tests.runner._escape", "main", method, _marker(), folder=folder))
    assert told["method"] == method
    function, program = told["function"], told["program"]
    for kind in (function, program):
        _check_looks(kind["look"], as_root=account == "self" and os.geteuid() == 0)
        assert 0 < kind["filled"] <= 16
        assert "needed more than 64 MB of memory" in kind["eaten"]
    assert function["forked"] < 512
    assert program["forked"] < 256
    assert function["scratch"] == "TransientError: filled its scratch space"
    assert {function[how].partition(":")[0] for how in _escape.FORGERIES} == {"BrokenProtocol"}
    assert "its process broke the protocol" in function["huge"]
    assert not function["made"]
    assert function["outlived"] == []
    assert told["input"] == "given"
    assert told["left"] == []


def _check_looks(look: dict[str, Any], *, as_root: bool) -> None:
    assert [name for name, came in look["attempts"].items() if came.startswith("done")] == []
    facts = look["facts"]
    assert (facts["given"], facts["scratch"]) == ("given", "mine")
    assert {facts[name] for name in ("CapEff", "CapPrm", "CapBnd")} == {"0" * 16}
    assert facts["NoNewPrivs"] == "1"
    assert facts["Seccomp"] == ("2" if seccomp.unavailable_reason() is None else "0")
    assert facts["first process"] == [facts["NoNewPrivs"], facts["Seccomp"]]  # it may have the same account
    assert len(facts["pids"]) <= 3  # its own, and the first process of the sandbox
    assert set(facts["environment"]) <= {"FOREBAY_ISOLATED", "HOME", "LANG", "LC_ALL", "PATH", "PWD", "TMPDIR", "TZ"}
    if as_root:
        taken = {0, *(entry.pw_uid for entry in pwd.getpwall())}  # PostgreSQL's among them
        assert not taken & set(facts["ids"])


def test_a_killed_worker_leaves_nothing(method: str) -> None:
    marker = _marker()
    worker = subprocess.Popen(**_command("self", "-m", "tests.runner._escape", "hang", method, marker))
    try:
        _eventually(lambda: _escape.running(marker), worker)
    finally:
        worker.kill()
        worker.wait()
    _eventually(lambda: not _escape.running(marker))


def _eventually(holds: Any, worker: subprocess.Popen[Any] | None = None) -> None:
    """Poll, because other processes do not report their start and end; the time limit of the test ends a wait in
    vain."""
    while not holds():
        assert worker is None or worker.poll() is None
        time.sleep(0.02)
