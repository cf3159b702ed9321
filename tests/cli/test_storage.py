"""`forebay storage`, and what the doctor says of the store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forebay.cli import _doctor_files
from forebay.db.pool import open_pool
from forebay.engine.db.writes import Writer
from forebay.errors import ForebayError
from forebay.settings import Settings
from forebay.storage import Blobs, Stored, open_store
from forebay.storage.local import LocalStore
from tests._servers import run_apart
from tests.cli._run import Cli, ask
from tests.cli.test_doctor import findings


def _put(dsn: str, folder: Path, *texts: str, keep: bool = True) -> list[Stored]:
    """Files of ann's, or blobs without files."""
    made: list[Stored] = []

    async def put() -> None:
        async with await open_pool(dsn, size=2, name="forebay tests") as pool:
            blobs = Blobs(pool, open_store(Settings(data_dir=folder / "data")))
            ask(dsn, "insert into forebay.owner (name) values ('ann') on conflict do nothing")
            owner = ask(dsn, "select id from forebay.owner where name = 'ann'")
            made.extend([await blobs.put(text.encode(), owner_id=owner, name="x.txt") for text in texts])
            async with pool.acquire() as conn:
                await Writer().apply(conn, [each.write() for each in made] if keep else [])

    run_apart(put())
    return made


def test_usage(cli: Cli, dsn: str, tmp_path: Path) -> None:
    assert cli.run("storage", "usage").out == "0 blobs, 0 B\n"
    _put(dsn, tmp_path, "one", "one", "three")
    _put(dsn, tmp_path, "loose", keep=False)
    shown = cli.run("storage", "usage", "--json").json
    assert shown == {
        "blobs": 3, "bytes": 13, "loose_blobs": 1, "loose_bytes": 5, "waste": 0, "waste_bytes": 0,
        "owners": [{"owner": "ann", "files": 3, "bytes": 8}],
    }  # fmt: skip
    text = cli.run("storage", "usage").out
    assert "3 blobs, 13 B\n1 of them, 5 B, belong to no file\n" in text


def test_check(cli: Cli, dsn: str, tmp_path: Path) -> None:
    first, second, _ = _put(dsn, tmp_path, "one", "two", "three")
    good = cli.run("storage", "check", "--deep")
    assert (good.code, good.out) == (0, "3 blobs, 11 B, read: none damaged\n")
    (missing,) = (tmp_path / "data" / "blobs").glob(f"??/{first.sha256[2:]}-*")
    (changed,) = (tmp_path / "data" / "blobs").glob(f"??/{second.sha256[2:]}-*")
    missing.unlink()
    changed.write_bytes(b"owt")
    shallow, deep = cli.run("storage", "check"), cli.run("storage", "check", "--deep", "--json")
    assert (shallow.code, deep.code) == (1, 1)
    key = f"{first.sha256[:2]}/{missing.name}"
    assert f"{key} is missing (1 file: {first.file_id})\n" in shallow.out
    assert shallow.out.endswith("3 blobs, 11 B, checked: 1 damaged\n")
    kinds = {damage["kind"]: damage["file_ids"] for damage in deep.json["damages"]}
    assert kinds == {"missing": [str(first.file_id)], "content": [str(second.file_id)]}


def test_pieces_of_uploads_are_no_strangers(cli: Cli, tmp_path: Path) -> None:
    blobs = tmp_path / "data" / "blobs"
    for key, text in ((f"ab/{'0' * 62}-7", "nobody's"), ("uploads/3/a-piece", "half a file")):
        (blobs / key).parent.mkdir(parents=True)
        (blobs / key).write_text(text)
    told = "0 blobs, 0 B, checked: none damaged\n1 object, 8 B, in the store but unknown to this database\n"
    assert cli.run("storage", "check").out == told


def test_clean(cli: Cli, dsn: str, tmp_path: Path) -> None:
    _put(dsn, tmp_path, "kept")
    _put(dsn, tmp_path, "loose", keep=False)
    assert cli.run("storage", "clean").out == "0 objects deleted\n"
    ask(dsn, "update forebay.blob set touched_at = touched_at - interval '11 minutes'")
    refused = cli.run("storage", "clean", "--grace", "9min")
    assert (refused.code, "must be at least 10min: a blob being stored has no file yet" in refused.err) == (2, True)
    assert cli.run("storage", "clean", "--grace", "10min", "--json").json == {"deleted": 1}
    assert cli.run("storage", "check").code == 0


def test_a_wrong_setting(cli: Cli) -> None:
    refused = cli.run("storage", "check", FOREBAY_STORAGE_URL="ftp://example.test/x")
    assert (refused.code, refused.err) == (2, "forebay: FOREBAY_STORAGE_URL: must be s3://bucket/prefix or a folder\n")


def test_the_doctor_tries_the_store(cli: Cli, tmp_path: Path) -> None:
    _, found = findings(cli)
    assert found["storage"][0]["text"].startswith(f"{tmp_path}/data/blobs, ")
    assert not (tmp_path / "data" / "blobs").exists()
    (tmp_path / "data" / "blobs").mkdir(parents=True)
    _, found = findings(cli)
    assert found["storage"][0]["level"] == "OK"
    assert [each for each in (tmp_path / "data" / "blobs").rglob("*") if each.is_file()] == []
    (tmp_path / "file").write_text("not a folder")
    for url in ("ftp://example.test/x", str(tmp_path / "file"), "s3://tests/x"):
        code, found = findings(
            cli,
            FOREBAY_STORAGE_URL=url,
            FOREBAY_STORAGE_ENDPOINT="http://127.0.0.1:1",
            FOREBAY_STORAGE_ACCESS_KEY="key",
            FOREBAY_STORAGE_SECRET_KEY="hunter2",
        )
        assert (code, found["storage"][0]["level"]) == (1, "FAIL"), url
        assert "hunter2" not in str(found)


def test_the_doctor_knows_what_captions_need(cli: Cli) -> None:
    _, found = findings(cli, FOREBAY_CAPTION_URL="https://ai.example.test/v1", FOREBAY_CAPTION_KEY="hunter2")
    assert (found["captions"][0]["level"], found["captions"][0]["fix"]) == ("FAIL", "set FOREBAY_CAPTION_MODEL")
    _, found = findings(cli, FOREBAY_CAPTION_URL="https://ai.example.test/v1", FOREBAY_CAPTION_MODEL="eyes")
    assert found["captions"][0]["text"] == "eyes at ai.example.test"


def test_the_doctor_knows_what_speech_needs(cli: Cli, tmp_path: Path) -> None:
    _, found = findings(cli)
    assert found["speech"][0]["text"] == "tiny.en on this machine"
    _, found = findings(cli, FOREBAY_SPEECH_MODEL_DIR=str(tmp_path))
    assert (found["speech"][0]["level"], found["speech"][0]["fix"]) == ("FAIL", "fix FOREBAY_SPEECH_MODEL_DIR")
    _, found = findings(cli, FOREBAY_SPEECH_URL="https://ai.example.test/v1")
    assert (found["speech"][0]["level"], found["speech"][0]["fix"]) == ("FAIL", "set FOREBAY_SPEECH_MODEL")
    given = {"FOREBAY_SPEECH_URL": "https://ai.example.test/v1", "FOREBAY_SPEECH_MODEL": "ears"}
    assert findings(cli, **given)[1]["speech"][0]["text"] == "ears at ai.example.test"


def test_a_store_that_forgets_is_told(tmp_path: Path) -> None:
    class Forgetful(LocalStore):
        async def find(self, key: str) -> None:
            return None

    with pytest.raises(ForebayError, match=f"^{tmp_path} did not return what was written$"):
        asyncio.run(_doctor_files._try_out(Forgetful(tmp_path)))
