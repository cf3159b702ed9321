"""`forebay attachments`."""

from __future__ import annotations

import json

from forebay.pipelines.attachments.steps import attachments
from tests.cli._run import Cli, ask

_RECEIVE = """
insert into forebay.owner (name) values ('ann') on conflict do nothing;
insert into forebay.attachment_instance (owner_id, source, key, title, state, voucher)
select o.id, 'lark', v.key, v.title, 'APPROVED', 'PARTIAL'
from forebay.owner o, (values ('A-1', 'Expenses'), ('A-2', null)) as v(key, title) where o.name = 'ann';
insert into forebay.attachment (owner_id, instance_id, key, name, status, error, attempts, last_attempt_at)
select i.owner_id, i.id, v.name, v.name, v.status, v.error, 2, now()
from forebay.attachment_instance i join (values
    ('A-1', 'a.pdf', 'FAILED', 'files.test answered 404 Not Found'), ('A-1', 'b.pdf', 'FAILED', 'no'),
    ('A-2', 'c.pdf', 'FAILED', 'no'), ('A-2', 'd.pdf', 'PENDING', null)) as v(key, name, status, error) on v.key = i.key
order by v.name
"""


def test_instances_are_listed_shown_and_retried(cli: Cli, dsn: str) -> None:
    assert cli.run("attachments", "list", "--json").json == []
    ask(dsn, "select forebay.register_unknown(%s::jsonb)", json.dumps(attachments.definition()))  # as the API does
    ask(dsn, _RECEIVE)
    second, first = cli.run("attachments", "list", "--json").json
    assert (first["key"], first["files"]) == ("A-1", {"pending": 0, "downloaded": 0, "failed": 2})
    assert [each["key"] for each in cli.run("attachments", "list", "--pending", "--json").json] == ["A-2"]
    assert len(cli.run("attachments", "list", "--failed", "--json").json) == 2
    table = cli.run("attachments", "list").out
    assert all(text in table for text in ("Expenses", "A-2", "APPROVED", "PARTIAL"))

    shown = cli.run("attachments", "show", first["id"]).out
    assert shown.startswith("lark A-1: Expenses, APPROVED\nvoucher PARTIAL")
    assert "files.test answered 404 Not Found" in shown
    assert [each["name"] for each in cli.run("attachments", "show", second["id"], "--json").json["all_files"]] == [
        "c.pdf", "d.pdf",
    ]  # fmt: skip
    for command in ("show", "retry"):
        assert cli.run("attachments", command, "99").err == "forebay: there is no instance 99\n"

    # Without a worker: a retry waits for one.
    status = cli.run("attachments", "status", "--json").json
    assert (status["pending_count"], status["failed_count"], status["processed_count"]) == (1, 3, 0)
    assert (status["is_running"], status["is_healthy"], status["up_since_seconds"]) == (False, False, None)
    assert "files are downloaded again by jobs " in cli.run("attachments", "retry", first["id"]).out
    assert cli.run("attachments", "retry", "--all").out.startswith("1 files are downloaded again by jobs ")
    assert cli.run("attachments", "retry", "--all").out == "0 files are downloaded again\n"
    for given in ((), (first["id"], "--all")):
        assert "give the id of an instance, or --all" in cli.run("attachments", "retry", *given).err
    told = cli.run("attachments", "status").out.splitlines()
    assert "pending_count        4" in told
    assert ask(dsn, "select count(*) from forebay.job") == 2
