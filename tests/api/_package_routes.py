"""The routes of articles, attachments, media and search: what each caller gets, and things of ann's to ask for."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

from forebay.engine.db import registry
from forebay.pipelines.articles.imports import article_file_intake, article_file_scans, article_files
from forebay.pipelines.articles.steps import articles
from forebay.pipelines.attachments.steps import attachment_files, attachments
from forebay.pipelines.indexing.steps import index
from forebay.pipelines.media.intake import media_intake, media_scans
from forebay.pipelines.media.steps import media

if TYPE_CHECKING:
    import httpx

    from tests.api._service import Service

Route = tuple[str, str]

_PIPELINES = (
    *(articles, article_files, article_file_intake, article_file_scans, index),
    *(attachments, attachment_files),
    *(media, media_intake, media_scans),
)
_OWN = (401, 200, 200, 200, 200, 401)  # everyone's own
_MINE = (401, 200, 404, 404, 200, 401)  # something of ann's; administrators have things of their own
_WORK = (401, 200, 404, 200, 200, 401)  # administrators see the work of all
_MADE = (401, 201, 404, 404, 201, 401)
_NEW = (401, 201, 201, 201, 201, 401)
_UNNAMED = (401, 422, 422, 422, 422, 401)  # the name of a file says what it is
_GONE = (401, 204, 404, 404, 404, 401)  # ann has deleted it

# Parameters of the query without which a route says 422.
QUERIES = {
    "/api/articles/{article_id}/difference": "?before=1&after=1",
    "/api/attachments/files": "?status=PENDING",
    "/api/search": "?q=weir",
    "/api/search/similar": "?ofKind=article&ref={article_id}",
    "/api/shares/{share_id}/transcript/search": "?q=water",
}

ROUTES: dict[Route, tuple[tuple[int, ...], Any]] = {
    ("GET", "/api/articles/drafts"): (_OWN, None),
    ("PUT", "/api/articles/drafts/{key}"): (_OWN, {"content": "x"}),
    ("GET", "/api/articles/drafts/{key}"): (_OWN, None),  # each has one of this name
    ("DELETE", "/api/articles/drafts/{key}"): ((401, 204, 204, 204, 404, 401), None),
    ("GET", "/api/articles/stats"): (_OWN, None),
    ("GET", "/api/articles/tasks"): (_OWN, None),
    ("GET", "/api/articles/tasks/{task_id}"): (_MINE, None),
    ("POST", "/api/articles/tasks/retry"): (_OWN, None),
    ("POST", "/api/articles/tasks/clear"): (_OWN, {"olderThanDays": 7}),
    ("POST", "/api/articles/reindex"): (_OWN, {}),
    ("POST", "/api/articles"): (_NEW, {"title": "A weir", "content": "It holds a river back."}),
    ("GET", "/api/articles"): (_OWN, None),
    ("GET", "/api/articles/by-slug/{slug}"): (_MINE, None),
    ("PUT", "/api/articles/by-slug/{slug}"): (_MINE, {"content": "It holds water back."}),
    ("GET", "/api/articles/{article_id}"): (_MINE, None),
    ("PUT", "/api/articles/{article_id}"): (_MINE, {"content": "It holds back a river."}),
    ("GET", "/api/articles/{article_id}/html"): (_MINE, None),
    ("GET", "/api/articles/{article_id}/log"): (_MINE, None),
    ("POST", "/api/articles/{article_id}/embed"): (_MADE, {}),
    ("GET", "/api/articles/{article_id}/versions"): (_MINE, None),
    ("GET", "/api/articles/{article_id}/versions/{version}"): (_MINE, None),
    ("GET", "/api/articles/{article_id}/difference"): (_MINE, None),
    ("POST", "/api/articles/{article_id}/versions/{version}/restore"): (_MINE, None),
    ("GET", "/api/search"): (_OWN, None),
    ("GET", "/api/search/similar"): (_MINE, None),
    ("GET", "/api/search/saved"): (_OWN, None),
    ("POST", "/api/search/saved"): (_NEW, {"name": "Weirs", "question": {"q": "weir"}}),
    ("POST", "/api/search/saved/{search_id}/feed"): (_MADE, None),
    ("DELETE", "/api/search/saved/{search_id}/feed"): ((401, 204, 404, 404, 204, 401), None),
    ("DELETE", "/api/search/saved/{search_id}"): (_GONE, None),
    ("GET", "/api/search/feeds/{token}"): ((404,) * 6, None),  # this one is nobody's
    ("DELETE", "/api/articles/{article_id}"): ((401, 200, 404, 404, 404, 401), None),
    ("OPTIONS", "/api/article-files/uploads"): ((204,) * 6, None),
    ("POST", "/api/article-files/uploads"): (_UNNAMED, None),
    ("HEAD", "/api/article-files/uploads/{upload_id}"): ((401, 200, 404, 200, 200, 401), None),
    ("PATCH", "/api/article-files/uploads/{upload_id}"): ((401, 204, 404, 404, 204, 401), None),
    ("DELETE", "/api/article-files/uploads/{upload_id}"): ((401, 204, 404, 204, 204, 401), None),
    ("GET", "/api/article-files/sources"): (_OWN, None),
    ("POST", "/api/article-files/scan"): ((401, 202, 202, 202, 202, 401), {}),
    ("POST", "/api/attachments/hooks/{source}"): ((404,) * 6, None),  # nothing is set up; see test_refusals.py
    ("GET", "/api/attachments/instances"): (_OWN, None),
    ("GET", "/api/attachments/instances/{instance_id}"): (_WORK, None),
    ("POST", "/api/attachments/instances/{instance_id}/retry"): (_WORK, None),
    ("GET", "/api/attachments/files"): (_OWN, None),
    ("GET", "/api/attachments/files/pending"): (_OWN, None),
    ("GET", "/api/attachments/files/failed"): (_OWN, None),
    ("GET", "/api/attachments/files/{attachment_id}"): (_WORK, None),
    ("POST", "/api/attachments/files/{attachment_id}/retry"): ((401, 409, 404, 409, 409, 401), None),  # it waits
    ("POST", "/api/attachments/retry"): (_OWN, None),
    ("GET", "/api/attachments/deliveries"): (_OWN, None),
    ("GET", "/api/attachments/status"): (_OWN, None),
    ("GET", "/api/attachments/quota"): (_OWN, None),
    ("GET", "/api/attachments/sources"): (_OWN, None),
    ("POST", "/api/shares"): (_NEW, {"url": "https://example.org/film.mp4"}),
    ("GET", "/api/shares"): (_OWN, None),
    ("GET", "/api/shares/{share_id}"): (_MINE, None),
    ("POST", "/api/shares/{share_id}/retry"): ((401, 409, 404, 404, 409, 401), None),  # it is being worked on
    ("GET", "/api/shares/{share_id}/transcript"): (_MINE, None),
    ("GET", "/api/shares/{share_id}/transcript/search"): (_MINE, None),
    ("GET", "/api/shares/{share_id}/transcript.{form}"): (_MINE, None),
    ("DELETE", "/api/shares/{share_id}"): (_GONE, None),
    ("OPTIONS", "/api/media/uploads"): ((204,) * 6, None),
    ("POST", "/api/media/uploads"): (_UNNAMED, None),
    ("HEAD", "/api/media/uploads/{upload_id}"): ((401, 200, 404, 200, 200, 401), None),
    ("PATCH", "/api/media/uploads/{upload_id}"): ((401, 204, 404, 404, 204, 401), None),
    ("DELETE", "/api/media/uploads/{upload_id}"): ((401, 204, 404, 204, 204, 401), None),
    ("GET", "/api/media/sources"): (_OWN, None),
    ("POST", "/api/media/scan"): ((401, 202, 202, 202, 202, 401), {}),
}

TABLES = (
    "article", "article_version", "article_draft", "search_document", "saved_search", "attachment_instance",
    "attachment", "attachment_delivery", "share", "transcript",
)  # fmt: skip


async def make_things(service: Service, text: str) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Things of ann's with this text: the values of parameters, and those of the paths with this second part."""
    for pipeline in _PIPELINES:
        await registry.register(service.admin, pipeline.definition())
    async with service.client("ann") as ann:
        article = await _made(ann, "/api/articles", {"title": text, "content": text, "slug": "of-ann"})
        await ann.put("/api/articles/drafts/of-ann", json={"content": text})
        tasks = (await ann.get("/api/articles/tasks")).json()
        saved = await _made(ann, "/api/search/saved", {"name": text, "question": {"q": text}})
        shared = await _made(ann, "/api/shares", {"url": f"https://example.org/{text}", "title": text})
        uploads = {
            "article-files": await _upload(ann, "/api/article-files/uploads", "a.md"),
            "media": await _upload(ann, "/api/media/uploads", "a.mp4"),
        }
    share = shared["shares"][0]["id"]
    await service.admin.execute(
        """insert into forebay.transcript (share_id, owner_id, source, segments, text)
           select id, owner_id, 'speech', '[]', $2 from forebay.share where id = $1""",
        int(share),
        text,
    )
    instance = await service.admin.fetchval(
        """insert into forebay.attachment_instance (owner_id, source, key, title)
           select id, 'lark', 'of-ann', $1 from forebay.owner where name = 'ann' returning id""",
        text,
    )
    attachment = await service.admin.fetchval(
        """insert into forebay.attachment (owner_id, instance_id, key, name, status)
           select owner_id, id, 'a', $2, 'FAILED' from forebay.attachment_instance where id = $1 returning id""",
        instance,
        text,
    )
    values = {
        "article_id": str(article["id"]),
        "slug": "of-ann",
        "key": "of-ann",
        "version": "1",
        "task_id": str(tasks["tasks"][0]["id"]),
        "search_id": str(saved["id"]),
        "share_id": str(share),
        "form": "txt",
        "instance_id": str(instance),
        "attachment_id": str(attachment),
        "source": "lark",
    }
    return values, {place: {"upload_id": upload} for place, upload in uploads.items()}


async def _made(client: httpx.AsyncClient, path: str, body: Any) -> Any:
    answer = await client.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def _upload(client: httpx.AsyncClient, path: str, name: str) -> str:
    about = f"filename {b64encode(name.encode()).decode()}"
    headers = {"upload-length": "5", "tus-resumable": "1.0.0", "upload-metadata": about}
    answer = await client.post(path, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"].rpartition("/")[2]
