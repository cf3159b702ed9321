"""The senders of webhooks: how each one signs, and what its deliveries announce."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from forebay.pipelines.attachments import lark_events
from forebay.pipelines.attachments.declared_sources import load_declared
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.webhooks.lark import LARK
from forebay.webhooks.signatures import WebhookSource, secrets_of

if TYPE_CHECKING:
    from forebay.pipelines.attachments.db import Announced
    from forebay.pipelines.attachments.source_spec import DeclaredSource
    from forebay.settings import Settings
    from forebay.webhooks.signatures import Delivery

LARK_NAME = "lark"
MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Announcement:
    """The event of a delivery, and what it announces; None: nothing that concerns us."""

    event: str | None
    announced: Announced | None


@dataclass(frozen=True, slots=True)
class Sender:
    """A sender and its webhook."""

    name: str
    kind: Literal["lark", "declared"]
    owner: str
    webhook: WebhookSource
    read: Callable[[Delivery, Mapping[str, str]], Announcement]
    rate: float | None
    per_day: int | None
    app: str  # whose quota it is
    missing: str | None = None  # what has to be set before files can be fetched

    @property
    def path(self) -> str:
        return f"/api/attachments/hooks/{self.name}"

    @property
    def problem(self) -> str | None:
        """What has to be set."""
        if not secrets_of(self.webhook):
            return "its secret is not set"
        return self.missing if self.owner else "its owner is not set"


def senders(settings: Settings) -> dict[str, Sender]:
    """All configured senders by name.

    Raises: ConfigError for an invalid declaration, or a missing extra.
    """
    own = settings.of(AttachmentsSettings)
    found = {LARK_NAME: _lark(own)} if own.has_lark else {}
    for declared in load_declared(own.sources):
        name = declared.name
        found[name] = Sender(
            name,
            "declared",
            declared.owner,
            declared.webhook(MAX_BYTES),
            partial(_read_declared, declared),
            declared.limits.rate_per_s,
            declared.limits.per_day,
            declared.name,
            declared.missing(),
        )
    return found


def _read_declared(declared: DeclaredSource, delivery: Delivery, headers: Mapping[str, str]) -> Announcement:
    return Announcement(*declared.read(delivery, headers))


def _lark(own: AttachmentsSettings) -> Sender:
    keys = [own.lark_encrypt_key, own.lark_old_encrypt_key]
    missing = None if own.lark_app_secret.get_secret_value() else "FOREBAY_ATTACHMENTS_LARK_APP_SECRET is not set"
    return Sender(
        LARK_NAME,
        "lark",
        own.lark_owner,
        WebhookSource(LARK_NAME, LARK, keys, max_bytes=MAX_BYTES),
        lambda delivery, _headers: Announcement(*lark_events.read_event(delivery.body)),
        own.lark_rate,
        own.lark_daily_quota,
        own.lark_app_id,
        missing,
    )
