"""Which features of attachments are enabled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.errors import ConfigError
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.pipelines.attachments.webhook_sources import senders

if TYPE_CHECKING:
    from forebay.settings import Settings


def features(settings: Settings) -> dict[str, bool]:
    """`attachments`: a sender is configured; `alerts`: failed files are reported by e-mail."""
    try:
        configured = bool(senders(settings))
    except ConfigError:  # `forebay doctor` says what is wrong
        configured = True
    return {"attachments": configured, "alerts": settings.of(AttachmentsSettings).has_alerts}
