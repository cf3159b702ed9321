"""Attachments in the browser: what senders announced, its files and voucher, and what failed again."""

from __future__ import annotations

from tests.web._looks_attachments import add_file, add_instance, deliver, lively
from tests.web.conftest import Site


def test_files_are_looked_at_and_those_that_failed_are_retried(site: Site) -> None:
    lively(site)
    hidden = add_instance(site, "B0B", "Not of Ann", owner="bob")
    add_file(site, hidden, "secret.pdf")
    ann = site.person()
    page = ann.open("/attachments")
    page.get_by_role("link", name="Pump for the lower basin").click()
    page.get_by_role("heading", name="Pump for the lower basin", level=1).wait_for()
    page.get_by_text("1 of 3 files, 1 failed").wait_for()
    page.get_by_text("The server answers 404.").wait_for()
    page.get_by_text("Waterworks").wait_for()
    page.get_by_role("button", name="Download offer.xlsx again").click()
    page.get_by_text("1 file is downloaded again.").wait_for()
    page.get_by_role("row", name="offer.xlsx").get_by_text("Waiting").wait_for()
    page.get_by_role("link", name="Attachments").first.click()
    page.get_by_role("link", name="Travel to the weir").wait_for()
    assert page.get_by_text("Not of Ann").count() == 0


def test_rejected_deliveries_are_found(site: Site) -> None:
    deliver(site, "ACCEPTED")
    deliver(site, "REJECTED", "the signature does not match")
    ann = site.person()
    page = ann.open("/attachments/deliveries")
    page.get_by_role("button", name="Rejected").click()
    page.get_by_text("The signature does not match.").wait_for()
    assert page.get_by_role("row").count() == 2  # with the header
