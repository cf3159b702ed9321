"""`forebay doctor` finds every fault that it knows, and says how to fix it."""

# demands: S1-65, S1-90

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest
import trustme

from forebay.cli import doctor
from forebay.cli._doctor_database import _connections  # pyright: ignore[reportPrivateUsage]
from forebay.cli.doctor import (  # pyright: ignore[reportPrivateUsage]
    _egress,
    _here,
    _own_certificates,
    _sandbox,
)
from forebay.engine.db import checks
from forebay.runner.availability import Available
from forebay.services.browser import find_browser
from forebay.services.egress import confinement
from forebay.services.egress.confinement import why_not_confined
from forebay.settings import Settings
from tests.cli._run import Cli, Process, Result, ask, until

if TYPE_CHECKING:
    from pathlib import Path


Found = tuple[int, dict[str, list[dict[str, Any]]]]


def findings(cli: Cli, **variables: str) -> Found:
    """What is found without a browser, which takes a while to start."""
    return read(cli.run("doctor", "--json", **{"FOREBAY_BROWSER_PATH": "/nonexistent", **variables}))


def read(shown: Result) -> Found:
    """The exit code, and what was found about each thing."""
    found: dict[str, list[dict[str, Any]]] = {}
    for finding in shown.json["findings"]:
        found.setdefault(finding["about"], []).append(finding)
    assert shown.json["ok"] == (shown.code == 0)
    return shown.code, found


def test_all_is_well_with_a_worker(cli: Cli, dsn: str, fork: Callable[..., Process]) -> None:
    fork("worker").says("worker_started")
    until(lambda: ask(dsn, "select to_regclass('forebay.attempt_' || to_char(now() at time zone 'UTC', 'YYYYMMDD'))"))
    code, found = read(cli.run("doctor", "--json"))
    assert code == 0
    levels = {each["level"] for about, each_of in found.items() for each in each_of if about != "egress"}
    assert levels == {"OK"}
    shown = cli.run("doctor").out
    assert "OK    database    PostgreSQL" in shown
    assert ("→" in shown) == (why_not_confined() is not None)
    assert found["egress"][0]["level"] == ("OK" if why_not_confined() is None else "WARN")


def test_children_that_could_do_otherwise(tmp_path: Path) -> None:
    _, found = findings(Cli(tmp_path, FOREBAY_EGRESS_CONFINE="false"))
    (finding,) = found["egress"]
    assert finding["level"] == "WARN"
    assert finding["text"].endswith("but could bypass it: FOREBAY_EGRESS_CONFINE is false")
    assert finding["fix"] == "unset FOREBAY_EGRESS_CONFINE"


@pytest.mark.parametrize(("confine", "level"), [(None, "WARN"), (True, "FAIL")])
def test_a_kernel_that_confines_nobody(confine: bool | None, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "why_not_confined", lambda: "no user namespaces for this account")
    finding = _egress(Settings(egress_confine=confine))
    assert (finding.level, finding.text.rpartition(": ")[2]) == (level, "no user namespaces for this account")
    assert finding.fix == "allow user namespaces for this account, or give it CAP_SYS_ADMIN"


def test_no_packages_for_the_web(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forebay.cli.doctor.find_spec", lambda name: None if name in ("h2", "protego") else True)
    finding = _egress(Settings())
    assert (finding.level, finding.fix) == ("WARN", "pip install 'forebay[web]'")
    assert finding.text == "nothing can be fetched from the web without h2, protego"


def test_providers(tmp_path: Path) -> None:
    folder = tmp_path / "providers"
    folder.mkdir()
    cli = Cli(tmp_path, FOREBAY_SHEETS_PROVIDERS=str(folder))
    declared = 'name = "{}"\nsecrets.key = "SHOP_KEY"\nfunction = "asyncio:sleep"'
    (folder / "shop.toml").write_text(declared.format("shop"))
    good, missing = findings(cli)[1]["providers"]
    assert (good["level"], good["text"]) == ("OK", f"shop from {folder}")
    assert (missing["level"], missing["fix"]) == ("WARN", "set SHOP_KEY for the workers")
    assert len(findings(cli, SHOP_KEY="hunter2")[1]["providers"]) == 1
    (folder / "twin.toml").write_text(declared.format("shop"))
    (wrong,) = findings(cli)[1]["providers"]
    assert (wrong["level"], wrong["text"].splitlines()[1]) == (
        "FAIL",
        "twin.toml: name: shop is the name of shop.toml, too",
    )


def test_sources(tmp_path: Path) -> None:
    folder, drop = tmp_path / "sources", tmp_path / "drop"
    folder.mkdir()
    drop.mkdir()
    cli = Cli(tmp_path, FOREBAY_SHEETS_SOURCES=str(folder), FOREBAY_SHEETS_ROOTS=str(tmp_path))
    assert "sources" not in findings(Cli(tmp_path))[1]
    (none,) = findings(cli)[1]["sources"]
    assert (none["level"], none["text"]) == ("OK", f"none from {folder}")
    declared = 'name = "{}"\nowner = "ada"\nsettle_s = 0\nurl = "{}"\n'
    (folder / "a.toml").write_text(declared.format("drop", drop.as_uri()))
    (folder / "b.toml").write_text(declared.format("gone", (tmp_path / "gone").as_uri()))
    (folder / "c.toml").write_text(
        declared.format("old", "ftp://ann@127.0.0.1:1/") + 'secrets.password = "FTP_PASSWORD"'
    )
    (drop / "a.csv").touch()
    (drop / "link.csv").symlink_to("a.csv")
    here, gone, unset = findings(cli)[1]["sources"]
    assert (here["level"], here["text"]) == (
        "OK",
        f"drop: file://{drop} has 1 file to take; link.csv is a symbolic link",
    )
    assert (gone["level"], gone["text"]) == ("FAIL", f"gone: file://{tmp_path}/gone does not exist")
    assert gone["fix"] == "fix that: docs/howto/sources.md shows how they are declared"
    assert (unset["level"], unset["fix"]) == ("WARN", "set FTP_PASSWORD for the workers")
    _, _, down = findings(cli, FTP_PASSWORD="hunter2")[1]["sources"]
    assert (down["level"], down["fix"]) == ("WARN", "see whether it is up, and lets this machine in")
    assert down["text"] == "old: 127.0.0.1 could not be connected to: Connection refused"
    (folder / "d.toml").write_text(declared.format("old", "ftp://127.0.0.1/"))
    *others, wrong = findings(cli)[1]["sources"]
    assert [each["level"] for each in others] == ["OK", "FAIL", "WARN"]
    assert (wrong["level"], wrong["text"].splitlines()[1]) == ("FAIL", "d.toml: name: old is the name of c.toml, too")


def test_no_database(tmp_path: Path) -> None:
    code, found = findings(Cli(tmp_path, FOREBAY_DATABASE_URL="postgresql://ann:hunter2@127.0.0.1:1/app"))
    assert code == 1
    assert found["database"][0]["level"] == "FAIL"
    assert "hunter2" not in str(found)
    code, found = findings(Cli(tmp_path))
    assert (code, found["database"][0]["fix"]) == (1, "forebay up")
    assert found["disk"][0]["level"] in ("OK", "WARN")


def test_no_schema(tmp_path: Path, bare_dsn: str) -> None:
    code, found = findings(Cli(tmp_path, FOREBAY_DATABASE_URL=bare_dsn))
    assert (code, found["schema"][0]["level"], found["schema"][0]["fix"]) == (1, "FAIL", "forebay migrate")


def test_functions_of_another_release(cli: Cli, dsn: str) -> None:
    ask(dsn, "update forebay.part set routines = '0123' where name in ('engine', 'sheets') returning 1")
    code, found = findings(cli)
    assert (code, found["schema"][0]["level"], found["schema"][0]["fix"]) == (0, "WARN", "forebay migrate")
    assert "but the functions of engine, sheets belong to another release" in found["schema"][0]["text"]


def test_a_module_that_does_not_work(cli: Cli) -> None:
    code, found = findings(cli, FOREBAY_PIPELINES="absent")
    assert (code, found["pipelines"][0]["level"]) == (1, "FAIL")
    assert "'absent'" in found["pipelines"][0]["text"]


def test_work_without_a_worker(known: Cli) -> None:
    code, found = findings(known)
    assert (code, found["workers"][0]["level"]) == (0, "WARN")
    known.run("submit", "notes", '{"body": "x"}')
    code, found = findings(known)
    assert (code, found["workers"][0]["level"], found["workers"][0]["fix"]) == (1, "FAIL", "forebay worker")
    code, found = findings(known, FOREBAY_PIPELINES="forebay.example")
    assert "declares notes" in found["workers"][0]["fix"]


def test_a_parked_and_a_paused_queue(cli: Cli, dsn: str, fork: Callable[..., Process]) -> None:
    fork("worker").says("worker_started")
    cli.run("submit", "notes", '{"body": "unset"}')
    until(lambda: ask(dsn, "select parked from forebay.queue"))
    code, found = findings(cli)
    assert (code, found["queues"][0]["level"]) == (1, "FAIL")
    assert "no key for the size service" in found["queues"][0]["text"]
    ask(dsn, "select forebay.unpark_queue('notes.size')")
    ask(dsn, "select forebay.pause_queue('notes.size')")
    code, found = findings(cli)
    assert "notes.size is paused" in [each["text"] for each in found["queues"]]


def test_too_few_connections(cli: Cli) -> None:
    _, found = findings(cli, FOREBAY_PROCESSES="100", FOREBAY_POOL_SIZE="10")
    assert found["connections"][0]["level"] == "WARN"
    _, found = findings(cli, FOREBAY_PROCESSES="2", FOREBAY_POOL_SIZE="3", FOREBAY_STEP_TRANSACTIONS="7")
    assert "FOREBAY_PROCESSES x 12" in found["connections"][0]["text"]


def test_a_pooler_saves_no_connection_of_the_leader(dsn: str) -> None:
    """With an address past it, one worker is elected; each asks which of several addresses there is the primary."""

    def wanted(**settings: Any) -> int:
        server = checks.Server("18.0", 18, 100, read_only=False, now=datetime.now(UTC))
        text = _connections(server, Settings(processes=1, **settings), dsn).text
        return int(text.partition("may use ")[2].partition(" ")[0])

    pooled = wanted(prepared_statements=False)
    assert wanted() == pooled + 1
    assert wanted(prepared_statements=False, listen_url=dsn) == pooled + 1
    assert wanted(prepared_statements=False, listen_url="postgresql://one,two/db") == pooled + 2


def test_missing_partitions(known: Cli, dsn: str) -> None:
    tomorrow = "select 'forebay.attempt_' || to_char(now() at time zone 'UTC' + interval '1 day', 'YYYYMMDD')"
    name = ask(dsn, tomorrow)
    ask(dsn, "select forebay.make_partitions()")
    ask(dsn, f"drop table {name}")
    _, found = findings(known)
    assert found["history"][0]["level"] == "WARN"


def test_wake_ups_can_be_off(cli: Cli) -> None:
    _, found = findings(cli, FOREBAY_LISTEN="false", FOREBAY_POLL_S="2")
    assert found["wake-ups"][0]["text"] == "off; workers poll every 2.0 s"


def test_the_roles_of_the_api(cli: Cli) -> None:
    _, found = findings(cli)
    assert found["roles"][0]["text"] == "the roles of the API exist, with row-level security"


def test_accounts_that_can_do_more_than_they_need(cli: Cli, dsn: str) -> None:
    code, found = findings(cli)
    assert [each["level"] for each in found["accounts"]] == ["OK"]
    owners, worker = cli.env["FOREBAY_API_DATABASE_URL"], cli.env["FOREBAY_WORKER_DATABASE_URL"]
    code, found = findings(cli, FOREBAY_API_DATABASE_URL="", FOREBAY_WORKER_DATABASE_URL=owners)
    api, workers = found["accounts"]
    assert (code, api["level"], workers["level"]) == (0, "WARN", "WARN")
    assert api["text"] == "the API logs in as forebay, who is a superuser; the rights of forebay_api are sufficient"
    assert api["fix"] == (
        "as an administrator of the database: "
        "select forebay.make_login('forebay_api_login', 'forebay_api', 'PASSWORD'); "
        "then set FOREBAY_API_DATABASE_URL to an address with that account"
    )
    assert workers["text"].startswith("workers log in as forebay_api_login, who may change to forebay_api;")
    code, found = findings(cli, FOREBAY_ADMIN_DATABASE_URL=worker.replace("not%20a%20secret", "wrong"))
    (wrong,) = found["accounts"]
    assert (code, wrong["level"], wrong["fix"]) == (1, "FAIL", "fix FOREBAY_ADMIN_DATABASE_URL")
    assert 'password authentication failed for user "forebay_worker_login"' in wrong["text"]


def test_sessions_that_others_can_read(cli: Cli) -> None:
    public = {"FOREBAY_API_HOST": "0.0.0.0"}
    code, found = findings(cli, **public, FOREBAY_SECURE_COOKIES="false")
    assert (code, found["sessions"][0]["level"]) == (0, "WARN")
    assert found["sessions"][0]["text"] == (
        "the API listens on 0.0.0.0, and cookies may go over plain HTTP, where others can read them"
    )
    assert found["sessions"][0]["fix"] == "serve it by HTTPS, and unset FOREBAY_SECURE_COOKIES"
    for variables in (public, {"FOREBAY_SECURE_COOKIES": "false"}):
        assert findings(cli, **variables)[1]["sessions"][0]["level"] == "OK"


@pytest.fixture
def port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return str(free.getsockname()[1])


def test_a_proxy_that_is_not_trusted(cli: Cli, start: Callable[..., Process], port: str) -> None:
    address = {"FOREBAY_API_PORT": port, "FOREBAY_METRICS_TOKEN": "a long enough token"}
    _, found = findings(cli, **address)
    nobody = f"no API at http://127.0.0.1:{port} serves its metrics: not checked"
    assert [(each["level"], each["text"]) for each in found["proxies"]] == [("OK", nobody)]
    api = start("api", **address, FOREBAY_TRUSTED_PROXIES="192.0.2.1")
    api.says("api_started")
    site = f"http://127.0.0.1:{port}"
    until(lambda: _answers(site))
    _, found = findings(cli, **address)
    assert found["proxies"][0]["level"] == "OK"
    for _ in range(2):
        with urlopen(Request(f"{site}/healthz", headers={"X-Forwarded-For": "203.0.113.9"})):
            pass
    code, found = findings(cli, **address)
    assert (code, found["proxies"][0]["level"]) == (0, "WARN")
    assert found["proxies"][0]["text"] == (
        f"2 requests reached {site} through an untrusted proxy and count as the proxy's"
    )
    assert "FOREBAY_TRUSTED_PROXIES" in found["proxies"][0]["fix"]
    api.says("forwarded_header_ignored")
    assert api.said.count("forwarded_header_ignored") == 1
    assert "127.0.0.1" in api.said


def _answers(site: str) -> bool:
    try:
        with urlopen(f"{site}/healthz") as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def test_proxies_that_never_are(cli: Cli) -> None:
    _, found = findings(cli, FOREBAY_TRUSTED_PROXIES="10.0.0.0/24, nginx")
    assert found["proxies"][0]["level"] == "WARN"
    assert (
        found["proxies"][0]["text"]
        == "FOREBAY_TRUSTED_PROXIES: 'nginx' is not an address or network, so it matches no proxy"
    )


def test_chromium_does_not_trust_ones_own_authority(tmp_path: Path) -> None:
    bundle = tmp_path / "authority.pem"
    trustme.CA().cert_pem.write_to_path(str(bundle))
    finding = _own_certificates(Settings(egress_ca_file=bundle))
    assert finding.level == ("OK" if find_browser(Settings()) is None else "WARN")
    assert finding.text.endswith("not by Chromium: pages with such certificates get no screenshot")
    assert _own_certificates(Settings(egress_ca_file=bundle, browser_path=tmp_path / "none")).level == "OK"


def test_certificates_that_cannot_be_read(tmp_path: Path) -> None:
    finding = _own_certificates(Settings(egress_ca_file=tmp_path / "none.pem"))
    assert (finding.level, finding.fix) == ("FAIL", "fix the file, or unset FOREBAY_EGRESS_CA_FILE")
    assert finding.text.endswith("none.pem cannot be read: No such file or directory")


def test_misspelt_variables_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOREBAY_TEST_POSTGRES", raising=False)  # it is none of forebay's
    monkeypatch.setenv("FOREBAY_LISTN", "no")
    (finding,) = (each for each in _here(Settings()) if each.about == "settings")
    assert finding.level == "WARN"
    assert finding.text == "FOREBAY_LISTN is not a setting and has no effect: did you mean FOREBAY_LISTEN?"


@pytest.mark.parametrize(
    ("sandbox", "level", "text"),
    [
        (None, "WARN", "parsers see the files of this account, Chromium does not run: no user namespaces"),
        ("preferred", "WARN", "parsers see the files of this account: no user namespaces"),
        ("required", "FAIL", "parsers and Chromium do not run: no user namespaces"),
        ("off", "WARN", "parsers and Chromium see the files and the network of this account: FOREBAY_SANDBOX is off"),
    ],
)
def test_what_is_not_sandboxed_is_told(monkeypatch: pytest.MonkeyPatch, sandbox: Any, level: str, text: str) -> None:
    monkeypatch.setattr(doctor, "available", lambda: Available(None, "", None, "no user namespaces"))
    found = _sandbox(Settings(sandbox=sandbox))
    assert (found.level, found.text) == (level, text)


def test_gaps_of_a_sandbox_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "available", lambda: Available("bubblewrap", "bwrap", None, ""))
    monkeypatch.setattr(doctor, "gaps", lambda: ["system calls are not filtered"])
    found = _sandbox(Settings())
    assert (found.level, found.text) == ("WARN", "by bubblewrap, but system calls are not filtered")
