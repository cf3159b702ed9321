"""Which sandbox a machine has, and what happens without one."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from forebay.errors import ConfigError
from forebay.runner import accounts, availability
from forebay.runner.availability import Available, sandbox_for


@pytest.fixture
def forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    availability._warn_once.cache_clear()
    monkeypatch.setattr(availability, "available", lambda: Available(None, "", None, "the kernel says no"))


@pytest.mark.usefixtures("forbidden")
def test_root_runs_nothing_untrusted_as_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def taken() -> int:
        raise LookupError("no numbers here")

    told = (
        "it would run as root without a sandbox, because there is no other account for it ({}): run "
        "forebay under a separate account, or accept this with FOREBAY_SANDBOX=off"
    )
    monkeypatch.setattr(accounts, "uid_base", taken)
    with pytest.raises(ConfigError) as refused:
        sandbox_for("preferred", "it", scratch_mb=1)
    assert str(refused.value) == told.format("no numbers here")
    monkeypatch.setattr(accounts, "uid_base", lambda: 1000)
    monkeypatch.setattr(accounts, "is_open_to_all", lambda _: False)
    with pytest.raises(ConfigError) as refused:
        sandbox_for("preferred", "it", scratch_mb=1, programs=["/bin/sh"], python=False)
    assert str(refused.value) == told.format("other accounts cannot read /bin/sh")


@pytest.mark.usefixtures("forbidden")
def test_the_log_says_once_that_there_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "uid_base", lambda: None)
    with capture_logs() as logs:
        found = [sandbox_for("preferred", "it", scratch_mb=1) for _ in range(2)]
    assert [None if each is None else each.method for each in found] == ["process", "process"]
    assert [(entry["event"], entry["because"]) for entry in logs] == [("no_sandbox", "the kernel says no")]


def test_a_busy_machine_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[str | None] = [
        "fork: Resource temporarily unavailable",
        "it timed out after 30 seconds",
        None,
        "never",
    ]
    monkeypatch.setattr(availability, "_known", {})
    monkeypatch.setattr(availability, "_tried", lambda *_: answers.pop(0))
    found = [availability.available(("namespaces",)).method for _ in range(4)]
    assert found == [None, None, "namespaces", "namespaces"]
    assert answers == ["never"]
