"""The pages of media and their states."""

from __future__ import annotations

import io
import json
import wave
from typing import TYPE_CHECKING, Any

from tests.api._service import put_file
from tests.web._pages import Look

if TYPE_CHECKING:
    from forebay.storage import Stored
    from tests.web._browser import Watched
    from tests.web.conftest import Site

SAID = (
    "A forebay is the pool in front of a turbine.",
    "The water is stored first.",
    "Then it flows at the rate that the machine can take.",
)


def recording(seconds: int = 6) -> bytes:
    """A silent WAV."""
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(2 * 8000 * seconds))
    return made.getvalue()


def add(site: Site, url: str, **columns: Any) -> str:
    """A share of Ann's, as the steps would have left it."""
    added = site.api().post("/api/shares", json={"url": url})
    assert added.status_code == 201, added.text
    shared = added.json()["shares"][0]
    share = str(shared["id"])
    if columns:  # nothing waits any more
        assert site.api().post(f"/api/jobs/{shared['jobId']}/cancel").is_success
    for name, value in columns.items():
        site.sql(f"update forebay.share set {name} = $2 where id = $1", int(share), value)
    return share


def add_recording(site: Site, stored: Stored | None = None, **other: Any) -> str:
    """A share whose file and transcript are there: a sound, or this file with other columns."""
    if stored is None:
        stored = site.run(put_file(site.service, "ann", recording(), "forebay.wav", "audio/wav"))
    columns = {
        "title": "What a forebay is for",
        "author": "Ada",
        "kind": "audio",
        "duration_s": 6.0,
        "audio_codec": "pcm_s16le",
        "container": "wav",
        "language": "en",
        "download_status": "completed",
        "description": "Recorded at the weir, on a quiet morning.",
        "file_id": stored.file_id,
        "size": stored.size,
        "sha256": bytes.fromhex(stored.sha256),
        "transcript_status": "completed",
    }
    share = add(site, "https://example.org/forebay", **columns | other)
    segments = [{"start": 2.0 * at, "end": 2.0 * at + 1.9, "text": text, "words": []} for at, text in enumerate(SAID)]
    site.sql(
        """insert into forebay.transcript (share_id, owner_id, language, source, segments, text)
           select id, owner_id, 'en', 'speech', $2::text::jsonb, $3 from forebay.share where id = $1""",
        int(share),
        json.dumps(segments),
        "\n".join(SAID),
    )
    return share


def lively(site: Site) -> dict[str, str]:
    add(site, "https://example.org/waiting.mp4")
    failed = add(
        site,
        "https://example.org/gone.mp4",
        title="A film that is not there any more, with a title that does not fit into one line",
        kind="video",
        download_status="failed",
        download_attempts=4,
        download_error="the server answers 410",
    )
    add(site, "https://example.org/list", title="Six lectures", kind="playlist", download_status="completed")
    removed = add(
        site,
        "https://example.org/old",
        title="An old one",
        kind="video",
        duration_s=3723.0,
        download_status="completed",
    )
    site.sql("update forebay.share set file_removed_at = clock_timestamp() where id = $1", int(removed))
    return {"share": add_recording(site), "failed": failed, "removed": removed}


def play_line(page: Watched) -> None:
    page.page.get_by_role("button", name=SAID[1]).click()
    page.page.locator("[data-line='1'][aria-current]").wait_for()


LOOKS = [
    Look("/media", "empty", "Media"),
    Look("/media", "lively", "Media", lively),
    Look('/media?kind=["image"]', "nothing matches", "Media", lively),
    Look("/media/{share}", "transcript", "What a forebay is for", lively, after=play_line),
    Look("/media/{failed}", "failed", "A film that is not there any more", lively),
    Look("/media/{removed}", "removed", "An old one", lively, is_rare=True),
    Look("/media/999", "gone", "Media", allowed=frozenset({404})),
]
