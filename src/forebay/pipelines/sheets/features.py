"""Which features of sheets are enabled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.pipelines.sheets.settings import SheetsSettings

if TYPE_CHECKING:
    from forebay.settings import Settings


def features(settings: Settings) -> dict[str, bool]:
    return {"sheets": settings.of(SheetsSettings).enabled}
