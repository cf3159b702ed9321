"""`forebay api`: serve the API."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from forebay import open_files, telemetry
from forebay.cli import _data_dir
from forebay.cli._common import find_dsn, load_own_settings, place_of, with_logins
from forebay.cli._garbage import collect_garbage_rarely
from forebay.cli._group import WholeNumber
from forebay.cli._pipelines import log_failures
from forebay.db import migrate
from forebay.db.pool import as_forebay_errors, connected
from forebay.db.role_pool import ADMIN, API
from forebay.engine.declare.loading import load_pipelines
from forebay.engine.supervise.supervisor import Supervisor, watch_parent
from forebay.errors import DatabaseUnavailable, ForebayError, InvalidField
from forebay.identity.logins import SETTINGS, account_of, login_url
from forebay.log import get_logger

if TYPE_CHECKING:
    import uvicorn

    from forebay.settings import Settings

log = get_logger("cli")

_GRACE = 10


@click.command()
@click.option("--host", help="Address to listen on.  [FOREBAY_API_HOST]")
@click.option("--port", type=WholeNumber(0, 65535), help="Port to listen on; 0: a free one.  [FOREBAY_API_PORT]")
@click.option("--pipelines", help="Modules with pipelines, comma-separated.  [FOREBAY_PIPELINES]")
def api(host: str | None, port: int | None, pipelines: str | None) -> None:
    """Serve the API.

    It first migrates the schema, if the account of FOREBAY_DATABASE_URL owns it.
    Ctrl-C or SIGTERM stops it.
    """
    settings = load_own_settings(api_host=host, api_port=port, pipelines=pipelines)
    watch_parent(_GRACE + 5)
    settings = with_logins(settings)
    dsn = login_url(settings, API, "") or find_dsn(settings, running=False)
    with telemetry.running(settings, "api"):
        sys.exit(_serve(settings, dsn))


def _serve(settings: Settings, dsn: str) -> int:
    require()
    open_files.raise_limit()
    import uvicorn  # noqa: PLC0415 - only this command needs the extra

    from forebay.api.app import create_app  # noqa: PLC0415
    from forebay.cli.doctor import examine  # noqa: PLC0415

    asyncio.run(_check(dsn, settings))
    pipelines = load_pipelines(settings.pipeline_modules)
    app = create_app(dsn, settings, pipelines, examine=partial(examine, settings, _examined(settings)))
    log_failures()
    config = server_config(app, settings, loop="uvloop")
    listener = listen(settings.api_host, settings.api_port)
    log.info("api_started", address=address(listener), database=place_of(dsn))
    # At its end uvicorn raises the signal that stopped it again, which must not interrupt the cleanup.
    signal.signal(signal.SIGTERM, _end)
    collect_garbage_rarely()
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        log.info("api_stopped")
    return 0


def _examined(settings: Settings) -> str | None:
    """The database that the doctor looks at: by the account that owns it, else by that of administrators.

    With the API's own account, it would be rejected, and see no work of owners.
    """
    of_admins = login_url(settings, ADMIN, "") or None
    try:
        dsn = find_dsn(settings, running=False)
    except DatabaseUnavailable:
        return of_admins
    return of_admins or dsn if dsn == login_url(settings, API, "") else dsn


def server_config(app: Any, settings: Settings, **more: Any) -> uvicorn.Config:
    """The uvicorn configuration, with timeouts and a limit on connections."""
    import uvicorn  # noqa: PLC0415 - only this command needs the extra

    from forebay.api.middleware.connections import ConnectionLimits, protocol_for  # noqa: PLC0415

    return uvicorn.Config(
        app,
        http=protocol_for(ConnectionLimits.of(settings)),
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE,
        server_header=False,
        proxy_headers=False,  # done by forebay.api.middleware.forwarded
        **more,
    )


def _end(_number: int, _frame: object) -> None:
    sys.exit(0)


async def _check(dsn: str, settings: Settings) -> None:
    from forebay.api.metrics.process import Meter  # noqa: PLC0415 - only this command needs the extra
    from forebay.api.role_pools import open_role_pools  # noqa: PLC0415

    async with as_forebay_errors():
        await migrate.ensure_service(dsn)
    async with open_role_pools(dsn, settings, Meter()):
        pass  # report missing rights before the server starts
    await warn_of_accounts(dsn, settings)


async def warn_of_accounts(dsn: str, settings: Settings) -> None:
    """Log each account of the API, including that of kickoff, that has more rights than its role needs."""
    told = set[str]()
    for role, setting in SETTINGS.items():
        async with connected(login_url(settings, role, dsn), "forebay api") as conn:
            account = await account_of(conn, role)
        if account.excess and account.name not in told:
            told.add(account.name)
            log.warning(
                "api_account_too_powerful",
                account=account.name,
                because=account.excess,
                setting=f"FOREBAY_{setting.upper()}",
                see="forebay doctor",
            )


def listen(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises: InvalidField that names the setting.
    """
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as undo:
            listener = undo.enter_context(socket.socket(family, socket.SOCK_STREAM))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            listener.listen(2048)
            undo.pop_all()
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise InvalidField("FOREBAY_API_PORT", f"{host}:{port} cannot be used: {why}") from error
    return listener


def address(listener: socket.socket) -> str:
    """The URL of a socket."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def is_installed() -> bool:
    """Whether the extra is installed."""
    return all(find_spec(name) for name in ("argon2", "fastapi", "uvicorn"))


def require() -> None:
    """Raises: ForebayError with the command that installs the extra."""
    if not is_installed():
        raise ForebayError("the API is not installed: pip install 'forebay[api]'")


def base_url(settings: Settings, port: int | None = None) -> str:
    """The URL of the API on this machine: that of `forebay up`, unless a port is set."""
    if port is None and "api_port" not in settings.model_fields_set and settings.dsn is None:
        found = _data_dir.address(settings.data_dir)
        if found is not None:
            return found
    host = "127.0.0.1" if settings.api_host in {"0.0.0.0", "::"} else settings.api_host  # noqa: S104 - compared, not bound
    return f"http://{f'[{host}]' if ':' in host else host}:{port or settings.api_port}"


def supervisor_of(settings: Settings, dsn: str, port: int) -> Supervisor:
    """A supervisor of one API process; the caller stops it."""
    argv = [sys.executable, "-m", "forebay", "api"]
    env = os.environ | {
        "FOREBAY_DATABASE_URL": login_url(settings, API, dsn),  # the API does not need the owner of the schema
        **{f"FOREBAY_{name.upper()}": login_url(settings, role, dsn) for role, name in SETTINGS.items()},
        "FOREBAY_PIPELINES": settings.pipelines,
        "FOREBAY_LOG_LEVEL": settings.log_level,
        "FOREBAY_DATA_DIR": str(settings.data_dir.absolute()),
        "FOREBAY_API_HOST": settings.api_host,
        "FOREBAY_API_PORT": str(port),
        "PYTHONUNBUFFERED": "1",
    }
    return Supervisor(argv, 1, grace=_GRACE + 5, env=env, handle_signals=False, what="api_process")
