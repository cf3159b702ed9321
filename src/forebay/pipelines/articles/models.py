"""The requests and responses of articles."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from forebay.api.models import FromJson, Id, Model, Next, Strict
from forebay.pipelines.articles.texts import SLUG

Embedding = Literal["fresh", "stale", "waiting", "failed", "off"]
Priority = Literal["high", "normal", "low"]


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain a NUL character")
    return text


Text = Annotated[str, AfterValidator(_without_nul)]
Title = Annotated[
    Text, StringConstraints(strip_whitespace=True), Field(min_length=1, max_length=500, description="in one line")
]
Slug = Annotated[
    Text,
    StringConstraints(strip_whitespace=True),
    Field(min_length=1, max_length=255, pattern=SLUG, description="its file name, without a suffix"),
]
Content = Annotated[Text, Field(max_length=10_000_000, description="Markdown")]
Message = Annotated[Text, Field(max_length=1000, description="what this version changes")]
DraftKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,100}$")]

_SKIP = "do not embed it: the search finds it by its words only"
_PRIORITY = "of the task that embeds it"


class NewArticle(Strict):
    """An article to save."""

    title: Title
    content: Content
    slug: Slug | None = Field(default=None, description="by default made of the title")
    message: Message | None = None
    skip_embedding: bool = Field(default=False, description=_SKIP)
    embedding_priority: Priority = Field(default="normal", description=_PRIORITY)
    draft: DraftKey | None = Field(default=None, description="the draft that it was made of, which is deleted")


class ArticleChange(Strict):
    """The fields to change; others stay."""

    title: Title | None = None
    content: Content | None = None
    slug: Slug | None = None
    message: Message | None = None
    skip_embedding: bool | None = Field(default=None, description=_SKIP)
    embedding_priority: Priority = Field(default="normal", description=_PRIORITY)
    version: int | None = Field(
        default=None,
        ge=1,
        lt=2**31,
        description="the version that was changed: 412 if there is a newer one; as `If-Match`",
    )
    draft: DraftKey | None = Field(default=None, description="the draft that it was made of, which is deleted")


class Article(Model):
    """An article in a list."""

    id: Id
    slug: str
    title: str
    excerpt: str
    words: int
    version: int
    skip_embedding: bool
    embedding: Embedding = Field(
        description="fresh: the vectors are those of this text; stale: older than the text, and nothing is queued; "
        "waiting: a task is queued or runs; failed: the task has failed; off: not embedded"
    )
    embedding_problem: str | None = Field(description="why the embedding failed")
    embedded_version: int | None = Field(description="the version whose vectors the search uses; null: none")
    embedded_at: datetime | None
    job_id: Id | None = Field(description="the job of the last task")
    created_at: datetime
    updated_at: datetime


class WholeArticle(Article):
    """An article with its text."""

    content: str
    message: str | None


class ArticlePage(Model):
    articles: list[Article]
    next: Next


class ArticleHtml(Model):
    """An article as HTML that is safe to show."""

    id: Id
    version: int
    html: str


class TaskJob(Model):
    """The job of the task."""

    job_id: Id


class ArticleVersion(Model):
    version: int
    title: str
    message: str | None
    created_at: datetime
    characters: int


class WholeVersion(ArticleVersion):
    content: str


class ArticleVersionPage(Model):
    versions: list[ArticleVersion]
    next: Next


class VersionDifference(Model):
    """How two versions differ."""

    before: ArticleVersion
    after: ArticleVersion
    difference: str = Field(description="unified difference by lines; empty: the texts are equal")
    is_cut: bool = Field(description="the difference is longer than is shown")


class DraftContent(Strict):
    """What an editor stores while somebody types."""

    title: Annotated[Text, Field(max_length=500)] = ""
    content: Content = ""
    article_id: Annotated[str, Field(pattern=r"^[0-9]{1,18}$")] | None = Field(
        default=None, description="the article that is changed; null: a new one"
    )
    base_version: int | None = Field(default=None, ge=1, lt=2**31, description="the version that the editor began with")


class Draft(Model):
    key: str
    article_id: Id | None
    base_version: int | None
    title: str
    content: str = Field(description="in lists its first 300 characters")
    updated_at: datetime


class DraftList(Model):
    drafts: list[Draft]


TaskStatus = Literal["pending", "processing", "completed", "failed"]


class EmbeddingTaskInfo(Model):
    """A task that brings the vectors of an article up to date."""

    id: Id = Field(description="a UUID")
    article_id: Id
    slug: str
    operation: Literal["create", "update", "delete"]
    priority: Priority
    status: TaskStatus
    attempts: int
    max_attempts: int
    created_at: datetime
    scheduled_at: datetime = Field(description="when it is tried next, if it has to wait")
    processed_at: datetime | None = Field(description="when the last attempt began")
    completed_at: datetime | None
    error_message: str | None
    metadata: FromJson = Field(description="what the task returned, or the last error")
    job_id: Id
    item: int


class EmbeddingTaskPage(Model):
    tasks: list[EmbeddingTaskInfo]
    next: Next


class QueueStats(Model):
    """The exact number of tasks by status."""

    pending: int
    processing: int
    completed: int
    failed: int


class LogEntry(Model):
    """Something that happened to a task of an article."""

    at: datetime
    event: Literal["created", "processing", "retried", "completed", "failed", "cancelled"]
    job_id: Id
    item: int
    attempt: int | None
    reason: str | None


class ArticleLog(Model):
    entries: list[LogEntry]


class EmbedRequest(Strict):
    priority: Priority = "high"


class ReindexRequest(Strict):
    """How all articles that need it are embedded."""

    priority: Priority = "low"


class ReindexJob(Model):
    """The job whose items are the articles to embed; it can be watched, paused and resumed like any other."""

    job_id: Id | None = Field(description="null: all articles are embedded already")
    created: bool = Field(description="false: an earlier reindex has not ended")
    items: int


class RetriedTasks(Model):
    retried: int


class ClearRequest(Strict):
    older_than_days: Annotated[float, Field(ge=0, le=3650)] | None = Field(
        default=None, description="only tasks that ended before; by default FOREBAY_ARTICLES_CLEANUP_RETENTION_DAYS"
    )


class Cleared(Model):
    cleared: int
