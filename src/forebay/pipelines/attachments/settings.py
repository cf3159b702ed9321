"""The settings of attachments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from forebay.base_settings import OtherName, PackageSettings, Seconds

_NONE = SecretStr("")


class AttachmentsSettings(PackageSettings):
    """Each field is the variable FOREBAY_ATTACHMENTS_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="FOREBAY_ATTACHMENTS_")
    other_names: ClassVar = {
        "FOREBAY_ATTACHMENT_DOWNLOAD_MAX_RETRIES": OtherName("max_retries"),
        "FOREBAY_ATTACHMENT_DOWNLOAD_TIMEOUT": OtherName("timeout_s"),
    }

    lark_app_id: str = Field(default="", description="App ID of the Lark or Feishu app; empty: no approvals")
    lark_app_secret: SecretStr = Field(default=_NONE, description="App Secret of the app")
    lark_encrypt_key: SecretStr = Field(default=_NONE, description="Encrypt Key of the app, which signs its events")
    lark_old_encrypt_key: SecretStr = Field(
        default=_NONE, description="the Encrypt Key before it, while it is replaced"
    )
    lark_url: str = Field(
        default="https://open.larksuite.com", description="the API of Lark; that of Feishu is https://open.feishu.cn"
    )
    lark_owner: str = Field(default="", description="owner of the approvals and their files")
    lark_rate: Annotated[float, Field(gt=0, le=1000)] = Field(
        default=4.0,
        description="requests for files per second, by all workers; Lark allows 5, and the network may bunch them",
    )
    lark_daily_quota: Annotated[int, Field(ge=1)] = Field(
        default=10_000, description="requests for files in any 24 hours, by all workers"
    )
    sources: Path | None = Field(
        default=None, description="folder with declarations of other senders, beside those that forebay has"
    )
    max_retries: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=3, description="attempts to download a file before its status is FAILED"
    )
    base_backoff_s: Seconds = Field(default=1.0, description="delay after the first failed attempt; it doubles")
    max_backoff_s: Seconds = Field(default=8.0, description="longest delay between two attempts")
    timeout_s: Annotated[float, Field(gt=0, le=86_400)] = Field(
        default=30.0, description="seconds in which an attempt must have downloaded a file; the next one continues it"
    )
    max_bytes: Annotated[int, Field(ge=1024, le=1 << 44)] = Field(
        default=256 << 20, description="maximum size of a file"
    )
    voucher_partial: bool = Field(
        default=True, description="make a voucher also if files have failed; false: it is withheld until all are there"
    )
    font: Path | None = Field(
        default=None,
        description="TrueType font of vouchers; unset: Noto Sans SC, where the package zhplot is installed",
    )
    smtp_host: str = Field(default="", description="SMTP server for alerts about failed files; empty: no alerts")
    smtp_port: Annotated[int, Field(ge=1, le=65535)] = Field(default=587, description="its port")
    smtp_security: Literal["starttls", "tls", "none"] = Field(default="starttls", description="how it is encrypted")
    smtp_user: str = Field(default="", description="user name at the SMTP server; empty: none")
    smtp_password: SecretStr = Field(default=_NONE, description="password at the SMTP server")
    alert_from: str = Field(default="", description="sender address of alerts")
    alert_to: str = Field(default="", description="comma-separated recipients of alerts")
    keep_days: Annotated[float, Field(ge=0)] = Field(
        default=0, description="files and vouchers are deleted after this many days; 0: never"
    )
    owner_max_bytes: Annotated[int, Field(ge=0)] = Field(
        default=0, description="the oldest files of an owner who keeps more are deleted; 0: no maximum"
    )
    deliveries_days: Annotated[float, Field(gt=0)] = Field(
        default=30, description="the list of requests of senders goes back this many days"
    )
    stuck_s: Seconds = Field(
        default=300.0, description="downloads count as stuck if files are pending and none was tried for so long"
    )

    @property
    def has_lark(self) -> bool:
        return bool(self.lark_app_id and self.lark_owner)

    @property
    def has_alerts(self) -> bool:
        return bool(self.smtp_host and self.alert_from and self.alert_to)
