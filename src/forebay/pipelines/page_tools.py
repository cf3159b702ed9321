"""The tools with which a step fetches pages: limited processes, the browser of its worker, and its partial file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay import resources
from forebay.engine.declare.limited import limited
from forebay.services import pages, pdf

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from forebay.engine.declare.context import Context
    from forebay.services.browser import Browser
    from forebay.services.download.partial_file import PartialFile
    from forebay.services.egress import Http
    from forebay.services.pages import PageFacts
    from forebay.services.pdf import PdfFacts

READ_PAGE = limited(
    pages.read_page, memory_mb=768, timeout=60, needs=("selectolax", "trafilatura", "htmldate", "webencodings")
)
READ_TEXT = limited(pages.read_text, memory_mb=256, timeout=30, needs=("webencodings",))
READ_PDF = limited(pdf.first_page, memory_mb=768, timeout=60, needs=("PIL", "pypdfium2"))


class StepPageTools:
    """The tools of one attempt."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    async def http(self) -> Http:
        return await self._ctx.get(resources.http)

    async def browser(self) -> Browser:
        return await self._ctx.get(resources.browser)

    async def read_page(
        self, content: bytes, url: str, charset: str | None, status: int, headers: Mapping[str, str] | None = None
    ) -> PageFacts:
        return await self._ctx.call(READ_PAGE, content, url, charset, status, headers)

    async def read_text(self, content: bytes, charset: str | None) -> str:
        return await self._ctx.call(READ_TEXT, content, charset)

    async def read_pdf(self, path: Path) -> PdfFacts:
        return await self._ctx.call(READ_PDF, path)

    def partial_file(self) -> AbstractAsyncContextManager[PartialFile]:
        return resources.partial_file(self._ctx)

    def progress(self, note: str, done: int | None = None, total: int | None = None) -> None:
        self._ctx.progress(note=note, bytes_done=done, bytes_total=total)
