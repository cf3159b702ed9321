"""The providers in `forebay doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forebay.errors import ConfigError
from forebay.hooks import Finding
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.services.products import load_providers

if TYPE_CHECKING:
    from forebay.settings import Settings


async def check(settings: Settings) -> list[Finding]:
    """Whether their declarations are valid and their secrets set; no finding when none are configured."""
    return list(_findings(settings))


def _findings(settings: Settings) -> Iterator[Finding]:
    folder = settings.of(SheetsSettings).providers
    if folder is None:
        return
    try:
        providers = load_providers(folder)
    except ConfigError as error:
        yield Finding("FAIL", "providers", str(error), "fix the declaration: see docs/howto/providers.md")
        return
    names = ", ".join(provider.name for provider in providers) or "none"
    yield Finding("OK", "providers", f"{names} from {folder}")
    for provider in providers:
        if missing := provider.missing_secrets():
            text = f"{provider.name} cannot be queried without its secrets"
            yield Finding("WARN", "providers", text, f"set {' and '.join(missing)} for the workers")
