"""Telemetry of a process: traces with OpenTelemetry, errors to Sentry, if configured."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from forebay.errors import ForebayError
from forebay.telemetry import sentry, tracing

if TYPE_CHECKING:
    from collections.abc import Generator

    from forebay.settings import Settings


@contextmanager
def running(settings: Settings, role: str) -> Generator[None]:
    """Send traces and error reports of this process in the background until the block ends.

    Raises: ForebayError if they are configured but not possible.
    """
    tracing.check(settings)
    with _reporting(settings, role):
        tracing.start(settings, role)
        yield


@contextmanager
def supervising(settings: Settings) -> Generator[None]:
    """The same for a supervisor: it sends no traces, but checks the configuration that its children need."""
    tracing.check(settings)
    with _reporting(settings, "supervisor"):
        yield


@contextmanager
def _reporting(settings: Settings, role: str) -> Generator[None]:
    sentry.start(settings, role)
    try:
        yield
    except ForebayError:
        raise  # shown to the user who started the process
    except Exception as error:
        sentry.report(error)
        raise
    finally:
        stop()


def stop() -> None:
    """Send pending data, within a few seconds."""
    tracing.stop()
    sentry.stop()
