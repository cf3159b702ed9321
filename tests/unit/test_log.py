"""Logs of a program without configuration go only to the standard library."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from forebay import Worker, log
from forebay.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def unconfigured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a fresh process."""
    was_configured, known = structlog.is_configured(), structlog.get_config()
    library = logging.getLogger("forebay")
    level = library.level
    monkeypatch.setattr(log, "_level", log._level)
    structlog.reset_defaults()
    library.setLevel(logging.NOTSET)
    yield
    library.setLevel(level)
    structlog.reset_defaults()
    if was_configured:
        structlog.configure(**known)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    logger = log.get_logger("worker")
    logger.info("job_finished", job=1)
    logger.bind(item=2).error("item_failed", reason="100 % broken")
    assert capfd.readouterr() == ("", "")


def test_a_program_hears_by_its_own_logging(caplog: pytest.LogCaptureFixture) -> None:
    logger = log.get_logger("worker")
    with caplog.at_level(logging.INFO):
        logger.info("job_finished", job=1)
        logger.debug("attempt_settled")
        logger.error("tick_failed", loop="100 % sure", exc_info=ValueError("bad"))
    records: list[Any] = caplog.records
    assert [(r.name, r.levelname, r.getMessage()) for r in records] == [
        ("forebay.worker", "INFO", "job_finished job=1"),
        ("forebay.worker", "ERROR", "tick_failed loop='100 % sure'"),
    ]
    assert records[1].exc_info[0] is ValueError


def test_the_level_of_the_settings_is_honoured_and_a_programs_own_stays(caplog: pytest.LogCaptureFixture) -> None:
    logger = log.get_logger("worker")
    log.use_level("warning", explicit=True)
    logger.info("job_finished", job=1)
    logger.warning("worker_held")
    assert [record.message for record in caplog.records] == ["worker_held"]
    log.use_level("info", explicit=False)
    assert logging.getLogger("forebay").level == logging.WARNING
    log.use_level("debug", explicit=True)
    assert log.is_debug_enabled()


def test_a_worker_in_a_program_uses_the_level_of_its_settings() -> None:
    Worker("postgresql://nowhere/forebay", [], settings=Settings(log_level="error"))
    assert logging.getLogger("forebay").level == logging.ERROR


def test_who_configures_structlog_has_it_all(capfd: pytest.CaptureFixture[str]) -> None:
    log.configure("info", json_lines=True)
    log.get_logger("worker").info("job_finished", job=1)
    out, err = capfd.readouterr()
    assert out == ""
    assert '"event": "job_finished"' in err
