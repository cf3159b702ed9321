"""The requests and responses of bookmarks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from forebay.api.models import FromJson, Id, Model, Next, Reference, Status, Strict, parsed
from forebay.pipelines.bookmarks.kinds import BookmarkKind
from forebay.pipelines.bookmarks.step_names import StepName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import asyncpg

    from forebay.storage.db import PictureRow


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
    """A file of a bookmark; the URLs require a sign-in or token."""

    id: Id
    url: str
    width: int | None = None
    height: int | None = None
    blurhash: str | None = None
    thumb: str | None = Field(
        default=None, description="URL of a thumbnail that is 320 wide; `w` may be 160 or 640, too; null: there is none"
    )


class BookmarkStep(Model):
    """A step of the last crawls; it stays as it has ended when the job is deleted."""

    name: StepName
    after: list[str]
    optional: bool
    state: Literal["WAITING", "SCHEDULED", "RUNNING", "HELD", "BLOCKED", "DONE", "SKIPPED", "NOT_FOUND", "FAILED"]
    started_at: datetime | None = Field(description="of the attempt that is running")
    ended_at: datetime | None
    next_at: datetime | None = Field(description="when it is tried again")
    attempt: int | None
    reason: str | None


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
    deleted_at: datetime | None = Field(default=None, description="when it was moved to the trash")
    created_at: datetime
    updated_at: datetime
    crawled_at: datetime | None
    changed_at: datetime | None
    crawl_every_hours: float | None
    next_crawl_at: datetime | None
    job_id: Id | None
    status: Status = Field(description="status of its job")
    error: FromJson
    steps: list[BookmarkStep] | None = Field(
        default=None, description="in their order; null: not part of this response, see `GET /api/bookmarks/{id}`"
    )


class FoundBookmark(Bookmark):
    """A search result with its rank and a snippet."""

    rank: float
    snippet: str


class ReaderBlock(Model):
    """A part of the readable text; plain text only."""

    t: Literal["h", "p", "li", "quote", "code", "row", "img"] = Field(
        description="heading, paragraph, item of a list, quote, code, row of a table, or picture"
    )
    text: str = Field(default="", description="of a picture: its description")
    level: int | None = Field(default=None, description="of a heading, or of a nested list")
    cells: list[str] | None = Field(default=None, description="of a row")
    url: str | None = Field(default=None, description="of a picture; it is on the page's host")


class WholeBookmark(Bookmark):
    """A bookmark with all fields."""

    author: str | None
    canonical_url: str | None
    modified_at: datetime | None
    text: str | None
    blocks: list[ReaderBlock] | None = Field(
        description="the text with its structure, for a reader; null: not known, or there is only the plain text"
    )
    ocr: str | None
    facts: FromJson
    notes: FromJson = Field(description="by step, remarks of steps that succeeded, such as a shortened page")


class BookmarkPage(Model):
    bookmarks: list[Bookmark | FoundBookmark]
    next: Next


class Count(Model):
    value: str
    bookmarks: int


class BookmarkFacets(Model):
    """How many bookmarks match, and how many of them have which properties."""

    total: int
    is_exact: bool = Field(description="false: only the newest 10,000 that match the other filters were counted")
    kinds: list[Count]
    tags: list[Count] = Field(description="the 50 most frequent")
    categories: list[Count] = Field(description="by their ids")
    sites: list[Count] = Field(description="the 50 most frequent")
    statuses: list[Count]
    archived: int
    duplicates: int


class BulkFilter(Strict):
    """The same as in lists."""

    q: Annotated[Text, Field(max_length=1000)] | None = None
    category_id: CategoryId | None = None
    tags: Tags = Field(default=[], description="all of these")
    kinds: list[BookmarkKind] = Field(default=[], max_length=10)
    sites: list[Annotated[Text, Field(max_length=300)]] = Field(default=[], max_length=100)
    statuses: list[Status] = Field(default=[], max_length=10)
    since: datetime | None = None
    until: datetime | None = None
    archived: bool | None = Field(default=False, description="null: all")
    duplicates: bool | None = None
    trash: bool = False


class BulkRequest(Strict):
    """What to do with many bookmarks: those with `ids`, or those that match `filter`."""

    ids: Annotated[list[CategoryId], Field(min_length=1, max_length=5000)] | None = None
    filter: BulkFilter | None = None
    do: Literal["tag", "untag", "archive", "unarchive", "category", "delete", "restore", "purge", "crawl"]
    tags: Tags | None = Field(default=None, description="for tag and untag")
    category_id: CategoryId | None = Field(default=None, description="for category; null: none")
    only: Annotated[list[StepName], Field(min_length=1, max_length=6)] | None = Field(
        default=None, description="for crawl: only these steps"
    )
    after: str | None = Field(default=None, max_length=400, description="`next` of the previous response")
    dry_run: bool = Field(default=False, description="only count")


class BulkResult(Model):
    matched: int = Field(description="bookmarks that were selected; with dryRun at most 10,001")
    changed: int = Field(description="of those, how many were not as requested already")
    next: str | None = Field(description="there are more: send the request again with this as `after`")


class AddedBookmark(Model):
    created: bool = Field(description="false: the page was bookmarked already and has been updated")
    bookmark: Bookmark | Reference


class CrawlRequest(Strict):
    """What to crawl."""

    only: Annotated[list[StepName], Field(min_length=1, max_length=6)] | None = Field(
        default=None, description="only these steps, and the steps that they need; by default all"
    )


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


@dataclass(frozen=True, slots=True)
class Extras:
    """What lists show besides the rows of bookmarks: steps by bookmark, and pictures by file."""

    steps: Mapping[int, Iterable[asyncpg.Record]]
    pictures: Mapping[int, PictureRow]


def file_ids(rows: Iterable[asyncpg.Record]) -> list[int]:
    """The files of bookmarks."""
    return [row[f"{name}_id"] for row in rows for name in _FILES if row[f"{name}_id"] is not None]


def _values(row: asyncpg.Record, extras: Extras | None) -> dict[str, Any]:
    values = dict(row)
    every = values.pop("crawl_every")
    values["crawl_every_hours"] = None if every is None else every / 3600
    files = {name: values.pop(f"{name}_id") for name in _FILES}
    pictures: Mapping[int, PictureRow] = {} if extras is None else extras.pictures
    values["files"] = {
        "fullPage" if name == "full_page" else name: _file_ref(file_id, pictures.get(file_id))
        for name, file_id in files.items()
        if file_id is not None
    }
    values["steps"] = None if extras is None else _steps(extras.steps[row["id"]])
    return values


def _file_ref(file_id: int, known: PictureRow | None) -> FileRef:
    ref = FileRef(id=str(file_id), url=f"/api/files/{file_id}/content")
    if known is not None and known.widths:
        ref.width, ref.height, ref.blurhash = known.width, known.height, known.blurhash
        ref.thumb = f"/api/files/{file_id}/thumbnail?w=320"
    return ref


def bookmark_of(row: asyncpg.Record, extras: Extras | None = None) -> Bookmark:
    values = _values(row, extras)
    return FoundBookmark(**values) if "rank" in values else Bookmark(**values)


def whole_bookmark(row: asyncpg.Record, extras: Extras) -> WholeBookmark:
    values = _values(row, extras)
    blocks = parsed(values.pop("blocks"))
    return WholeBookmark(text=values.pop("body"), blocks=blocks, **values)


def _steps(rows: Iterable[asyncpg.Record]) -> list[BookmarkStep]:
    names = BookmarkStep.model_fields
    return [BookmarkStep(**{name: row[name] for name in names}) for row in rows]


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


class ImportPreview(Model):
    """What an import of a file would do."""

    links: int = Field(description="all that the file has")
    known: int = Field(description="bookmarks that the caller has already: they are not saved twice")
    repeated: int = Field(description="links to a page that is in the file before them")
    invalid: int = Field(description="cannot be saved: they become failed items")
    folders: int = Field(description="become categories")
