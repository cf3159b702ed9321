"""Stores that cannot be used, in words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from forebay.errors import ConfigError, InvalidField, ResourceError, TransientError
from forebay.settings import Settings
from forebay.storage import Store, open_store
from forebay.storage.spool import Spool, spooled
from tests.storage._s3 import S3
from tests.storage.conftest import s3_settings


async def _put(store: Store) -> None:
    async with spooled(b"text", store.spool) as spool:
        await store.put("ab/c", spool, "text/plain")


@pytest.mark.parametrize("url", ["s3://", "s3://UPPER", "s3://bucket?x=1", "s3://key:hunter2@bucket/x"])
def test_addresses_that_are_none(url: str) -> None:
    wrong = r"^FOREBAY_STORAGE_URL: must be s3://bucket or s3://bucket/prefix, without anything else$"
    with pytest.raises(InvalidField, match=wrong):
        open_store(Settings(storage_url=url))


def test_folders(tmp_path: Path) -> None:
    assert open_store(Settings(data_dir=tmp_path)).place == f"{tmp_path}/blobs"
    assert open_store(Settings(storage_url=f"file://{tmp_path}/x")).place == f"{tmp_path}/x"
    assert open_store(Settings(storage_url=str(tmp_path))).place == str(tmp_path)
    with pytest.raises(InvalidField, match=r"^FOREBAY_STORAGE_URL: must be s3://bucket/prefix or a folder$"):
        open_store(Settings(storage_url="file://elsewhere/x"))


async def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file")
    with pytest.raises(TransientError, match=f"^{tmp_path}/blobs cannot be used: Not a directory$"):
        await _put(open_store(Settings(data_dir=tmp_path)))


async def test_a_wrong_key(s3: S3, tmp_path: Path) -> None:
    store = open_store(s3_settings(s3, tmp_path, storage_secret_key=SecretStr("hunter2")))
    told = f"^{store.place} denies access: check its permissions and the FOREBAY_STORAGE_… settings$"
    for call in (_put(store), store.find("ab/c"), store.open("ab/c"), store.delete("ab/c")):
        with pytest.raises(ConfigError, match=told) as raised:
            await call
        assert "hunter2" not in str(raised.value)


async def test_a_bucket_that_is_not_there(s3: S3, tmp_path: Path) -> None:
    store = open_store(s3_settings(s3, tmp_path, storage_url="s3://no-such-bucket/x"))
    with pytest.raises(ConfigError, match=r"the bucket does not exist; create it, or fix FOREBAY_STORAGE_URL$"):
        _ = [page async for page in store.objects()]


async def test_a_server_that_is_away(tmp_path: Path) -> None:
    settings = Settings(
        data_dir=tmp_path,
        storage_url="s3://bucket/x",
        storage_endpoint="http://127.0.0.1:1",
        storage_access_key=SecretStr("key"),
        storage_secret_key=SecretStr("hunter2"),
    )
    with pytest.raises(TransientError, match=r"^s3://bucket/x failed: Generic S3 error") as raised:
        await _put(open_store(settings))
    assert "hunter2" not in str(raised.value)


async def test_a_put_that_was_given_up(tmp_path: Path) -> None:
    spool = Spool(tmp_path, None)
    await spool.fill(b"text")
    spool.discard()
    with pytest.raises(ResourceError, match=r"^the put was cancelled$"):
        await spool.into_file()
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - nothing to wait for


_MISSING = """
import sys
sys.modules["obstore"] = None
import forebay
from forebay.errors import ConfigError
from forebay.settings import Settings
from forebay.storage import open_store
try:
    open_store(Settings())
except ConfigError as error:
    print(error)
"""


def test_without_the_package_the_command_is_named() -> None:
    done = subprocess.run([sys.executable, "-c", _MISSING], capture_output=True, text=True, check=True)
    assert done.stdout == "blobs need a package that is not installed: pip install 'forebay[storage]'\n"
