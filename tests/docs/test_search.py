"""What the how-to about searches shows, works."""

from __future__ import annotations

from pathlib import Path

from forebay.pipelines.indexing.steps import index
from forebay.settings import Settings
from forebay.testing import testbed
from tests.api._live import live
from tests.cli._run import ask
from tests.docs._blocks import ROOT, blocks, execute
from tests.docs._shell import run_shell

PAGE = "docs/howto/search.md"


async def test_documents_of_a_pipeline(dsn: str, tmp_path: Path) -> None:
    minutes = execute(PAGE)["minutes"]
    settings = Settings(data_dir=tmp_path, embedding_model="")
    async with testbed(dsn, [minutes, index], settings=settings, migrated=True) as bed:
        await bed.submit(minutes, {"id": "7", "title": "Meeting", "text": "We talked about the weir."})
        await bed.submit(minutes, {"id": "8", "title": "Other", "text": "Nothing.", "retracted": True})
        await bed.finish()
        assert await bed.pool.fetchval("select array_agg(ref) from forebay.search_document") == ["7"]


def test_commands(dsn: str, tmp_path: Path) -> None:
    search, models = blocks(PAGE, "sh")
    with live(dsn) as (address, service):
        given = {"ADDRESS": address, "TOKEN": service.tokens["ann"], "FOREBAY_DATABASE_URL": dsn}
        assert '"hits":[]' in run_shell(search, tmp_path, given)
        assert "model" in run_shell(models, tmp_path, given)


def test_the_function_for_sql(dsn: str) -> None:
    texts = (ROOT / PAGE).read_text("utf-8").split("`")
    (call,) = (text for text in texts if text.startswith("select forebay.put_document("))
    ask(dsn, "select forebay.owner_id('ann')")
    ask(dsn, call)
    assert ask(dsn, "select kind || ref from forebay.search_document") == "minutes7"
