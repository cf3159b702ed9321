"""The settings of a package that accepts files."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_validator

from forebay.base_settings import PackageSettings


class IntakeSettings(PackageSettings):
    """Base class for the settings of such a package, which sets the prefix."""

    enabled: bool = Field(default=True, description="accept files; false: uploads are rejected")
    max_file_bytes: int | None = Field(
        default=None,
        ge=1,
        description="most bytes that a file may have; unset: FOREBAY_API_MAX_UPLOAD_BYTES, which is never exceeded",
    )
    sources: Path | None = Field(
        default=None, description="folder with declarations of sources that files are taken from; unset: none"
    )
    roots: str = Field(
        default="", description="folders that files may be taken from, separated by commas; empty: from none"
    )

    @field_validator("roots")
    @classmethod
    def _roots(cls, text: str) -> str:
        for part in filter(None, (part.strip() for part in text.split(","))):
            if not part.startswith("/") or ".." in Path(part).parts:
                raise ValueError(f"{part!r} is not an absolute path such as /srv/drop")
        return text

    @property
    def root_folders(self) -> list[Path]:
        return [Path(part.strip()) for part in self.roots.split(",") if part.strip()]
