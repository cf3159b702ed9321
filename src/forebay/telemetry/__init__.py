"""What a process tells those who watch it: traces by OpenTelemetry, errors to Sentry, each when configured."""

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
    """Traces and error reports of this process, sent in the background until the end.

    Raises: ForebayError when they are configured and cannot be.
    """
    tracing.check(settings)
    with _reporting(settings, role):
        tracing.start(settings, role)
        yield


@contextmanager
def supervising(settings: Settings) -> Generator[None]:
    """The same for a process that only looks after others: it traces nothing, but what its children need is checked."""
    tracing.check(settings)
    with _reporting(settings, "supervisor"):
        yield


@contextmanager
def _reporting(settings: Settings, role: str) -> Generator[None]:
    sentry.start(settings, role)
    try:
        yield
    except ForebayError:
        raise  # told to the person who started it
    except Exception as error:
        sentry.report(error)
        raise
    finally:
        stop()


def stop() -> None:
    """Send what is left, within a few seconds."""
    tracing.stop()
    sentry.stop()
