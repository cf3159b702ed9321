"""A pipeline that goes out by the guarded way, with a browser at hand: for whoever looks at its numbers."""

from __future__ import annotations

from contextlib import suppress

from pydantic import BaseModel

from forebay import Context, Pipeline, resources
from forebay.services.egress import FetchRequest, Origin, Refused, Unreachable

NOBODY = "http://127.0.0.1:1/"


class Errand(BaseModel):
    what: str = "nothing"


errands: Pipeline[Errand] = Pipeline("errands", Errand)


@errands.step()
async def go(ctx: Context, errand: Errand) -> int:
    """Asks for what the guard refuses, and for what it lets through where nobody listens."""
    await ctx.get(resources.browser)
    http = await ctx.get(resources.http)
    with suppress(Refused):
        await http.get("http://127.0.0.1/", purpose="errands.go")
    with suppress(Unreachable):
        await http.fetch(FetchRequest(NOBODY, "errands.go", 1000, 30.0, trusted=Origin.of(NOBODY)))
    return 1
