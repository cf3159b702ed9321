"""S3: folders that are leapt over, buckets and keys that are not there, names that are none."""

from __future__ import annotations

from pathlib import Path

import obstore
import pytest
import trustme

from forebay.errors import ConfigError, TransientError
from forebay.services.egress import open_egress
from forebay.services.sources import open_source
from forebay.settings import Settings
from tests.services.egress._world import answering, certified, reply
from tests.services.sources._shelves import ENVIRON, Bucket, bucket
from tests.services.sources.conftest import Opens
from tests.services.sources.test_sources import look, whole
from tests.storage._s3 import S3, SECRET_KEY


@pytest.fixture
def shelf(s3: S3, folder: Path) -> Bucket:
    return bucket(s3, folder)


async def test_folders_are_leapt_over(shelf: Bucket, opens: Opens) -> None:
    for path in (*(f"m/{number}/x.csv" for number in range(20)), "a.csv", "m.csv", "m0.csv", "z.csv", "taken/z.csv"):
        await shelf.put(path)
    async with opens(shelf.declare()) as source:
        assert list(await look(source)) == ["a.csv", "m.csv", "m0.csv", "z.csv"]
        assert source.scan.seen == 6  # four files and two folders
    async with opens(shelf.declare(recursive=True, after="move")) as source:
        assert len(await look(source)) == 24
        assert source.scan.seen == 25


async def test_names_that_cannot_be_seen(shelf: Bucket, opens: Opens) -> None:
    assert shelf.store is not None
    await shelf.put("good.csv")
    await obstore.put_async(shelf.store, "turned\u202e.csv", b"")
    async with opens(shelf.declare()) as source:
        assert set(await look(source)) == {"good.csv"}
        assert source.scan.left_out[0].name == r"turned\u202e.csv"


async def test_no_bucket(shelf: Bucket, opens: Opens) -> None:
    async with opens(shelf.declare(url="s3://elsewhere/in")) as source:
        with pytest.raises(ConfigError, match="s3://elsewhere/in: the bucket does not exist"):
            await look(source)


async def test_nobody_in_particular(shelf: Bucket, opens: Opens) -> None:
    async with opens(shelf.declare(anonymous=True, secrets={})) as source:
        with pytest.raises(ConfigError, match="denies access: check its keys and their permissions"):
            await look(source)


async def test_the_keys_of_the_declaration(shelf: Bucket, opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment has for forebay's own store is not used, and not shown to others."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "else")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a token")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://192.0.2.1")
    await shelf.put("a.csv", b"mine")
    async with opens(shelf.declare()) as source:
        found = await look(source)
        assert await whole(source, found["a.csv"]) == b"mine"


async def test_a_server_that_is_down(shelf: Bucket, opens: Opens) -> None:
    async with answering(reply("", "503 Slow Down")) as site:
        declared = shelf.declare(endpoint=f"http://127.0.0.1:{site.port}", timeout_s=1)
        async with opens(declared) as source:
            with pytest.raises(TransientError, match="failed: "):
                await look(source)


async def test_tls(shelf: Bucket, settings: Settings, authority: trustme.CA) -> None:
    """Through a tunnel, by a certificate of an authority of the operator's."""
    listing = (
        '<?xml version="1.0"?><ListBucketResult><Name>tests</Name><KeyCount>1</KeyCount>'
        "<IsTruncated>false</IsTruncated>"
        "<Contents><Key>{}a.csv</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>&quot;x1&quot;</ETag>"
        "<Size>4</Size></Contents></ListBucketResult>"
    ).format(shelf.url.removeprefix("s3://tests/") + "/")
    async with answering(reply(listing), trust=certified(authority, "127.0.0.1")) as site:
        declared = shelf.declare(endpoint=f"https://127.0.0.1:{site.port}")
        async with open_egress(settings) as egress, open_source(declared, egress, settings, ENVIRON) as source:
            (found,) = (await look(source)).values()
            assert (found.path, found.version) == ("a.csv", "x1")
        assert SECRET_KEY not in "".join(site.heads)


async def test_certificates_that_cannot_be_read(shelf: Bucket, settings: Settings, tmp_path: Path) -> None:
    async with open_egress(settings) as egress:
        missing = settings.model_copy(update={"egress_ca_file": tmp_path / "gone.pem"})
        with pytest.raises(ConfigError, match=r"FOREBAY_EGRESS_CA_FILE .*gone\.pem cannot be read: No such file"):
            async with open_source(shelf.declare(), egress, missing, ENVIRON):
                pass
