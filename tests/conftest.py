"""Fixtures that every test may use; the servers behind them are described in ``_servers``."""

from __future__ import annotations

import gc
import itertools
import logging
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import certifi
import pytest
import structlog
from hypothesis import HealthCheck
from hypothesis import settings as examples

from forebay import log
from forebay.embedded import EmbeddedPostgres
from forebay.identity import secrets
from tests import _pooler, _servers
from tests._passwords import QUICK

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager
    from typing import TypeAlias

    from argon2 import PasswordHasher

    NewDatabase: TypeAlias = Callable[[], AbstractContextManager[str]]

# Nothing is asserted about time: a busy machine, or tables of letters that are made at first use, are no failure.
examples.register_profile("forebay", deadline=None, suppress_health_check=[HealthCheck.too_slow])
examples.load_profile("forebay")

_TESTS = Path(__file__).parent
_run = pytest.StashKey[_servers.Run]()
_folder = pytest.StashKey[Path]()


class CrashServer(Protocol):
    """Makes a started server of the test's own, with production settings unless told otherwise."""

    def __call__(self, *, bin_dir: Path | None = None, **settings: str) -> EmbeddedPostgres: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pooler", action="store_true", help="reach the database through PgBouncer in transaction mode")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.config.option.pooler and item.get_closest_marker("direct"):
        pytest.skip("needs sessions of its own")


def pytest_configure(config: pytest.Config) -> None:
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is not None:
        config.stash[_folder] = Path(given["run_folder"])
    elif not config.option.collectonly:
        config.stash[_run] = run = _servers.Run()
        config.stash[_folder] = run.folder


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors, because tests also wait, such as for a lease that must expire. Not many more,
    because each of them collects all tests and starts servers of its own."""
    return min(len(os.sched_getaffinity(0)), 5) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist where the servers of this run live."""
    node.workerinput["run_folder"] = str(node.config.stash[_folder])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays until the end. The garbage collector does not look at it again and again,
    which was a fifth of the CPU time of the test processes."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests come first, so that none of them begins when the others have ended. pytest-xdist gives each of
    its workers a part of the list, and others take tests from the end of it: those of a browser stay in one process,
    and share the sites that they look at."""
    order = {"web": 0, "crash": 1}
    items.sort(key=lambda item: order.get(item.path.relative_to(_TESTS).parts[0], 2))


def pytest_unconfigure(config: pytest.Config) -> None:
    run = config.stash.get(_run, None)
    if run is not None:
        run.end()


@pytest.fixture(autouse=True)
def _logs_as_in_a_program() -> Iterator[None]:
    """Each test begins as a program that has configured no logs; `capture_logs`, too, leaves structlog configured."""
    yield
    if structlog.is_configured():
        structlog.reset_defaults()
    log._unapplied, log._level = None, logging.INFO  # pyright: ignore[reportPrivateUsage]


@pytest.fixture(scope="session", autouse=True)
def full_passwords() -> Iterator[PasswordHasher]:
    """Passwords are hashed with little time and memory. Lends the hasher of production."""
    with pytest.MonkeyPatch.context() as patch:
        full = secrets._passwords  # pyright: ignore[reportPrivateUsage]
        patch.setattr(secrets, "_passwords", QUICK)
        yield full


@pytest.fixture(scope="session", autouse=True)
def public_certificates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One public certificate instead of all, which take 50 ms of CPU each time they are read. Lends the file of all."""
    everyone = certifi.where()
    first, end, _ = Path(everyone).read_text("utf-8").partition("-----END CERTIFICATE-----\n")
    bundle = tmp_path_factory.mktemp("certificates") / "public.pem"
    bundle.write_text(first + end, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certifi, "where", lambda: str(bundle))
        patch.setenv("SSL_CERT_FILE", str(bundle))
        patch.setenv("SSL_CERT_DIR", str(bundle.parent))
        yield everyone


@pytest.fixture(scope="session")
def run_folder(pytestconfig: pytest.Config) -> Path:
    """The folder that is cleared, with every server in it, when the run ends."""
    return pytestconfig.stash[_folder]


@pytest.fixture(scope="session")
def worker() -> str:
    """The name of this test process within the run."""
    return os.environ.get("PYTEST_XDIST_WORKER", "main")


@pytest.fixture(scope="session")
def server(run_folder: Path, worker: str) -> Iterator[_servers.Server]:
    """The shared server of this run."""
    with _servers.Server.shared(_servers.shared_folder(run_folder) / "usual", worker, _servers.OTHER) as server:
        yield server


@pytest.fixture(scope="session")
def server_15(run_folder: Path, worker: str) -> Iterator[_servers.Server]:
    """The shared server of this run on Debian's PostgreSQL 15."""
    if not _servers.DEBIAN_15.exists():
        pytest.skip(f"no PostgreSQL 15 in {_servers.DEBIAN_15}")
    with _servers.Server.shared(_servers.shared_folder(run_folder) / "15", worker, _servers.DEBIAN_15) as server:
        yield server


@pytest.fixture(scope="session")
def _template(server: _servers.Server) -> str:
    return _migrated(server)


@pytest.fixture(scope="session")
def _template_15(server_15: _servers.Server) -> str:
    return _migrated(server_15)


@pytest.fixture(scope="session")
def new_database(server: _servers.Server, _template: str, way: Callable[[str], str]) -> NewDatabase:
    """Makes fresh databases with the current schema, for fixtures that several tests share."""

    @contextmanager
    def make() -> Iterator[str]:
        with server.database(template=_template) as dsn:
            yield way(dsn)

    return make


@pytest.fixture(scope="session")
def way(
    server: _servers.Server, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], str]]:
    """How forebay reaches a database of the server: with `--pooler`, through a pooler in transaction mode."""
    if not pytestconfig.option.pooler:
        yield lambda dsn: dsn
        return
    folder = tmp_path_factory.mktemp("pooler")
    with _pooler.pgbouncer(server.embedded.dsn, folder, size=20) as pooler:
        _pooler.wait_until_it_answers(pooler)
        port = urlsplit(pooler).port
        assert port is not None
        with _pooler.forebay_behind(pooler, server.embedded.dsn):
            yield lambda dsn: _pooler.through(dsn, port)


@pytest.fixture
def dsn(new_database: NewDatabase) -> Iterator[str]:
    """A fresh database with the current schema."""
    with new_database() as dsn:
        yield dsn


@pytest.fixture
def bare_dsn(server: _servers.Server) -> Iterator[str]:
    """A fresh database without our schema."""
    with server.database() as dsn:
        yield dsn


@pytest.fixture
def pg15_dsn(server_15: _servers.Server, _template_15: str) -> Iterator[str]:
    """A fresh database with the current schema on PostgreSQL 15."""
    with server_15.database(template=_template_15) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def copy_cluster(run_folder: Path) -> Callable[[Path], None]:
    """Makes the folder of a stopped embedded server that has the current schema."""
    return lambda folder: _servers.copy_cluster(run_folder, folder, _migrate_all)


@pytest.fixture
def crash_server(
    run_folder: Path, worker: str, copy_cluster: Callable[[Path], None], request: pytest.FixtureRequest
) -> Iterator[CrashServer]:
    """A factory of durable servers that the test may kill; with the current schema, unless they have binaries of
    their own."""
    made: list[EmbeddedPostgres] = []
    numbers = itertools.count()

    def make(*, bin_dir: Path | None = None, **settings: str) -> EmbeddedPostgres:
        name = f"private-{worker}-{abs(hash(request.node.nodeid))}-{next(numbers)}"
        folder = _servers.shared_folder(run_folder).resolve() / name  # in memory, which outlives all processes as well
        if bin_dir is None:
            copy_cluster(folder)
        embedded = EmbeddedPostgres(folder, bin_dir=bin_dir, settings={"shared_buffers": "32MB"} | settings)
        made.append(embedded)
        embedded.start()
        return embedded

    yield make
    for embedded in made:
        _servers.discard(embedded)


def _migrated(server: _servers.Server) -> str:
    return server.migrated_template(_migrate_all)


async def _migrate_all(dsn: str) -> None:
    from forebay.db.migrate import migrate

    await migrate(dsn, service=True)
