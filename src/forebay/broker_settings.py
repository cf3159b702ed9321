"""The settings of the broker between dispatchers and runners."""

from __future__ import annotations

from pydantic import Field, SecretStr

from forebay.base_settings import SettingsBase


class BrokerSettings(SettingsBase):
    """A part of the general settings."""

    broker_url: SecretStr | None = Field(
        default=None,
        description="address of the broker between dispatchers and runners: nats://host:4222, or BullMQ on Redis: "
        "redis://host:6379. Several NATS servers are separated by commas. Each database needs a prefix of its own: "
        "nats://host:4222/prefix, redis://host:6379?prefix=name",
    )
    broker_submits: str = Field(
        default="",
        pattern=r"^[^:]{0,200}$",
        description="queue of BullMQ; `forebay dispatch` submits the jobs that producers for Node add to it",
    )
