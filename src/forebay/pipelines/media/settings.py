"""The settings of media."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from forebay.base_settings import OtherName, Seconds
from forebay.intake.settings import IntakeSettings


class MediaSettings(IntakeSettings):
    """Each field is the variable FOREBAY_MEDIA_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="FOREBAY_MEDIA_")

    other_names: ClassVar = {
        "FOREBAY_ASYNC_DOWNLOADS_ENABLED": OtherName("async_downloads"),
        "FOREBAY_DOWNLOAD_WORKERS": OtherName("downloads"),
    }

    enabled: bool = Field(default=True, description="accept links and files of media; false: they are rejected")
    async_downloads: bool = Field(
        default=True,
        description="respond before the file is downloaded; false: `POST /api/shares` responds when a worker has "
        "downloaded it, or after FOREBAY_MEDIA_SYNC_S",
    )
    sync_s: Annotated[float, Field(gt=0, le=3600)] = Field(
        default=60.0, description="seconds that a response waits for a download if FOREBAY_MEDIA_ASYNC_DOWNLOADS=false"
    )
    downloads: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=3, description="maximum number of downloads that run at the same time in one worker"
    )
    download_bytes_per_s: Annotated[int, Field(ge=0, le=1 << 40)] = Field(
        default=0, description="bytes per second that all downloads of one worker receive together; 0: no limit"
    )
    owner_downloads: Annotated[int, Field(ge=0, le=10_000)] = Field(
        default=0, description="maximum number of downloads of one owner at the same time in all workers; 0: no limit"
    )
    owner_per_minute: Annotated[int, Field(ge=0, le=100_000)] = Field(
        default=0, description="maximum number of downloads of one owner that start in a minute; 0: no limit"
    )
    site_downloads: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=4, description="maximum number of downloads from one site at the same time in all workers"
    )
    allow_hosts: str = Field(
        default="",
        description="hosts that links may name, separated by commas, such as `*.example.com`; empty: all that "
        "FOREBAY_EGRESS_ALLOW_HOSTS allows",
    )
    max_bytes: Annotated[int, Field(ge=1024, le=1 << 42)] = Field(
        default=2 << 30, description="maximum size of a downloaded file in bytes"
    )
    max_duration_s: Seconds = Field(default=4 * 3600.0, description="maximum duration of media in seconds; 0: no limit")
    download_s: Annotated[float, Field(ge=1, le=12 * 3600)] = Field(
        default=3600.0, description="seconds that one attempt of a download may take"
    )
    stall_s: Annotated[float, Field(ge=1, le=3600)] = Field(
        default=60.0, description="seconds without a received byte after which an attempt of a download fails"
    )
    max_height: Annotated[int, Field(ge=144, le=8640)] = Field(
        default=1080, description="maximum height of a video in pixels, if the site offers several"
    )
    max_entries: Annotated[int, Field(ge=1, le=5000)] = Field(
        default=200, description="maximum number of entries of a playlist that are downloaded"
    )
    attempts: Annotated[int, Field(ge=1, le=100)] = Field(
        default=3, description="attempts of a download before its status is failed"
    )
    transcripts: bool = Field(default=True, description="write down what is said in media; false: it is only stored")
    keep_days: Annotated[int, Field(ge=0, le=36500)] = Field(
        default=0, description="days after which downloaded files are deleted, but not their shares; 0: never"
    )
    owner_bytes: Annotated[int, Field(ge=0, le=1 << 50)] = Field(
        default=0, description="bytes of media that an owner may keep; beyond, the oldest are deleted; 0: no limit"
    )
