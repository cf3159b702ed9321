"""The broker port on BullMQ: offers and reports are jobs of BullMQ, beats and tells are messages of Redis.

Runners and producers that are written for Node use the same queues: see docs/howto/fleet.md.
"""

from forebay.fleet.bullmq.dispatcher_side import BullMQDispatcher
from forebay.fleet.bullmq.producers import ProducedJobs
from forebay.fleet.bullmq.runner_side import BullMQRunner

dispatcher_port = BullMQDispatcher
runner_port = BullMQRunner

__all__ = ["BullMQDispatcher", "BullMQRunner", "ProducedJobs", "dispatcher_port", "runner_port"]
