"""The packages that only sheets need, in `forebay doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.cli._doctor_files import of_extra

if TYPE_CHECKING:
    from forebay.hooks import Finding
    from forebay.settings import Settings


async def check(_: Settings) -> list[Finding]:
    why = "only tables in encodings other than Unicode and matching by title need it"
    return [of_extra("sheets", ("chardet", "rapidfuzz"), why)]
