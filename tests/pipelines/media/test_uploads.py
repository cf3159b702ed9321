"""A file of one's own becomes a share, without a download."""

from __future__ import annotations

import base64
from pathlib import Path

from forebay.pipelines.media.intake import FILES, media_intake, media_scans
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


async def test_an_upload_in_parts_becomes_a_share(dsn: str, tmp_path: Path, samples: Samples) -> None:
    """By tus, which goes on after the line broke."""
    half, name = len(samples.clip) // 2, base64.b64encode(b"Weir.mp4").decode()
    async with (
        media_bed(dsn, tmp_path, media_intake, media_scans) as bed,
        serving(dsn, media, media_intake, media_scans, data_dir=str(tmp_path)) as service,
        service.client("ann", **{"tus-resumable": "1.0.0"}) as ann,
    ):
        size = {"upload-length": str(len(samples.clip)), "upload-metadata": f"filename {name}"}
        begun = await ann.post(FILES.uploads_path, headers=size)
        assert begun.status_code == 201, begun.text
        place, kind = begun.headers["location"], {"content-type": "application/offset+octet-stream"}
        sent = await ann.patch(place, content=samples.clip[:half], headers=kind | {"upload-offset": "0"})
        assert (sent.status_code, sent.headers["upload-offset"]) == (204, str(half))
        await bed.bed.run()
        assert [share["fileState"] for share in (await ann.get("/api/shares")).json()["shares"]] in ([], ["waiting"])
        sent = await ann.patch(place, content=samples.clip[half:], headers=kind | {"upload-offset": str(half)})
        assert sent.headers["upload-offset"] == str(len(samples.clip))
        await bed.bed.finish()
        (share,) = (await ann.get("/api/shares")).json()["shares"]
        assert (share["fileState"], share["title"], share["kind"]) == ("ready", "Weir.mp4", "video")
        assert (await ann.get(share["file"]["url"])).content == samples.clip
