"""The pipeline that saves the articles of a received file.

A file is read in a limited process. Its articles are saved in the transaction that ends the step: all of them, once.
"""

from __future__ import annotations

from pydantic import BaseModel

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.limited import limited
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.errors import DataError
from forebay.intake.receiving import receiving_pipeline
from forebay.intake.scans import scan_pipeline
from forebay.intake.target import ReceivedFile
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles import reading, texts
from forebay.pipelines.articles.db import ArticleValues, Embedding
from forebay.pipelines.articles.files import FILES, ImportOptions
from forebay.pipelines.articles.reading import FoundText
from forebay.pipelines.articles.settings import ArticlesSettings
from forebay.services import embeddings
from forebay.types import Done

article_files = Pipeline("article_files", ReceivedFile, noun="file", title="Imported articles", needs_database=True)
article_file_intake = receiving_pipeline(FILES)
article_file_scans = scan_pipeline(FILES)

READ = limited(
    reading.read_file,
    memory_mb=1024,
    timeout=300,
    file_mb=64,
    scratch_mb=64,
    returns=(FoundText,),
    needs=("pypdfium2",),
)
_MOST_PROBLEMS = 100


class ImportProblem(BaseModel):
    name: str
    reason: str


class ImportedFile(BaseModel):
    """What became of the articles of a file; at most 100 of the problems."""

    created: int
    updated: int
    unchanged: int
    problems: list[ImportProblem]


@article_files.step(timeout=1800, concurrency=(1, 4), retry=Retry(attempts=3, base=5.0))
async def save(ctx: Context, file: ReceivedFile) -> Done[ImportedFile]:
    """Save the articles of a file. A file name that the owner has already is changed."""
    options = ImportOptions.model_validate(file.options)
    settings = await ctx.get(resources.settings)
    own = settings.of(ArticlesSettings)
    async with (await ctx.get(resources.blobs)).local(file.sha256) as path:
        found = await ctx.call(READ, path, file.name)
    if not found:
        raise DataError("the file has no articles: no Markdown, HTML, text or PDF")
    counts = {"created": 0, "updated": 0, "unchanged": 0}
    problems = [ImportProblem(name=each.name, reason=each.problem) for each in found if each.problem is not None]
    async with ctx.transaction() as conn:
        for each in found:
            if each.problem is not None:
                continue
            if len(each.content) > own.max_characters:
                reason = (
                    f"has {len(each.content)} characters; FOREBAY_ARTICLES_MAX_CHARACTERS allows {own.max_characters}"
                )
                problems.append(ImportProblem(name=each.name, reason=reason))
                continue
            values = _values(each, file.name, options)
            embedding = Embedding(options.embedding_priority, embeddings.is_on(settings))
            counts[await rows.import_one(conn, ctx.owner_id, values, embedding)] += 1
    return Done(ImportedFile(**counts, problems=problems[:_MOST_PROBLEMS]))


def _values(found: FoundText, file: str, options: ImportOptions) -> ArticleValues:
    title = _storable(found.title)[:500].strip() or "Untitled"
    content = _storable(found.content)
    return ArticleValues(
        title=title,
        content=content,
        slug=texts.slug_of(texts.slug_of_file(_storable(found.name))),
        message=f"Imported from {_storable(file)[:500]}",
        excerpt=texts.excerpt_of(content, title),
        words=texts.count_words(content),
        skip_embedding=options.skip_embedding,
    )


def _storable(text: str) -> str:
    """Without what PostgreSQL cannot store."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
