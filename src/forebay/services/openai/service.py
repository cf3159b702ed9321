"""Which service is asked: as the settings name it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forebay.errors import ConfigError
from forebay.services.egress import InvalidUrl, Origin, checked_url

if TYPE_CHECKING:
    from pydantic import SecretStr


@dataclass(frozen=True, slots=True)
class Service:
    """One service; `name` is what messages call it, `setting` the beginning of the names of its settings."""

    name: str
    setting: str
    url: str
    model: str
    key: SecretStr | None = field(default=None, repr=False)

    @property
    def origin(self) -> Origin:
        """Where it is: the operator has named it, so it may be in a private network."""
        return Origin.of(self.url)

    def without_key(self, text: str) -> str:
        """A text of the service's, from which its key is removed: some repeat it in their errors."""
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
