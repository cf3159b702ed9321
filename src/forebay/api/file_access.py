"""Where the API finds files, and the key that signs links to them: opened when they are first needed."""

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
    """The store of the settings. An API without files needs neither store nor key."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def store(self) -> Store:
        """Raises: ConfigError when it is not installed, or its setting is wrong."""
        try:
            return open_store(self._settings)
        except InvalidField as error:
            raise ConfigError(str(error)) from error

    @cached_property
    def signer(self) -> Signer:
        """Raises: ConfigError when there is no key."""
        return open_signer(self._settings)
