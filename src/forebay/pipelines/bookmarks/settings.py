"""The settings of bookmarks."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from forebay.base_settings import PackageSettings


class BookmarksSettings(PackageSettings):
    """Each field is the variable FOREBAY_BOOKMARKS_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="FOREBAY_BOOKMARKS_")

    fallback_owner: str = Field(
        default="", description="owner of bookmark jobs that name none, as in the earlier queue; empty: they fail"
    )
    trash_days: int = Field(default=30, ge=0, description="days after which deleted bookmarks are deleted for good")
