"""The requests and responses of shares."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field

from forebay.api.models import FromJson, Id, Model, Next, Reference, Status, Strict, parsed
from forebay.pipelines.media.kinds import DownloadStatus, ShareKind, TranscriptStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    import asyncpg

    from forebay.storage.db import PictureRow


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain a NUL character")
    return text


Url = Annotated[str, Field(max_length=100_000)]
Title = Annotated[str, Field(max_length=1000), AfterValidator(_without_nul)]
Priority = Annotated[int, Field(ge=-100, le=100, description="higher goes first")]


class NewShare(Strict):
    """A link to media."""

    url: Url
    title: Title | None = Field(default=None, description="until the title of the media is known")
    priority: Priority | None = None


class NewShares(Strict):
    """One link, or several."""

    url: Url | None = None
    title: Title | None = None
    priority: Priority = 0
    shares: Annotated[list[NewShare], Field(min_length=1, max_length=500)] | None = Field(
        default=None, description="several links, instead of `url`"
    )


class ShareProgress(Model):
    """The progress of the step that is running."""

    step: str
    fraction: float | None
    note: str | None
    bytes_done: int | None = None
    bytes_total: int | None = Field(default=None, description="null: the server does not say")
    bytes_per_second: int | None = None
    ends_at: datetime | None = Field(default=None, description="estimate")


class ShareFile(Model):
    """The stored file. `url` requires a sign-in or token; `link` works without until `linkExpiresAt`. Both support
    ranges, so that players can seek."""

    id: Id
    url: str
    media_type: str
    size: int
    sha256: str
    link: str | None = Field(default=None, description="signed; null in lists: see `GET /api/shares/{id}`")
    link_expires_at: datetime | None = None


class Poster(Model):
    """A picture of the media; the URLs require a sign-in or token."""

    id: Id
    url: str
    width: int | None = None
    height: int | None = None
    blurhash: str | None = None
    thumb: str | None = Field(default=None, description="320 wide; `w` may be 160 or 640, too; null: there is none")


class ShareMedia(Model):
    """What to play: the stored file once it is there, before that the address that it is downloaded from."""

    url: str | None
    type: ShareKind | None
    is_stored: bool


class Share(Model):
    """A share in a list."""

    id: Id
    url: str | None = Field(description="null: a file of the owner")
    title: str | None
    description: str | None
    author: str | None
    site: str | None
    language: str | None
    kind: ShareKind | None = Field(description="null: not known yet")
    published_at: datetime | None
    duration_s: float | None
    width: int | None
    height: int | None
    video_codec: str | None
    audio_codec: str | None
    container: str | None
    media: ShareMedia
    file_state: Literal["waiting", "downloading", "retrying", "ready", "failed", "removed", "none"] = Field(
        description="whether the file is there: `ready`; `removed` by retention; `none`: a playlist has no file"
    )
    file: ShareFile | None
    poster: Poster | None
    progress: ShareProgress | None = Field(description="null: no step is running")
    download_status: DownloadStatus
    download_attempts: int
    download_error: str | None
    download_started_at: datetime | None
    download_completed_at: datetime | None
    transcript_status: TranscriptStatus
    transcript_error: str | None
    transcript: str | None = Field(description="where the transcript is; null: there is none")
    playlist_id: Id | None
    playlist_index: int | None
    entries: int | None = Field(description="of a playlist")
    ready_entries: int | None
    priority: int
    platform_data: FromJson
    created_at: datetime
    updated_at: datetime
    job_id: Id | None
    item: Id = Field(description="its number in the job")
    job_state: str | None
    status: Status = Field(description="status of its item")
    error: FromJson


class SharePage(Model):
    shares: list[Share]
    next: Next


class AddedShares(Model):
    shares: list[Share | Reference]


class RetriedShare(Model):
    job_id: Id


_FILE_STATES = {"pending": "waiting", "processing": "downloading", "retry": "retrying", "failed": "failed"}


def file_state(row: asyncpg.Record) -> str:
    """Whether the file is there, and if not, what it waits for."""
    if row["kind"] == "playlist":
        return "none"
    if row["file_id"] is not None:
        return "ready"
    if row["file_removed_at"] is not None and row["download_status"] == "completed":
        return "removed"
    return _FILE_STATES.get(row["download_status"], "waiting")


def share_of(
    row: asyncpg.Record, pictures: Mapping[int, PictureRow], link: tuple[str, datetime] | None = None
) -> Share:
    """The share; with a signed link to its file."""
    values: dict[str, Any] = dict(row)
    file = _file(row, link)
    poster_id = values.pop("poster_id")
    values |= {
        "file": file,
        "file_state": file_state(row),
        "media": ShareMedia(
            url=file.url if file is not None else row["url"], type=row["kind"], is_stored=file is not None
        ),
        "poster": None if poster_id is None else _poster(poster_id, pictures.get(poster_id)),
        "progress": parsed(values["progress"]),
        "transcript": f"/api/shares/{row['id']}/transcript" if row["has_transcript"] else None,
        "item": row["item_n"],
    }
    return Share(**{name: values[name] for name in Share.model_fields})


def _file(row: asyncpg.Record, link: tuple[str, datetime] | None) -> ShareFile | None:
    if row["file_id"] is None:
        return None
    signed, expires_at = link or (None, None)
    return ShareFile(
        id=str(row["file_id"]),
        url=f"/api/files/{row['file_id']}/content",
        media_type=row["file_type"],
        size=row["size"],
        sha256=row["sha256"],
        link=signed,
        link_expires_at=expires_at,
    )


def _poster(file_id: int, known: PictureRow | None) -> Poster:
    poster = Poster(id=str(file_id), url=f"/api/files/{file_id}/content")
    if known is not None and known.widths:
        poster.width, poster.height, poster.blurhash = known.width, known.height, known.blurhash
        poster.thumb = f"/api/files/{file_id}/thumbnail?w=320"
    return poster
