"""The settings of articles."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from forebay.base_settings import Seconds
from forebay.intake.settings import IntakeSettings


class ArticlesSettings(IntakeSettings):
    """Each field is the variable FOREBAY_ARTICLES_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="FOREBAY_ARTICLES_")

    enabled: bool = Field(
        default=True,
        description="embed articles in the background; false: before the response to the request that saves them",
    )
    max_retries: Annotated[int, Field(ge=0, le=100)] = Field(
        default=3, description="retries of a failed embedding: it is tried once more than this"
    )
    retry_backoff_base: Annotated[int, Field(ge=0, le=3_600_000)] = Field(
        default=1000, description="milliseconds until the first retry of an embedding; doubled for each further one"
    )
    batch_size: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=32, description="articles whose texts are embedded together, at most; 1: each by itself"
    )
    sequential: bool = Field(
        default=False,
        description="embed one article at a time, over all workers, in the order of their changes",
    )
    edit_delay_s: Seconds = Field(
        default=1.0,
        description="seconds that a changed article waits for further changes before it is embedded; 0: none",
    )
    edit_max_wait_s: Seconds = Field(
        default=15.0, description="maximum seconds that an article waits for further changes, however fast they come"
    )
    cleanup_interval: Annotated[int, Field(ge=1, le=24 * 31)] = Field(
        default=24, description="hours between two cleanups of completed tasks"
    )
    cleanup_retention_days: Annotated[int, Field(ge=0, le=3650)] = Field(
        default=30, description="days after which a cleanup deletes completed tasks; the articles stay"
    )
    max_characters: Annotated[int, Field(ge=1, le=10_000_000)] = Field(
        default=1_000_000, description="maximum length of an article, in characters"
    )
