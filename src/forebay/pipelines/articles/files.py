"""Articles as a target of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from forebay.intake.target import IntakeTarget
from forebay.pipelines.articles.models import Priority
from forebay.pipelines.articles.reading import SUFFIXES
from forebay.pipelines.articles.settings import ArticlesSettings

if TYPE_CHECKING:
    from forebay.settings import Settings


class ImportOptions(BaseModel):
    """How the articles of a file are saved."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    skip_embedding: bool = False
    embedding_priority: Priority = Field(default="high", description="of the tasks that embed them")


class ArticleTarget(IntakeTarget):
    """Files are known by their names."""

    def check_name(self, settings: Settings, name: str) -> str | None:
        if name.lower().endswith(SUFFIXES):
            return None
        return f"is not a file of articles; accepted are {', '.join(SUFFIXES)}"


FILES = ArticleTarget(
    name="article_files",
    settings=ArticlesSettings,
    file_kinds="Markdown, HTML, text, PDF, or a ZIP of these",
    options=ImportOptions,
    uploads_path="/api/article-files/uploads",
    sources_path="/api/article-files",
)
