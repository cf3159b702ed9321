"""The pages of jobs, pending items and dead letters, in their states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.web._pages import Look, job_with_a_failure, lively, waiting_job

if TYPE_CHECKING:
    from tests.web._browser import Watched


def select(page: Watched) -> None:
    page.page.get_by_role("region", name="Dead letters").get_by_role("checkbox").first.check()
    page.page.get_by_role("region", name="Selected dead letters").wait_for()


def ask_to_retry_all(page: Watched) -> None:
    page.page.get_by_role("button", name="Retry all").click()
    page.page.get_by_role("button", name="Retry 1 item").wait_for()


LOOKS = [
    Look("/jobs", "empty", "Jobs"),
    Look("/jobs", "lively", "Jobs", lively),
    Look("/jobs?state=CANCELLED", "nothing matches", "Jobs", waiting_job),
    Look("/jobs/{job}", "waiting", "Pages", waiting_job),
    Look("/jobs/{job}", "ended", "Pages", job_with_a_failure),
    Look("/jobs/{job}?tab=items", "items", "Pages", job_with_a_failure),
    Look("/jobs/{job}?tab=pending", "pending", "Pages", waiting_job),
    Look("/jobs/{job}?tab=timeline", "timeline", "Pages", job_with_a_failure),
    Look("/jobs/{job}?tab=record", "record", "Pages", job_with_a_failure),
    Look("/jobs/{job}/items/2", "failed", "Item 2", job_with_a_failure),
    Look("/jobs/{job}/items/2", "waiting", "Item 2", waiting_job),
    Look("/jobs/999", "gone", "Job 999", allowed=frozenset({404})),
    Look("/pending", "lively", "Pending", waiting_job),
    Look("/dead-letters", "empty", "Dead letters"),
    Look("/dead-letters", "groups", "Dead letters", job_with_a_failure),
    Look(
        "/dead-letters?pipeline=pages&step=fetch&class=data",
        "letters",
        "Dead letters",
        job_with_a_failure,
        after=select,
    ),
    Look("/dead-letters", "retry all", "Dead letters", job_with_a_failure, after=ask_to_retry_all),
]
