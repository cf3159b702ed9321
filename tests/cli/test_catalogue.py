"""`forebay catalogue`."""

from __future__ import annotations

from tests.cli._run import Cli, ask

_PUT = "select forebay.put_product(forebay.owner_id('ann'), 'stock', 'k', null, null, null, array['mug'], '{}')"


def test_catalogues_are_listed_shared_and_dropped(cli: Cli, dsn: str) -> None:
    assert cli.run("catalogue", "list", "--json").json == []
    ask(dsn, _PUT)
    listed = cli.run("catalogue", "list").out
    assert "stock" in listed
    assert "ann" in listed
    told = cli.run("catalogue", "share", "stock", "--owner", "ann")
    assert told.out == "catalogue stock of ann is shared with all users\n"
    (row,) = cli.run("catalogue", "list", "--json").json
    assert (row["name"], row["owner"], row["products"], row["shared"]) == ("stock", "ann", 1, True)
    told = cli.run("catalogue", "share", "stock", "--owner", "ann", "--off")
    assert told.out == "catalogue stock of ann is no longer shared\n"
    assert cli.run("catalogue", "drop", "stock", "--owner", "ann").out == "catalogue stock of ann is deleted\n"
    again = cli.run("catalogue", "drop", "stock", "--owner", "ann")
    assert (again.code, again.err) == (2, "forebay: ann has no catalogue 'stock'\n")
    nobody = cli.run("catalogue", "drop", "stock", "--owner", "zoe")
    assert nobody.err == "forebay: there is no owner 'zoe'\n"
