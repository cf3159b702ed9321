"""One production worker process with the pipelines under test; every setting at its default."""

import uvloop

from bench.noop import pipelines
from bench.probe import Probe
from forebay.cli.worker import work_here
from forebay.log import configure
from forebay.settings import Settings

if __name__ == "__main__":
    settings = Settings()
    configure(settings.log_level)
    probe = Probe.from_environment()
    raise SystemExit(uvloop.run(work_here(settings, settings.dsn or "", pipelines(probe.hit))))
