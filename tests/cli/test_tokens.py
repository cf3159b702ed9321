"""`forebay tokens`: made, listed and ended; the secret is printed once and kept nowhere."""

from __future__ import annotations

import pytest

from forebay.identity.secrets import digest
from tests.cli._run import Cli, ask


@pytest.fixture
def peopled(cli: Cli) -> Cli:
    """With ann, a user, and root, an administrator."""
    assert cli.run("users", "add", "ann", "--link").code == 0
    assert cli.run("users", "add", "root", "--admin", "--link").code == 0
    return cli


def test_the_secret_is_alone_on_standard_output(peopled: Cli, dsn: str) -> None:
    made = peopled.run("tokens", "add", "ci", "--user", "ann", "--scope", "read", "--expires", "90d")
    assert made.code == 0
    secret = made.out.strip()
    assert secret.startswith("fbt_")
    assert made.err == "Token 1 of ann: read; valid for 90 d. Shown only once:\n"
    assert ask(dsn, "select name from forebay.api_token where hash = %s", digest(secret)) == "ci"
    assert secret not in peopled.run("tokens", "list").out + peopled.run("tokens", "list", "--json").out
    assert (
        ask(dsn, "select action from forebay.audit where actor like 'cli:%%' order by id desc limit 1") == "add_token"
    )


def test_tokens_are_listed_by_holder(peopled: Cli) -> None:
    assert peopled.run("tokens", "list").out == "There are no such tokens.\n"
    peopled.run("tokens", "add", "ci", "--user", "ann")
    peopled.run("tokens", "add", "ops", "--user", "root", "--scope", "admin", "--scope", "read")
    service = peopled.run("tokens", "add", "web", "--service")
    assert service.err == "Token 3 of the service: read, write; valid until it is revoked. Shown only once:\n"
    listed = peopled.run("tokens", "list", "--json").json
    assert [(one["id"], one["name"], one["user"], one["scopes"]) for one in listed] == [
        ("3", "web", None, ["read", "write"]),
        ("2", "ops", "root", ["admin", "read"]),
        ("1", "ci", "ann", ["read", "write"]),
    ]
    assert [one["name"] for one in peopled.run("tokens", "list", "--user", "ann", "--json").json] == ["ci"]
    assert [one["name"] for one in peopled.run("tokens", "list", "--service", "--json").json] == ["web"]
    assert "the service" in peopled.run("tokens", "list").out


def test_a_token_is_revoked(peopled: Cli, dsn: str) -> None:
    token = peopled.run("tokens", "add", "ci", "--user", "ann", "--json").json
    assert peopled.run("tokens", "revoke", token["id"]).out == "token 1 is revoked now\n"
    assert peopled.run("tokens", "revoke", "1", "--json").json == {"id": "1", "changed": False}
    assert "revoked" in peopled.run("tokens", "list").out
    assert ask(dsn, "select count(*) from forebay.audit where action = 'revoke_token'") == 1


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["add", "ci"], "name the holder of the token: --user NAME or --service"),
        (["add", "ci", "--user", "ann", "--service"], "name the holder of the token: --user NAME or --service"),
        (["add", "ci", "--user", "bob"], "there is no user 'bob'"),
        (
            ["add", "ci", "--user", "ann", "--scope", "admin"],
            "only tokens of administrators can have the scope `admin`",
        ),
        (["add", "ci", "--service", "--scope", "admin"], "only tokens of administrators can have the scope `admin`"),
        (["add", "ci", "--user", "ann", "--expires", "0"], "expires: must be positive and at most 3650d"),
        (["add", "ci", "--user", "ann", "--expires", "soon"], "'soon' is not a duration"),
        (["add", "", "--user", "ann"], "name: must have 1 to 100 characters"),
        (["list", "--user", "bob"], "there is no user 'bob'"),
        (["list", "--user", "ann", "--service"], "--user and --service exclude each other"),
        (["revoke", "7"], "there is no token 7: `forebay tokens list` shows all"),
    ],
)
def test_what_cannot_be_is_refused(peopled: Cli, dsn: str, args: list[str], complaint: str) -> None:
    refused = peopled.run("tokens", *args)
    assert refused.code == 2
    assert complaint in refused.err
    assert ask(dsn, "select count(*) from forebay.api_token") == 0
