"""Saving articles: the article and its task are committed together, and nobody waits for an embedding."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from forebay.errors import InvalidField
from forebay.pipelines.articles import texts
from forebay.pipelines.articles.db import ArticleValues, Embedding
from forebay.pipelines.articles.settings import ArticlesSettings

if TYPE_CHECKING:
    from forebay.pipelines.articles.models import ArticleChange, NewArticle
    from forebay.settings import Settings


def given_article(body: NewArticle, settings: Settings) -> tuple[ArticleValues, Embedding]:
    """The values of a new article, and how its task is submitted: at once.

    Raises: InvalidField.
    """
    check_length(body.content, settings)
    values = ArticleValues(
        title=body.title,
        content=body.content,
        slug=body.slug,
        wanted=texts.slug_of(body.title),
        message=body.message,
        excerpt=texts.excerpt_of(body.content, body.title),
        words=texts.count_words(body.content),
        skip_embedding=body.skip_embedding,
        draft=body.draft,
    )
    return values, Embedding(body.embedding_priority, settings.of(ArticlesSettings).enabled)


def given_change(body: ArticleChange, settings: Settings) -> tuple[ArticleValues, Embedding]:
    """The values to change, and how the task is submitted: once no further change comes for a while.

    Raises: InvalidField.
    """
    content = body.content
    if content is not None:
        check_length(content, settings)
    values = ArticleValues(
        title=body.title,
        content=content,
        slug=body.slug,
        message=body.message,
        excerpt=None if content is None else texts.excerpt_of(content, body.title or ""),
        words=None if content is None else texts.count_words(content),
        skip_embedding=body.skip_embedding,
        draft=body.draft,
    )
    return values, of_edit(body.embedding_priority, settings)


def of_edit(priority: str, settings: Settings) -> Embedding:
    """How the task of a changed article is submitted."""
    own = settings.of(ArticlesSettings)
    delay = timedelta(seconds=own.edit_delay_s) if own.edit_delay_s and priority != "high" else None
    return Embedding(priority, own.enabled, delay, timedelta(seconds=own.edit_max_wait_s))


def check_length(content: str, settings: Settings) -> None:
    """Raises: InvalidField for a text that is too long."""
    most = settings.of(ArticlesSettings).max_characters
    if len(content) > most:
        raise InvalidField("content", f"has {len(content)} characters; FOREBAY_ARTICLES_MAX_CHARACTERS allows {most}")
