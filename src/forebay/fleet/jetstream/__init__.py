"""The broker port over NATS JetStream."""

from forebay.fleet.jetstream.dispatcher_side import JetStreamDispatcher
from forebay.fleet.jetstream.runner_side import JetStreamRunner

__all__ = ["JetStreamDispatcher", "JetStreamRunner", "dispatcher_port", "runner_port"]

dispatcher_port = JetStreamDispatcher
runner_port = JetStreamRunner
