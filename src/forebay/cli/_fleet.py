"""What the commands of a fleet share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.errors import InvalidField
from forebay.fleet.offerable import why_not_offered
from forebay.fleet.port import BrokerUnavailable
from forebay.hooks import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from forebay.engine.declare.pipeline import Pipeline
    from forebay.settings import Settings


def broker_url(settings: Settings) -> str:
    """Raises: InvalidField if there is none."""
    if settings.broker_url is None:
        raise InvalidField(
            "FOREBAY_BROKER_URL", "is not set; it is the address of the broker, such as nats://host:4222"
        )
    return settings.broker_url.get_secret_value()


def check_offered(settings: Settings, pipelines: Sequence[Pipeline[Any]]) -> None:
    """Raises: InvalidField for a queue of which a fleet can run no step: its runners would wait forever."""
    left = left_to_workers(pipelines)
    steps = [step for pipeline in pipelines for step in pipeline.steps.values()]
    offered = {step.queue for step in steps if step.label not in left}
    if not offered:
        raise InvalidField("FOREBAY_PIPELINES", f"a fleet can run none of the steps: {_reasons(left)}")
    if useless := settings.queue_names - offered:
        of_them = {step.label: left[step.label] for step in steps if step.queue in useless}
        raise InvalidField(
            "queues", f"a fleet can run no step of {', '.join(sorted(useless))}, workers have to: {_reasons(of_them)}"
        )


def _reasons(left: Mapping[str, str]) -> str:
    return "; ".join(f"{step}: {why}" for step, why in left.items())


def left_to_workers(pipelines: Sequence[Pipeline[Any]]) -> dict[str, str]:
    """The steps that a fleet cannot run, and why."""
    steps = [step for pipeline in pipelines for step in pipeline.steps.values()]
    return {step.label: why for step in steps if (why := why_not_offered(step)) is not None}


async def examine(settings: Settings, pipelines: Sequence[Pipeline[Any]]) -> list[Finding]:
    """Whether the broker can be reached, and which steps workers must run; nothing without a broker."""
    if settings.broker_url is None:
        return []
    from forebay.fleet.brokers import runner_port  # noqa: PLC0415 - only with a broker

    port = runner_port(settings.broker_url.get_secret_value())
    try:
        await port.open("doctor", [])
    except BrokerUnavailable as error:
        fix = "start it, or fix FOREBAY_BROKER_URL; until then its runners get no work, which workers can do"
        return [Finding("FAIL", "broker", f"it cannot be reached: {error}", fix)]
    await port.close()
    found = [Finding("OK", "broker", "it can be reached")]
    if left := left_to_workers(pipelines):
        text = f"steps that a fleet cannot run, for which a worker is needed: {_reasons(left)}"
        found.append(Finding("OK", "broker", text))
    return found
