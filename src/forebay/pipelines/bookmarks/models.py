"""The requests and responses of bookmarks."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from forebay.api.models import FromJson, Id, Model, Next, Reference, Status, Strict

if TYPE_CHECKING:
    import asyncpg

BookmarkKind = Literal["page", "pdf", "image", "file", "login", "captcha", "error"]


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain a NUL character")
    return text


Text = Annotated[str, AfterValidator(_without_nul)]
Tag = Annotated[Text, Field(min_length=1, max_length=100)]
Tags = Annotated[list[Tag], Field(max_length=100)]
CategoryId = Annotated[str, Field(pattern=r"^[0-9]{1,18}$")]
Hours = Annotated[float, Field(ge=1, le=24 * 366, description="interval of crawls; null: only on request")]

_FILES = ("screenshot", "full_page", "image", "favicon")


class NewBookmark(Strict):
    """A link to save."""

    url: Annotated[str, Field(max_length=100_000)]
    title: Annotated[Text, Field(max_length=1000)] | None = None
    note: Annotated[Text, Field(max_length=100_000)] | None = None
    tags: Tags | None = None
    category_id: CategoryId | None = None
    favicon: Annotated[str, Field(max_length=8192, description="URL of the icon, if known")] | None = None


class BookmarkChange(Strict):
    """The fields to change; others stay."""

    title: Annotated[Text, Field(max_length=1000)] | None = None
    note: Annotated[Text, Field(max_length=100_000)] | None = None
    tags: Tags | None = Field(default=None, description="null: none")
    category_id: CategoryId | None = None
    crawl_every_hours: Hours | None = None


class FileRef(Model):
    """A file of a bookmark; the URL requires a sign-in or token."""

    id: Id
    url: str


class Bookmark(Model):
    """A bookmark in a list."""

    id: Id
    url: str
    title: str | None
    description: str | None
    note: str | None
    tags: list[str]
    category_id: Id | None
    site: str | None
    language: str | None
    kind: BookmarkKind | None = Field(
        description="login, captcha and error: the page itself was not reached; null: not known yet"
    )
    kind_reason: str | None
    http_status: int | None
    published_at: datetime | None
    words: int | None
    reading_minutes: float | None
    caption: str | None
    image: FromJson = Field(description="width, height and blurhash of the image")
    files: dict[Literal["screenshot", "fullPage", "image", "favicon"], FileRef]
    duplicate_of: Id | None
    archived_at: datetime | None
    created_at: datetime
    updated_at: datetime
    crawled_at: datetime | None
    changed_at: datetime | None
    crawl_every_hours: float | None
    next_crawl_at: datetime | None
    job_id: Id | None
    status: Status = Field(description="status of its job")
    error: FromJson


class FoundBookmark(Bookmark):
    """A search result with its rank and a snippet."""

    rank: float
    snippet: str


class WholeBookmark(Bookmark):
    """A bookmark with all fields."""

    author: str | None
    canonical_url: str | None
    modified_at: datetime | None
    text: str | None
    ocr: str | None
    facts: FromJson
    notes: FromJson = Field(description="by step, remarks of steps that succeeded, such as a shortened page")


class BookmarkPage(Model):
    bookmarks: list[Bookmark | FoundBookmark]
    next: Next


class AddedBookmark(Model):
    created: bool = Field(description="false: the page was bookmarked already and has been updated")
    bookmark: Bookmark | Reference


class Crawled(Model):
    job_id: Id


class Version(Model):
    """A change that a crawl detected: the title and the number of words before, and the difference."""

    at: datetime
    title: str | None
    words: int | None
    difference: str | None = Field(
        description="unified difference of title, description and text, shortened if it is long; null: not known"
    )


class VersionPage(Model):
    changes: list[Version]
    next: Next


class Category(Model):
    id: Id
    name: str
    created_at: datetime
    bookmarks: int = 0


class CategoryList(Model):
    categories: list[Category]


class NewCategory(Strict):
    name: Annotated[Text, Field(min_length=1, max_length=200)]


class TagUse(Model):
    tag: str
    bookmarks: int


class TagList(Model):
    tags: list[TagUse]


def _values(row: asyncpg.Record) -> dict[str, Any]:
    values = dict(row)
    every = values.pop("crawl_every")
    values["crawl_every_hours"] = None if every is None else every / 3600
    files = {name: values.pop(f"{name}_id") for name in _FILES}
    values["files"] = {
        "fullPage" if name == "full_page" else name: FileRef(id=file_id, url=f"/api/files/{file_id}/content")
        for name, file_id in files.items()
        if file_id is not None
    }
    return values


def bookmark_of(row: asyncpg.Record) -> Bookmark:
    values = _values(row)
    return FoundBookmark(**values) if "rank" in values else Bookmark(**values)


def whole_bookmark(row: asyncpg.Record) -> WholeBookmark:
    values = _values(row)
    return WholeBookmark(text=values.pop("body"), **values)


# The requests and responses of the compatibility routes: names and numbers as in the earlier API.


class LegacyBookmark(BaseModel):
    url: Annotated[str, Field(max_length=100_000)]
    category_id: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    update_access: bool = True


class LegacyScreenshot(BaseModel):
    id: Annotated[int, Field(ge=1, le=2**63 - 1)]
    url: Annotated[str, Field(min_length=1, max_length=8192)]
    userId: Annotated[str, Field(min_length=1, max_length=200)]  # noqa: N815 - as in the earlier API


class LegacyRemaining(LegacyScreenshot):
    favIcon: Annotated[str, Field(max_length=8192)] | None = None  # noqa: N815


class MessageResult(BaseModel):
    messageId: int  # noqa: N815
    bookmarkId: int | None  # noqa: N815
    success: bool
    archived: bool
    screenshotSuccess: bool | None = None  # noqa: N815
    remainingDataSuccess: bool | None = None  # noqa: N815
    error: str | None = None


class ConsumerReport(BaseModel):
    success: bool
    message: str
    processedCount: int  # noqa: N815
    archivedCount: int  # noqa: N815
    failedCount: int  # noqa: N815
    results: list[MessageResult]


class StepReport(BaseModel):
    success: bool
    message: str
    jobId: str  # noqa: N815
