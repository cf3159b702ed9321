"""E-mails about files that could not be downloaded."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate
from typing import TYPE_CHECKING

from forebay.errors import ConfigError, TransientError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from forebay.pipelines.attachments.db import Work
    from forebay.pipelines.attachments.settings import AttachmentsSettings

OFF = "no SMTP server is configured: see FOREBAY_ATTACHMENTS_SMTP_HOST"
_TIMEOUT_S = 30.0
_MOST = 50


def message(own: AttachmentsSettings, work: Work, failed: Sequence[asyncpg.Record], key: str) -> EmailMessage:
    """The e-mail; a repeated one has the same Message-ID, by which mail programs recognise it."""
    title = " ".join(f"{work.title or work.source} {work.key}".split())
    mail = EmailMessage()
    mail["From"], mail["To"] = own.alert_from, own.alert_to
    mail["Subject"] = f"{len(failed)} files of {title} could not be downloaded"[:200]
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{key}@{own.alert_from.rpartition('@')[2] or 'forebay'}>"
    lines = [f"- {row['name']}: {row['error']}" for row in failed[:_MOST]]
    more = [f"… and {len(failed) - _MOST} more"] if len(failed) > _MOST else []
    retry = f"Download them again: forebay attachments retry {work.id}"
    mail.set_content("\n".join([f"Of {title}, these files could not be downloaded:", "", *lines, *more, "", retry, ""]))
    return mail


async def send(own: AttachmentsSettings, mail: EmailMessage) -> None:
    """Raises: TransientError; ConfigError when the server rejects the user or the addresses."""
    try:
        await asyncio.to_thread(_send, own, mail)
    except smtplib.SMTPAuthenticationError:
        raise ConfigError("the SMTP server rejects FOREBAY_ATTACHMENTS_SMTP_USER or its password") from None
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused, smtplib.SMTPNotSupportedError) as error:
        raise ConfigError(f"the SMTP server rejects the alert: {_reason(error)}") from None
    except (smtplib.SMTPException, OSError) as error:
        raise TransientError(f"the alert could not be sent: {_reason(error)}") from None


def _send(own: AttachmentsSettings, mail: EmailMessage) -> None:
    secure = own.smtp_security
    if secure == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(
            own.smtp_host, own.smtp_port, timeout=_TIMEOUT_S, context=ssl.create_default_context()
        )
    else:
        server = smtplib.SMTP(own.smtp_host, own.smtp_port, timeout=_TIMEOUT_S)
    with server:
        if secure == "starttls":
            server.starttls(context=ssl.create_default_context())
        if own.smtp_user:
            server.login(own.smtp_user, own.smtp_password.get_secret_value())
        server.send_message(mail)


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
