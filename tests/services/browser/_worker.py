"""A worker that captures a page without end, and says so; to be killed."""

from __future__ import annotations

import asyncio
import sys

from forebay import log
from forebay.services.browser import open_browser
from forebay.services.egress import open_egress
from forebay.settings import Settings
from tests.services.browser.conftest import World


async def main(url: str) -> None:
    log.configure()  # what is printed is for the test
    settings = Settings(_env_file=None, egress_allow_networks="127.0.0.0/8")  # type: ignore[call-arg]
    async with open_egress(settings, World()) as egress, open_browser(settings, egress) as browser:
        await browser.check()
        sys.stdout.write("started\n")
        sys.stdout.flush()
        await browser.capture(url, timeout=600)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
