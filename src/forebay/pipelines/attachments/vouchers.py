"""Vouchers: the files of an instance, listed once all of them are settled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forebay import resources
from forebay.engine.declare.limited import limited
from forebay.pipelines.attachments import db, voucher_pdf
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.pipelines.attachments.voucher_pdf import VoucherFile, VoucherText

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import asyncpg

    from forebay.engine.declare.context import Context
    from forebay.pipelines.attachments.db import Work
    from forebay.types import Write

WRITE_PDF = limited(voucher_pdf.write_pdf, memory_mb=512, timeout=120, needs=voucher_pdf.NEEDS)
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class MadeVoucher:
    """A voucher, or why there is none, with what has to be written."""

    state: str
    file_id: int | None
    failed: int
    writes: Sequence[Write]


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    status: str
    size: int | None
    sha256: str | None
    about: str

    def text(self) -> VoucherFile:
        size = "" if self.size is None else f"{self.size:,}"
        return VoucherFile(self.name, self.status, size, self.sha256 or "", self.about)


async def make(ctx: Context, work: Work, left: Mapping[int, str]) -> MadeVoucher:
    """Make the voucher of an instance; `left`: files that have failed without being noted.

    Raises: ConfigError if a package is missing.
    """
    pool = await ctx.get(resources.database)
    own = (await ctx.get(resources.settings)).of(AttachmentsSettings)
    lines = [_line(row) for row in await db.voucher_files(pool, work.id)]
    failed = sum(line.status != "DOWNLOADED" for line in lines)
    settled = [db.fail_left(work.id, dict(left))] if left else []
    if not lines:
        return MadeVoucher("NONE", None, 0, [*settled, db.write_voucher(work.id, "NONE", None, None)])
    if failed and not own.voucher_partial:
        problem = f"{failed} of {len(lines)} files have failed: retry them, or set FOREBAY_ATTACHMENTS_VOUCHER_PARTIAL"
        written = db.write_voucher(work.id, "WITHHELD", None, problem)
        return MadeVoucher("WITHHELD", None, failed, [*settled, written])
    text = _text(work, [line if line.status == "DOWNLOADED" else replace(line, status="FAILED") for line in lines])
    data = await ctx.call(WRITE_PDF, text, own.font)
    blobs = await ctx.get(resources.blobs)
    stored = await blobs.put(data, owner_id=ctx.owner_id, name=_name(work), media_type="application/pdf")
    state = "PARTIAL" if failed else "READY"
    written = db.write_voucher(work.id, state, stored.file_id, None)
    return MadeVoucher(state, stored.file_id, failed, [*settled, stored.write(), written])


def _line(row: asyncpg.Record) -> _Line:
    if row["status"] == "DOWNLOADED":
        about = f"{row['media_type']}, {row['downloaded_at']:%Y-%m-%d %H:%M:%S} UTC"
    else:
        about = row["error"] or ""
    return _Line(row["name"], row["status"], row["size"], row["sha256"], about)


def _text(work: Work, lines: Sequence[_Line]) -> VoucherText:
    failed = sum(line.status != "DOWNLOADED" for line in lines)
    state = f", {work.state}" if work.state else ""
    return VoucherText(
        title=work.title or f"{work.source} {work.key}",
        subtitle=f"{work.source} {work.key}{state}, received {work.created_at:%Y-%m-%d %H:%M:%S} UTC",
        note=f"{failed} of {len(lines)} files could not be downloaded." if failed else "",
        facts=[(fact["name"], fact["value"]) for fact in work.facts],
        files=[line.text() for line in lines],
    )


def _name(work: Work) -> str:
    return f"voucher {(work.title or work.source)[:_LONGEST_NAME]} {work.key[:40]}.pdf"
