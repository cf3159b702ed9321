"""One production worker process with the pipelines under test; every setting at its default."""

import asyncio
import signal

import uvloop

from bench.noop import pipelines
from bench.probe import Probe
from forebay import Worker
from forebay.log import configure
from forebay.settings import Settings


async def main() -> None:
    settings = Settings()
    configure(settings.log_level)
    worker = Worker(settings.dsn or "", pipelines(Probe.from_environment().hit), settings=settings)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, worker.stop)
    await worker.run()


if __name__ == "__main__":
    uvloop.run(main())
