"""The errors of the runner if it cannot, or must not, run something."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from forebay import Pipeline
from forebay.engine.declare.limited import limited
from forebay.engine.processes import protocol
from forebay.engine.processes.child_process import ChildProcess
from forebay.errors import ConfigError, DefinitionError, TransientError
from forebay.runner import accounts, availability, launch, namespaces, program, progress
from forebay.runner.availability import sandbox_for
from forebay.runner.codec import CodecError
from forebay.runner.namespaces import Forbidden
from forebay.runner.process import GuardedCommand, GuardedProcess
from forebay.runner.program import run_program
from forebay.runner.spec import ResourceLimits, Spec
from forebay.services.browser.process import BrowserProcess
from forebay.settings import Settings
from forebay.types import Done


def test_what_was_not_started_says_so() -> None:
    with pytest.raises(RuntimeError, match="the process was not started"):
        _ = GuardedProcess(GuardedCommand("true", ResourceLimits(64), argv=("true",))).inbox
    with pytest.raises(RuntimeError, match="the child was not started"):
        ChildProcess(limited(os.getpid), 1000, "off")._running()
    unknown: Any = None
    with pytest.raises(RuntimeError, match="the browser was not started"):
        _ = BrowserProcess(Settings(), unknown, "chromium", sandboxed=True).ended


def test_a_sandbox_that_is_required_and_not_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    found = SimpleNamespace(method=None, because="it is forbidden")
    monkeypatch.setattr(availability, "available", lambda: found)
    with pytest.raises(ConfigError) as refused:
        sandbox_for("required", "Chromium", scratch_mb=1)
    assert str(refused.value) == (
        "Chromium needs a sandbox, and this machine allows none (it is forbidden): allow user namespaces for this "
        "account or install bubblewrap, or set FOREBAY_SANDBOX=preferred to run it with limits only"
    )


def test_no_ids_for_untrusted_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(accounts, "_is_mapped", lambda _: False)
    reason = "this container has no user ids above 100,000,000 to run untrusted programs under"
    with pytest.raises(LookupError, match=reason):
        accounts.uid_base()


def test_namespaces_that_root_may_not_make_either(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(namespaces, "_Helper", lambda _: SimpleNamespace(dismiss=lambda: None))
    monkeypatch.setattr(
        namespaces, "_libc", SimpleNamespace(unshare=lambda _: -1)
    )  # otherwise it would affect the test process
    monkeypatch.setattr(namespaces, "call", refuse)
    with pytest.raises(Forbidden, match=r"neither user nor other namespaces for root \(Operation not permitted\)"):
        namespaces.unshare(0)


def test_accounts_without_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(
        namespaces, "_libc", SimpleNamespace(unshare=lambda _: -1)
    )  # otherwise it would affect the test process
    monkeypatch.setattr(namespaces, "call", refuse)
    with pytest.raises(Forbidden, match=r"no user namespaces for this account \(No space left on device\)"):
        namespaces.unshare(0)


def test_namespaces_without_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with AppArmor for unprivileged accounts: the namespace can be created, but nothing is permitted in it."""
    read: Callable[[Any, int, bytes], bytes] = fcntl.ioctl

    def refuse(sock: Any, request: int, data: bytes) -> bytes:
        if request == namespaces._SIOCSIFFLAGS:
            raise PermissionError(1, "Operation not permitted")
        return read(sock, request, data)

    monkeypatch.setattr(fcntl, "ioctl", refuse)
    with pytest.raises(Forbidden, match=r"user namespaces have no rights here \(AppArmor restricts them\?\)"):
        namespaces.raise_loopback()


def test_nothing_to_seal() -> None:
    with pytest.raises(ValueError, match="the specification has no sandbox"):
        launch.seal(Spec(-1, os.getpid(), [], ResourceLimits(64)), 0, -1)


async def test_programs_that_cannot_be_run() -> None:
    with pytest.raises(ConfigError, match="no-such-program is not installed, or not on the PATH"):
        await run_program(["no-such-program"])
    with pytest.raises(ConfigError) as refused:
        await run_program(["true"], network="host")
    assert str(refused.value) == (
        "true may use the network only through the egress proxy, which cannot be enforced here: unset "
        "FOREBAY_EGRESS_CONFINE and allow user namespaces, or accept this with FOREBAY_SANDBOX=preferred"
    )
    lost: Any = SimpleNamespace(end_reason="", output="", command=SimpleNamespace(limits=ResourceLimits(64)))
    with pytest.raises(TransientError, match="true was lost: its guard ended before it"):
        program._finished("true", lost, [])


def test_progress_that_is_none() -> None:
    with pytest.raises(ValueError, match="fraction and sizes must be numbers, and note must be text"):
        progress.read(b'["half", null, null, null]')


def test_limits_that_are_none() -> None:
    with pytest.raises(DefinitionError, match="file_mb and scratch_mb must be at least 1"):
        limited(os.getpid, file_mb=0)


def test_a_sandbox_is_for_processes() -> None:
    pipeline: Pipeline[dict[str, str]] = Pipeline("p", dict)
    with pytest.raises(DefinitionError, match='sandbox is for steps of kind "process"'):

        @pipeline.step(sandbox=True)
        async def fetch(ctx: Any, given: dict[str, str]) -> None:
            pass


def test_rows_of_a_sandboxed_step_are_refused() -> None:
    callee: Any = SimpleNamespace(process_limits=SimpleNamespace(sandbox=True))
    write: Any = object()
    refused = "a sandboxed step cannot write rows or submit jobs: return them from a later step"
    with pytest.raises(CodecError, match=refused):
        protocol._checked(callee, Done(1, [write]))
    with pytest.raises(CodecError, match=refused):
        protocol._checked(callee, Done(1, submits=[write]))
