"""A file of one's own becomes a share, without a download."""

from __future__ import annotations

from pathlib import Path

from forebay.pipelines.media.intake import media_intake, media_scans
from forebay.pipelines.media.steps import media
from tests.api._service import serving
from tests.pipelines.media._bed import media_bed
from tests.pipelines.media._samples import Samples, needs_ffmpeg

pytestmark = needs_ffmpeg


async def test_an_uploaded_file_becomes_a_share(dsn: str, tmp_path: Path, samples: Samples) -> None:
    async with (
        media_bed(dsn, tmp_path, media_intake, media_scans) as bed,
        serving(dsn, media, media_intake, media_scans, data_dir=str(tmp_path)) as service,
        service.client("ann") as ann,
        service.client("bob") as bob,
    ):
        sent = await ann.post("/api/jobs", data={"pipeline": "media"}, files={"file": ("Weir.mp4", samples.clip)})
        assert sent.status_code == 201, sent.text
        (waiting,) = (await ann.get("/api/shares")).json()["shares"]
        assert (waiting["title"], waiting["url"], waiting["file"]) == ("Weir.mp4", None, None)
        wrong = await ann.post("/api/jobs", data={"pipeline": "media"}, files={"file": ("notes.txt", b"words")})
        told = "file: is text/plain; accepted are video/*, audio/*, image/*"
        assert (wrong.status_code, wrong.json()["detail"]) == (422, told)
        await bed.bed.finish()
        (share,) = (await ann.get("/api/shares")).json()["shares"]
        assert (share["id"], share["fileState"], share["kind"]) == (waiting["id"], "ready", "video")
        assert (await ann.get(share["file"]["url"])).content == samples.clip
        assert (await bob.get("/api/shares")).json()["shares"] == []
        found = (await ann.get("/api/search", params={"q": "weir"})).json()["hits"]
        assert [(hit["kind"], hit["ref"]) for hit in found] == [("share", share["id"])]
