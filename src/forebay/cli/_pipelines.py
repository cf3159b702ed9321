"""Registers pipelines before a worker has run, and logs packages that cannot be loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.engine.db.adapters import adapter_for
from forebay.engine.submit.registration import register_unknown
from forebay.log import get_logger
from forebay.packages import failures

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.settings import Settings


log = get_logger("cli")


async def make_known(conn: Connection, settings: Settings, *pipelines: Pipeline[Any]) -> None:
    """Register pipelines that the database does not know. Known ones keep the settings of the workers."""
    for pipeline in pipelines:
        pipeline.tune(settings)
        await register_unknown(adapter_for(conn), pipeline)


def log_failures() -> None:
    """Log each package that could not be loaded."""
    for failure in failures():
        log.error("package_left_out", entry_point=failure.entry_point, reason=failure.reason, fix=failure.fix)
