"""The adapter of each kind of broker, by the scheme of its address."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, cast

from forebay.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engine.declare.pipeline import Pipeline
    from forebay.fleet.bullmq.producers import ProducedJobs
    from forebay.fleet.port import DispatcherPort, RunnerPort

# Scheme: module, extra.
_ADAPTERS = {
    "nats": ("forebay.fleet.jetstream", "nats"),
    "tls": ("forebay.fleet.jetstream", "nats"),
    "redis": ("forebay.fleet.bullmq", "bullmq"),
    "rediss": ("forebay.fleet.bullmq", "bullmq"),
}


def dispatcher_port(url: str) -> DispatcherPort:
    """Raises: DefinitionError."""
    return cast("DispatcherPort", _adapter(url).dispatcher_port(url))


def runner_port(url: str) -> RunnerPort:
    """Raises: DefinitionError."""
    return cast("RunnerPort", _adapter(url).runner_port(url))


def _adapter(url: str) -> Any:
    scheme = url.partition("://")[0]
    if scheme not in _ADAPTERS:
        raise DefinitionError(
            f"no broker is known for addresses that begin with {scheme}://; set FOREBAY_BROKER_URL to "
            "nats://host:4222 or redis://host:6379"
        )
    module, extra = _ADAPTERS[scheme]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise DefinitionError(f"{error.name} is missing: pip install 'forebay[{extra}]'") from error


def produced_jobs(url: str, queue: str, pipelines: Sequence[Pipeline[Any]], dsn: str) -> ProducedJobs:
    """Raises: DefinitionError if the broker is not one to which producers add jobs."""
    adapter = _adapter(url)
    if not hasattr(adapter, "ProducedJobs"):
        raise DefinitionError("FOREBAY_BROKER_SUBMITS is for BullMQ: FOREBAY_BROKER_URL must begin with redis://")
    return cast("ProducedJobs", adapter.ProducedJobs(url, queue, pipelines, dsn))
