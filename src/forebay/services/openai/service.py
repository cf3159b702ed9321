"""The configuration of a service."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forebay.errors import ConfigError
from forebay.services.egress import InvalidUrl, Origin, checked_url

if TYPE_CHECKING:
    from pydantic import SecretStr


@dataclass(frozen=True, slots=True)
class Service:
    """A service; `name` is for messages, `setting` is the prefix of its settings."""

    name: str
    setting: str
    url: str
    model: str
    key: SecretStr | None = field(default=None, repr=False)

    @property
    def origin(self) -> Origin:
        """Its origin, which the operator has configured, so it may be in a private network."""
        return Origin.of(self.url)

    def without_key(self, text: str) -> str:
        """A text of the service without its key, which some repeat in errors."""
        secret = self.key.get_secret_value() if self.key is not None else ""
        return text.replace(secret, "…") if secret else text


def read_service(name: str, setting: str, url: str, model: str, key: SecretStr | None) -> Service | None:
    """The service of the settings `…_URL`, `…_MODEL` and `…_KEY`; None when there is no URL.

    Raises: ConfigError when the URL is invalid or the model is missing.
    """
    url = url.strip().rstrip("/")
    if not url:
        return None
    try:
        checked = checked_url(url, f"{setting}_URL")
    except InvalidUrl as error:
        raise ConfigError(f"{setting}_URL {error.reason}; it must be like https://host/v1") from None
    if "?" in checked.target or checked.fragment:
        raise ConfigError(f"{setting}_URL must be like https://host/v1, without ? and #")
    if not model:
        raise ConfigError(f"{setting}_URL is set, but {setting}_MODEL is not")
    return Service(name, setting, url, model, key)
