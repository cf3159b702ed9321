"""The API's file store and the key that signs links, opened on first use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from forebay.errors import ConfigError, InvalidField
from forebay.storage import open_store
from forebay.storage.signing import open_signer

if TYPE_CHECKING:
    from forebay.settings import Settings
    from forebay.storage import Store
    from forebay.storage.signing import Signer


class FileAccess:
    """Opened on first use: an API without files needs neither store nor key."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def store(self) -> Store:
        """Raises: ConfigError when an extra is not installed, or a setting is invalid."""
        try:
            return open_store(self._settings)
        except InvalidField as error:
            raise ConfigError(str(error)) from error

    @cached_property
    def signer(self) -> Signer:
        """Raises: ConfigError when there is no key."""
        return open_signer(self._settings)
