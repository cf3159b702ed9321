"""Sheets for browser tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.web.conftest import Site

_ROWS = """
with lane as (
    insert into forebay.lane (owner_id, priority)
    select id, 7 from forebay.owner where name = 'ann' returning id, owner_id
), job as (
    insert into forebay.job (owner_id, pipeline_id, lane_id, state, steps, total, done, not_found, error, file,
                             started_at, finished_at)
    select l.owner_id, p.id, l.id, 'DONE', 0, $1::int, $1::int - $1::int / 1000,
           $1::int / 1000 - $1::int / 10000, $1::int / 10000, 'stock.csv', now(), now()
    from lane l, forebay.pipeline p where p.name = 'sheets' returning id, owner_id, pipeline_id
), sheet as (
    insert into forebay.sheet (owner_id, job_id, name, kind, columns, mapping, read_at)
    select owner_id, id, 'stock.csv', 'csv', array['Name', 'Price', 'Link'],
           '{"fields": {"title": "Name", "price": "Price", "url": "Link"}, "decimal_mark": "."}', now() from job
    returning id, owner_id, job_id
), file as (
    insert into forebay.intake_file (target, reference, owner_id, job_id, intake_job_id, name, size, received_at)
    select 'sheets', id, owner_id, job_id, job_id, 'stock.csv', 12000000, now() from sheet
), item as (
    insert into forebay.item (job_id, n, owner_id, pipeline_id, status, verdict, input, result)
    select j.id, n, j.owner_id, j.pipeline_id, s.status, s.status,
           jsonb_build_object('line', n + 1, 'row', jsonb_build_object(
               'Name', 'Lamp no. ' || n, 'Price', n % 97 || '.50', 'Link', 'https://example.org/lamps/' || n)),
           case when n % 1000 > 0 then jsonb_build_object('look_up', jsonb_build_object(
               'title', 'Lamp ' || n, 'price', n % 97 || '.00', 'currency', 'EUR', 'provider', 'catalogue',
               'score', 0.5 + n % 50 / 100.0,
               'strategy', 'title', 'reasons', 'the titles are alike', 'url', 'https://example.com/' || n)) end
    from job j, generate_series(1, $1::int) n, lateral (
        select case when n % 10000 = 0 then 'ERROR' when n % 1000 = 0 then 'NOT_FOUND' else 'DONE' end) c(status),
        lateral (select c.status::forebay.item_status) s(status)
)
select id from job
"""


def sheet_with_rows(site: Site, rows: int) -> str:
    """A sheet of lamps that has ended: each 10,000th row failed, each other 1,000th was not found. Returns its job."""
    found = site.sql(_ROWS, rows)
    site.sql("analyze forebay.item")
    return str(found[0]["id"])
