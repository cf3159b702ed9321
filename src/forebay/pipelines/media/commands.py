"""`forebay media`: add, list, show and retry shares."""

from __future__ import annotations

import asyncio

import click

from forebay.cli.database import open_database
from forebay.pipelines.media import db


@click.group()
def media() -> None:
    """Download videos, sound and pictures, and show their state."""


@media.command()
@click.argument("share_id", type=int)
def retry(share_id: int) -> None:
    """Work on a share again."""
    asyncio.run(_retry(share_id))


async def _retry(share_id: int) -> None:
    async with open_database("media") as conn:
        click.echo(f"job {await db.retry(conn, share_id)}")
