"""Detection on test data of other projects: a share of right answers instead of a ratio of times."""

import asyncio

from bench.detection import default_corpora, measure_all
from bench.detection.score import as_table
from bench.harness import Context


async def run(context: Context) -> None:
    corpora = default_corpora()
    scores = await asyncio.to_thread(measure_all, corpora)
    context.report.detection = as_table(scores, complete=corpora.sources is not None)
    context.report.detection_is_complete = corpora.sources is not None
