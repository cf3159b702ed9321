"""`forebay attachments`: instances and their files, retries, and the state of downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from forebay.cli import _show as show
from forebay.cli._common import json_option, load_settings, run
from forebay.cli._group import Group
from forebay.cli.database import open_database
from forebay.errors import NotFoundError
from forebay.pipelines.attachments import db, worker_status
from forebay.pipelines.attachments.models import AttachmentFile, InstanceDetail, detail_of, file_of, instance_of
from forebay.pipelines.attachments.settings import AttachmentsSettings

if TYPE_CHECKING:
    from pydantic import BaseModel

    from forebay.pipelines.attachments.models import AttachmentStatus, Instance

_SHOWN = 50


@click.group(cls=Group)
def attachments() -> None:
    """List received files, retry failed ones."""


@attachments.command("list")
@click.option("--failed", is_flag=True, help="Only instances with failed files.")
@click.option("--pending", is_flag=True, help="Only instances with files that are not downloaded yet.")
@json_option
def list_(failed: bool, pending: bool, as_json: bool) -> None:
    """List the newest instances: approvals, releases and so on."""
    found = run(_list("FAILED" if failed else "PENDING" if pending else None))
    if as_json:
        click.echo(show.dump([_plain(each) for each in found]))
        return
    made = show.table(">id", "*source", "*title", "state", ">pending", ">downloaded", ">failed", "voucher")
    show.print_table(show.fill(made, map(_cells, found)))


def _cells(each: Instance) -> tuple[str, ...]:
    counts = (each.files.pending, each.files.downloaded, each.files.failed)
    return (
        each.id,
        each.source,
        each.title or each.key,
        each.state or show.NOTHING,
        *map(show.number, counts),
        each.voucher,
    )


async def _list(status: str | None) -> list[Instance]:
    async with open_database(__name__) as conn:
        return [instance_of(row) for row in await db.instances(conn, None, _SHOWN, None, status)]


@attachments.command("show")
@click.argument("instance", type=int)
@json_option
def show_(instance: int, as_json: bool) -> None:
    """Show an instance with its files, and why it has no voucher yet."""
    found = run(_show(instance))
    if as_json:
        click.echo(show.dump(_plain(found)))
        return
    click.echo(f"{found.source} {found.key}: {found.title or show.NOTHING}, {found.state or show.NOTHING}")
    click.echo(f"voucher {found.voucher}" + (f": {found.why}" if found.why else f", file {found.voucher_id}"))
    made = show.table(">id", "*name", "status", ">bytes", ">attempts", "*error")
    show.print_table(show.fill(made, map(_file_cells, found.all_files)))


def _file_cells(each: AttachmentFile) -> tuple[str, ...]:
    size = show.NOTHING if each.size is None else show.number(each.size)
    return (each.id, each.name, each.status, size, show.number(each.attempts), each.error or "")


async def _show(instance_id: int) -> InstanceDetail:
    async with open_database(__name__) as conn:
        row = await db.instance(conn, instance_id)
        if row is None:
            raise _missing(instance_id)
        return detail_of(row, [file_of(each) for each in await db.files_of(conn, instance_id)], [], None)


@attachments.command()
@click.argument("instance", type=int, required=False)
@click.option("--all", "every", is_flag=True, help="All failed files.")
def retry(instance: int | None, every: bool) -> None:
    """Download the failed files of an instance again."""
    if (instance is None) != every:
        raise click.UsageError("give the id of an instance, or --all")
    jobs = run(_retry(instance))
    told = f" by jobs {', '.join(map(str, dict.fromkeys(jobs)))}" if jobs else ""
    click.echo(f"{len(jobs)} files are downloaded again{told}")


async def _retry(instance_id: int | None) -> list[int]:
    async with open_database(__name__) as conn, conn.transaction():
        if instance_id is not None and await db.instance(conn, instance_id) is None:
            raise _missing(instance_id)
        return await db.retry(conn, instance_id=instance_id)


@attachments.command()
@json_option
def status(as_json: bool) -> None:
    """Show whether files are being downloaded."""
    found = run(_status())
    if as_json:
        click.echo(show.dump(_plain(found)))
        return
    for name, value in _plain(found).items():
        click.echo(f"{name:20} {show.NOTHING if value is None else value}")


async def _status() -> AttachmentStatus:
    async with open_database(__name__) as conn:
        work = await worker_status.read(conn, None)
        workers = await worker_status.workers(conn)
    return worker_status.judged(work, workers, load_settings().of(AttachmentsSettings).stuck_s)


def _plain(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json")


def _missing(instance_id: int) -> NotFoundError:
    return NotFoundError("instance", f"there is no instance {instance_id}")
