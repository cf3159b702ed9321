"""`forebay users`: people are let in and kept out, and passwords are seen nowhere."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import asyncpg
import pytest

from forebay.errors import InvalidField
from forebay.identity import accounts
from forebay.identity.secrets import digest, is_password
from tests.cli._run import PATIENCE, Cli, ask

PASSWORD = "correct horse battery"


def add(cli: Cli, name: str, *options: str) -> None:
    added = cli.run("users", "add", name, *options, given=f"{PASSWORD}\n")
    assert added.code == 0, added.err


def password_of(dsn: str, name: str) -> str:
    stored: str = ask(dsn, "select password from forebay.account where name = %s", name)
    return stored


def test_a_user_is_added_with_a_password_from_standard_input(cli: Cli, dsn: str) -> None:
    added = cli.run("users", "add", "ann", given=f"{PASSWORD}\n")
    assert (added.code, added.out) == (0, "ann can sign in as a user\n")
    stored = password_of(dsn, "ann")
    assert PASSWORD not in stored
    assert asyncio.run(is_password(stored, PASSWORD))
    admin = cli.run("users", "add", "root", "--admin", "--json", given=f"{PASSWORD}\n").json
    assert (admin["name"], admin["role"], admin["disabled_at"]) == ("root", "admin", None)
    assert "owner_id" not in admin
    assert ask(dsn, "select count(*) from forebay.audit where action = 'add_account' and actor like 'cli:%%'") == 2


@pytest.mark.parametrize(("repeated", "code"), [(PASSWORD, 0), ("something else", 130)])
def test_a_person_is_asked_twice_and_nothing_shows(cli: Cli, dsn: str, repeated: str, code: int) -> None:
    ours, theirs = os.openpty()
    asked = subprocess.Popen(
        [sys.executable, "-m", "forebay", "users", "add", "ann"],
        cwd=cli.folder,
        env=cli.env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen = b""
    for prompt, answer in ((b"Password", PASSWORD), (b"Repeat the password", repeated)):
        while prompt not in seen:
            seen += os.read(ours, 1000)
        os.write(ours, f"{answer}\n".encode())
    if code:
        while b"Password" not in seen.partition(b"do not match")[2]:  # what is typed before the prompt is dropped
            seen += os.read(ours, 1000)
        os.write(ours, b"\x04")
    assert asked.wait(PATIENCE) == code
    os.close(ours)
    assert PASSWORD.encode() not in seen
    assert ask(dsn, "select count(*) from forebay.account") == (0 if code else 1)


def test_a_link_is_alone_on_standard_output_and_works_once(cli: Cli, dsn: str) -> None:
    added = cli.run("users", "add", "ann", "--link")
    place, _, secret = added.out.strip().partition("#")
    assert place == "http://127.0.0.1:8080/sign-in"
    assert added.err == "Signs in ann as a user, once, within an hour:\n"
    query = "select a.name from forebay.invitation i join forebay.account a on a.id = i.account_id where i.hash = %s"
    assert ask(dsn, query, digest(secret)) == "ann"
    again = cli.run("users", "link", "ann", "--url", "https://work.example/", "--json").json
    assert again["link"].startswith("https://work.example/sign-in#fbl_")


def test_an_invitation_is_alone_on_standard_output(cli: Cli, dsn: str) -> None:
    invited = cli.run("users", "invite")
    place, _, secret = invited.out.strip().partition("#")
    assert place == "http://127.0.0.1:8080/sign-in"
    assert invited.err == "Creates the account of a user, once, within a week:\n"
    kept = "select account_id is null and role = 'user' from forebay.invitation where hash = %s"
    assert ask(dsn, kept, digest(secret)) is True
    again = cli.run("users", "invite", "--admin", "--url", "https://work.example/", "--json").json
    assert again["link"].startswith("https://work.example/sign-in#fbl_")
    assert (again["id"], again["role"]) == ("2", "admin")
    assert again["created_by"].startswith("cli:")
    assert "hash" not in again


def test_open_invitations_are_listed_and_ended(cli: Cli, dsn: str) -> None:
    none = cli.run("users", "invitations")
    assert (none.code, none.out) == (0, "There are no open invitations: `forebay users invite` creates one.\n")
    assert cli.run("users", "invitations", "--json").json == []
    secret = cli.run("users", "invite").out.strip().partition("#")[2]
    cli.run("users", "invite", "--admin")
    add(cli, "ann", "--link")  # a link that signs in is no invitation
    shown = cli.run("users", "invitations").out
    for word in ("id", "admin", "cli:", "valid until"):
        assert word in shown
    newest, oldest = cli.run("users", "invitations", "--json").json
    assert ((newest["id"], newest["role"]), (oldest["id"], oldest["role"])) == (("2", "admin"), ("1", "user"))
    assert secret not in str(oldest)
    assert cli.run("users", "uninvite", "1").out == "invitation 1 is revoked\n"
    assert ask(dsn, "select count(*) from forebay.invitation where hash = %s", digest(secret)) == 0
    assert cli.run("users", "uninvite", "2", "--json").json == {"id": "2", "changed": True}
    again = cli.run("users", "uninvite", "2")
    assert again.code == 2
    assert "there is no open invitation 2: `forebay users invitations` shows them" in again.err
    assert cli.run("users", "uninvite", "3").code == 2  # ann's link
    assert cli.run("users", "link", "ann").code == 0
    audited = "select count(*) from forebay.audit where action = 'revoke_invitation' and actor like 'cli:%%'"
    assert ask(dsn, audited) == 2


def test_what_an_owner_has_is_given_to_a_user_only_on_purpose(known: Cli, dsn: str) -> None:
    known.run("submit", "notes", "--owner", "ann", given='{"body": "x"}\n')
    refused = known.run("users", "add", "ann", given=f"{PASSWORD}\n")
    assert refused.code == 2
    assert "'ann' already owns jobs: `forebay users add ann --adopt` gives them to the new user" in refused.err
    assert ask(dsn, "select count(*) from forebay.account") == 0
    add(known, "ann", "--adopt")
    assert ask(dsn, "select count(*) from forebay.job j join forebay.account a using (owner_id)") == 1
    add(known, "bob", "--adopt")  # who has nothing
    again = known.run("users", "add", "ann", "--adopt", given=f"{PASSWORD}\n")
    assert "'ann' is already in use: `forebay users list` shows all users" in again.err


def test_users_are_listed_with_what_they_get(cli: Cli) -> None:
    assert cli.run("users", "list").out == "There are no users yet: `forebay users add NAME` creates one.\n"
    add(cli, "ann")
    cli.run("users", "weight", "ann", "2.5")
    cli.run("users", "limits", "ann", "--open-jobs", "7")
    shown = cli.run("users", "list")
    for word in ("ann", "active", "2.5", "7"):
        assert word in shown.out
    (user,) = cli.run("users", "list", "--json").json
    assert (user["name"], user["weight"], user["max_open_jobs"], user["max_open_items"]) == ("ann", 2.5, 7, None)


def test_a_disabled_user_is_out_at_once(cli: Cli, dsn: str) -> None:
    add(cli, "ann")
    ask(
        dsn, "insert into forebay.session (hash, account_id, expires_at) select '', id, 'infinity' from forebay.account"
    )
    assert cli.run("users", "disable", "ann").out == "ann is disabled now\n"
    assert ask(dsn, "select count(*) from forebay.session") == 0
    assert cli.run("users", "disable", "ann").out == "ann is disabled already\n"
    refused = cli.run("users", "link", "ann")
    assert refused.code == 2
    assert "'ann' is disabled: `forebay users enable ann` enables it again" in refused.err
    assert cli.run("users", "enable", "ann", "--json").json["changed"] is True
    assert cli.run("users", "link", "ann").code == 0


def test_there_is_always_an_administrator(cli: Cli) -> None:
    add(cli, "root", "--admin")
    add(cli, "ann")
    for command in (["disable", "root"], ["role", "root", "user"]):
        refused = cli.run("users", *command)
        assert refused.code == 2
        assert (
            "'root' is the only administrator: first make another user one with `forebay users role NAME admin`"
            in refused.err
        )
    assert cli.run("users", "role", "ann", "admin").out == "ann is an administrator now\n"
    assert cli.run("users", "role", "ann", "admin").out == "ann is an administrator already\n"
    assert cli.run("users", "role", "root", "user").out == "root is a user now\n"


def test_weights(cli: Cli, dsn: str) -> None:
    add(cli, "ann")
    assert cli.run("users", "weight", "ann", "2").out == "ann has weight 2 now\n"
    assert cli.run("users", "weight", "ann", "2", "--json").json == {"name": "ann", "weight": 2.0, "changed": False}
    assert ask(dsn, "select weight from forebay.owner where name = 'ann'") == 2
    assert "must be between 0.01 and 1000" in cli.run("users", "weight", "ann", "0").err


def test_limits_are_set_shown_and_given_back(known: Cli, dsn: str) -> None:
    known.run("submit", "notes", "--owner", "ann", given='{"body": "x"}\n' * 3)
    given = known.run("users", "limits", "ann", "--open-jobs", "5", "--submits-per-minute", "60")
    assert given.out == (
        "open jobs           1 of 5\nopen items          3 of 20,000,000 (default)\nsubmits per minute  60\n"
    )
    back = known.run("users", "limits", "ann", "--open-jobs", "default", "--json").json
    assert back["changed"] is True
    assert back["limits"] == {
        "open_jobs": {"most": 100_000, "is_default": True, "now": 1},
        "open_items": {"most": 20_000_000, "is_default": True, "now": 3},
        "submits_per_minute": {"most": 60, "is_default": False, "now": None},
    }
    assert known.run("users", "limits", "ann", "--open-jobs", "default", "--json").json["changed"] is False
    assert ask(dsn, "select count(*) from forebay.audit where action = 'set_owner_limits'") == 2


NOBODY = "'bob' is neither a user nor an owner of jobs: `forebay users list` shows the users"


@pytest.mark.parametrize(
    ("args", "given", "complaint"),
    [
        (["add", "Ann"], PASSWORD, "must be 2 to 100 of a-z, 0-9 and . _ @ + -, with a letter or digit at both ends"),
        (["add", "bob"], "short", "password: must have 10 to 200 characters"),
        (["add", "bob"], "", "standard input has no password: write it there, or use --link"),
        (["add", "bob", PASSWORD], "", "unexpected extra argument"),
        (["add", "ann"], PASSWORD, "'ann' is already in use: `forebay users list` shows all users"),
        (["disable", "bob"], "", "there is no user 'bob'"),
        (["link", "bob"], "", "there is no user 'bob'"),
        (["role", "ann", "king"], "", "'king' is not one of"),
        (["weight", "bob", "2"], "", NOBODY),
        (["limits", "bob"], "", NOBODY),
        (["uninvite", "7"], "", "there is no open invitation 7"),
        (["uninvite", "ann"], "", "'ann' is not a whole number"),
        (["limits", "ann", "--open-jobs", "-1"], "", "--open-jobs"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, dsn: str, args: list[str], given: str, complaint: str) -> None:
    add(cli, "ann")
    refused = cli.run("users", *args, given=given)
    assert refused.code == 2
    assert complaint in refused.err
    assert ask(dsn, "select count(*) from forebay.owner") == 1


async def test_the_first_administrator_needs_a_free_name(dsn: str) -> None:
    conn = await asyncpg.connect(dsn)
    await accounts.add(conn, accounts.FIRST_ADMIN, "user", None, "test")
    with pytest.raises(
        InvalidField, match="'admin' is a user without admin rights: make another user an administrator"
    ):
        await accounts.first_admin(conn)
    await conn.close()


async def test_the_first_administrator_may_have_submitted_before(dsn: str) -> None:
    conn = await asyncpg.connect(dsn)
    await conn.execute("select forebay.owner_id($1)", accounts.FIRST_ADMIN)
    assert (await accounts.first_admin(conn)).role == "admin"
    await conn.close()


def test_a_name_is_checked_before_a_password_is_asked_for(cli: Cli) -> None:
    add(cli, "ann")
    refused = cli.on_terminal("users", "add", "ann")
    assert refused.code == 2
    assert refused.out == "forebay: name: 'ann' is already in use: `forebay users list` shows all users\n"
