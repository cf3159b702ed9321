"""Attachments in `forebay doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from forebay.errors import ConfigError
from forebay.hooks import Finding
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.pipelines.attachments.voucher_pdf import packaged_font
from forebay.pipelines.attachments.webhook_sources import senders

if TYPE_CHECKING:
    from forebay.settings import Settings

_ABOUT = "attachments"


async def check(settings: Settings) -> list[Finding]:
    """Whether the senders are set up, and vouchers can be made; no finding when there are none."""
    return list(_findings(settings))


def _findings(settings: Settings) -> Iterator[Finding]:
    own = settings.of(AttachmentsSettings)
    try:
        known = senders(settings)
    except ConfigError as error:
        yield Finding("FAIL", _ABOUT, str(error), "fix the declaration: see docs/howto/attachments.md")
        return
    if not known:
        return
    yield Finding("OK", _ABOUT, f"webhooks of {', '.join(known)}")
    for sender in known.values():
        if sender.problem is not None:
            yield Finding(
                "WARN", _ABOUT, f"{sender.name} cannot be used: {sender.problem}", "see docs/howto/attachments.md"
            )
    if find_spec("reportlab") is None:
        yield Finding("WARN", _ABOUT, "no voucher can be made", "pip install 'forebay[attachments]'")
    elif own.font is None and packaged_font() is None:
        text = "vouchers embed no font: readers without a Chinese font do not see Chinese text"
        yield Finding("WARN", _ABOUT, text, "pip install --no-deps zhplot==1.0.0, or set FOREBAY_ATTACHMENTS_FONT")
    if bool(own.smtp_host) != own.has_alerts:
        text = "no alerts are sent: sender or recipients are missing"
        yield Finding("WARN", _ABOUT, text, "set FOREBAY_ATTACHMENTS_ALERT_FROM and FOREBAY_ATTACHMENTS_ALERT_TO")
