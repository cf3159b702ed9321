"""How sources are declared, and what is wrong with it, by file and field."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from forebay.errors import ConfigError
from forebay.services.egress import open_egress
from forebay.services.sources import SettingNames, Sources, SourceSpec, load_sources, open_source, read_sources
from forebay.services.sources.names import matches, moved_name
from forebay.services.sources.source_url import checked_place
from forebay.settings import Settings

EXAMPLES = "file:///srv/drop, s3://bucket/prefix, ftp://host/path, ftps://host/path or sftp://user@host/path"
HAS_PASSWORD = "url: contains a password: name its environment variable under secrets instead"
NO_ROOTS = "url: folders are not allowed until FOREBAY_SHEETS_ROOTS names the permitted ones"
KEY = "SHA256:" + "a" * 43
GOOD: dict[str, dict[str, Any]] = {
    "file": {"url": "file:///srv/drop"},
    "s3": {"url": "s3://bucket/in", "secrets": {"access_key": "A_KEY", "secret_key": "A_SECRET"}},
    "ftp": {"url": "ftp://files.example/in"},
    "ftps": {"url": "ftps://ann@files.example", "secrets": {"password": "A_SECRET"}},
    "sftp": {"url": "sftp://ann@files.example/in", "secrets": {"password": "A_SECRET"}, "host_keys": [KEY]},
}


NAMES = SettingNames("FOREBAY_SHEETS_SOURCES", "FOREBAY_SHEETS_ROOTS")


def declared(kind: str = "file", **changes: Any) -> dict[str, Any]:
    return {"name": "shelf", "owner": "ada"} | GOOD[kind] | changes


def read(folder: Path, roots: Sequence[Path] = (Path("/srv"),)) -> Sources:
    return read_sources(folder, roots, NAMES)


def loaded(folder: Path, roots: Sequence[Path] = (Path("/srv"),)) -> list[SourceSpec]:
    """All of them. Raises: ConfigError with everything that is wrong."""
    found = read(folder, roots)
    if found.problem:
        raise ConfigError(found.problem)
    return found.good


def put(folder: Path, name: str, data: dict[str, Any]) -> None:
    (folder / name).write_text(json.dumps(data))


def test_all_kinds(tmp_path: Path) -> None:
    for kind in GOOD:
        put(tmp_path, f"{kind}.json", declared(kind, name=kind, sheet={"columns": {"title": "Name"}, "any": [1]}))
    put(tmp_path, "off.json", declared(name="off", enabled=False, url="file:///elsewhere"))
    (tmp_path / "notes.txt").write_text("not one of them")
    found = loaded(tmp_path)
    assert [each.name for each in found] == sorted(GOOD)
    assert found[0].options == {"columns": {"title": "Name"}, "any": [1]}
    assert found[0].settle_s == 30
    assert load_sources(None) == []


def test_toml(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('name = "a"\nowner = "ada"\nurl = "file:///srv"\nschedule = "*/5 * * * *"\n')
    assert loaded(tmp_path)[0].schedule == "*/5 * * * *"


def test_everything_is_told_at_once(tmp_path: Path) -> None:
    put(tmp_path, "a.json", declared(after="burn", settle_s=-1, colour="red"))
    put(tmp_path, "b.json", declared("sftp", name="b", host_keys=[], secrets={"access_key": "X"}, tls="explicit"))
    put(tmp_path, "c.json", declared(name="c"))
    put(tmp_path, "d.json", declared(name="c", url="file:///etc"))
    put(tmp_path, "e.json", declared(name="e", url="file:///etc"))
    (tmp_path / "f.toml").write_text("name =")
    with pytest.raises(ConfigError) as told:
        loaded(tmp_path)
    lines = str(told.value).splitlines()
    assert lines[0] == "declarations of sources are invalid:"
    begins = [
        "a.json: settle_s: ",
        "a.json: after: ",
        "a.json: colour: ",
        "b.json: secrets.access_key: is not used by sftp://",
        "b.json: secrets: password, key or key_file is required",
        "b.json: host_keys: are required; `ssh-keyscan files.example` shows them: verify them with its operator",
        "b.json: tls: is only for ftps://",
        "d.json: name: c is the name of c.json, too",
        "e.json: url: /etc is not under /srv, which FOREBAY_SHEETS_ROOTS allows",
        "f.toml: is not valid TOML: ",
    ]
    assert len(lines) == len(begins) + 1
    assert all(line.startswith(begin) for line, begin in zip(lines[1:], begins, strict=True))


def test_one_that_is_wrong_stops_no_other(tmp_path: Path) -> None:
    put(tmp_path, "a.json", declared(name="good"))
    put(tmp_path, "b.json", declared(name="bad", owner="bob", after="burn"))
    put(tmp_path, "c.json", declared(name="outside", url="file:///etc"))
    put(tmp_path, "d.json", declared(name="good"))
    put(tmp_path, "e.json", declared(name="outside"))
    put(tmp_path, "f.json", {"name": ["x"]})
    (tmp_path / "torn.toml").write_text("name =")
    found = read(tmp_path)
    assert [each.name for each in found.good] == ["good", "outside"]
    assert [(each.name, each.owner) for each in found.wrong] == [
        ("bad", "bob"), ("outside", "ada"), ("good", "ada"), ("f", None), ("torn", None),
    ]  # fmt: skip
    assert load_sources(tmp_path, [Path("/srv")]) == found.good
    assert found.find("good") is found.good[0]
    with pytest.raises(ConfigError, match=r"^declarations of sources are invalid:\nb.json: after: "):
        found.find("bad")
    with pytest.raises(ConfigError, match=r"^declarations of sources are invalid:\ntorn.toml: is not valid TOML: "):
        found.find("torn")
    with pytest.raises(
        ConfigError, match=r"^there is no source 'other': declare it in the folder FOREBAY_SHEETS_SOURCES"
    ):
        found.find("other")


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="FOREBAY_SHEETS_SOURCES: there is no folder"):
        loaded(tmp_path / "gone")
    put(tmp_path, "a.json", declared())
    with pytest.raises(ConfigError, match=NO_ROOTS):
        loaded(tmp_path, roots=())


@pytest.mark.parametrize(
    ("kind", "changes", "why"),
    [
        ("file", {"url": 5}, "url: must be a URL such as sftp://user@host/path"),
        ("file", {"url": "/srv/drop"}, f"url: must be {EXAMPLES}"),
        ("file", {"url": "http://x/"}, "url: must be file:///srv/drop, s3://bucket/prefix"),
        (
            "file",
            {"url": "file://srv/drop"},
            "must have three slashes, as in file:///srv/drop: folders are on this machine",
        ),
        ("file", {"url": "file:///srv/../etc"}, "url: has '..' in its path, which is not a file name"),
        ("file", {"url": "file:///srv/%2e%2e/etc"}, "url: has '..' in its path"),
        (
            "file",
            {"url": "file:///srv/a%0ab"},
            "url: has 'a\\nb' in its path, which has invisible characters in its name",
        ),
        ("file", {"url": "file:///srv?x=1"}, "url: must have nothing after its path; write ? and # as %3F and %23"),
        ("file", {"url": f"file:///{'x/' * 600}"}, "url: has a path of more than 1000 characters"),
        (
            "s3",
            {"url": "s3://Bad_Bucket/x"},
            "must name a bucket, as in s3://bucket/prefix; its keys belong under secrets",
        ),
        ("ftp", {"url": "ftp://ann:hunter2@x/"}, HAS_PASSWORD),
        ("ftp", {"url": "ftp://0x7f.1/"}, "url: has the host '0x7f.1'"),
        ("ftp", {"url": "ftp://x:0/"}, "url: has the port '0'"),
        ("ftp", {"url": "ftp://[::1/"}, "url: is not a URL: "),
        ("ftp", {"url": "ftp://a%0d%0ab@x/"}, "url: has invisible characters in its user"),
        ("ftp", {"url": "ftp://ann@x/"}, "secrets: password is required for a user"),
        ("ftp", {"anonymous": True}, "anonymous: is only for s3://; for FTP, omit the user in the URL"),
        ("ftp", {"endpoint": "https://x/"}, "endpoint: is only for s3://"),
        ("s3", {"endpoint": "localhost"}, "endpoint: must begin with http:// or https://"),
        ("s3", {"secrets": {}}, "secrets: access_key and secret_key are required, or else anonymous = true"),
        ("s3", {"secrets": {"access_key": "hunter2!"}}, "secrets.access_key: String should match pattern"),
        ("sftp", {"url": "sftp://files.example/"}, "url: must name a user, as in sftp://user@host/path"),
        (
            "sftp",
            {"host_keys": "MD5:aa"},
            "'MD5:aa' is neither a fingerprint such as SHA256:… nor a line of known_hosts",
        ),
        ("sftp", {"host_keys": "ssh-rsa " + "A" * 33}, "is neither a fingerprint such as SHA256:"),
        (
            "sftp",
            {"secrets": {"password": "FOREBAY_X"}},
            "FOREBAY_X is a setting of forebay and not for sources",
        ),
        ("file", {"patterns": ["../*"]}, "patterns: '../*' is not a pattern such as *.csv or 2026/**/*.csv"),
        ("file", {"patterns": "/*.csv"}, "is not a pattern such as *.csv"),
        ("file", {"patterns": "**/**/**/x"}, "is not a pattern such as *.csv"),
        ("file", {"after": "move", "move_to": "../done"}, "move_to: must be a folder within the source, such as taken"),
        ("file", {"move_to": "done"}, 'move_to: is only for after = "move"'),
        ("file", {"schedule": "every day"}, "schedule: 'every day' is not a cron expression: "),
        ("file", {"schedule": "0 0 */31 * 1#5"}, "schedule: '0 0 */31 * 1#5' names a time that never comes"),
        ("file", {"schedule": "0 0 31 2 *"}, "schedule: '0 0 31 2 *' "),
        ("file", {"timezone": "Mars/Base"}, "timezone: there is no time zone 'Mars/Base'"),
        ("file", {"name": "A b"}, "name: "),
        ("file", {"owner": ""}, "owner: "),
    ],
)
def test_what_is_wrong(tmp_path: Path, kind: str, changes: dict[str, Any], why: str) -> None:
    put(tmp_path, "a.json", declared(kind, **changes))
    with pytest.raises(ConfigError, match=re.escape(why)) as told:
        loaded(tmp_path)
    assert "hunter2" not in str(told.value)


def test_places() -> None:
    shown = {
        "sftp://ann@Files.Example/in/": "sftp://files.example/in",
        "ftp://[2001:db8::1]:2121/a%20b": "ftp://[2001:db8::1]:2121/a b",
        "ftps://x": "ftps://x/",
        "s3://bucket": "s3://bucket/",
        "file://localhost/srv/drop": "file:///srv/drop",
    }
    assert {text: str(checked_place(text)) for text in shown} == shown
    assert checked_place("sftp://ann@x/~/in").path == "~/in"
    assert checked_place("ftp://x/~").path == "~"


def test_tls_by_port() -> None:
    ports = {"ftps://x:990/": True, "ftps://x/": False}
    for url, implicit in ports.items():
        assert SourceSpec.model_validate(declared("ftp", url=url)).is_implicit_tls is implicit
    chosen = SourceSpec.model_validate(declared("ftp", url="ftps://x:990/", tls="explicit"))
    assert not chosen.is_implicit_tls


@pytest.mark.parametrize(
    ("path", "pattern", "is_meant"),
    [
        ("a.csv", "*.csv", True),
        ("A.CSV", "*.csv", True),
        ("sub/a.csv", "*.csv", True),
        ("sub/a.csv", "sub/*.csv", True),
        ("sub/deep/a.csv", "sub/*.csv", False),
        ("sub/deep/a.csv", "sub/**/*.csv", True),
        ("sub/a.csv", "sub/**/*.csv", True),
        ("a.csv", "sub/**/*.csv", False),
        ("sub/a.csv", "**/a.csv", True),
        ("sub/a.csv", "sub/**", True),
        ("price-1.csv", "price-[0-9].csv", True),
        ("price-x.csv", "price-[!0-9].csv", True),
        ("price-1.csv", "price-?.csv", True),
        ("sub/a.csv", "sub?a.csv", False),
    ],
)
def test_patterns(path: str, pattern: str, is_meant: bool) -> None:
    assert matches(path, pattern) is is_meant


def test_moved_names() -> None:
    assert re.fullmatch(r"taken/a\.[0-9a-f]{8}\.csv", moved_name("taken/a.csv", "1-1"))
    assert re.fullmatch(r"taken/noext\.[0-9a-f]{8}", moved_name("taken/noext", "1-1"))
    assert moved_name("a.csv", "1-1") != moved_name("a.csv", "1-2")


@pytest.mark.parametrize(("kind", "package"), [("s3", "obstore"), ("ftp", "aioftp"), ("sftp", "asyncssh")])
async def test_packages_that_are_missing(kind: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("s3", "ftp", "ftp_client", "sftp"):
        monkeypatch.delitem(sys.modules, f"forebay.services.sources.{module}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    settings = Settings(egress_confine=False)
    install = "pip install 'forebay[sources]'"
    async with open_egress(settings) as egress:
        with pytest.raises(ConfigError, match=re.escape(f"{kind}:// needs the package {package}: {install}")):
            async with open_source(SourceSpec.model_validate(declared(kind)), egress, settings):
                pass
