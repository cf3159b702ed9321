"""The pages of attachments and their states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.web._pages import Look

if TYPE_CHECKING:
    from tests.web.conftest import Site


def add_instance(site: Site, key: str, title: str, voucher: str = "WAITING", owner: str = "ann") -> int:
    rows = site.sql(
        """insert into forebay.attachment_instance (owner_id, source, key, title, state, facts, voucher, read_at)
           select id, 'lark', $2, $3, 'APPROVED',
                  '[{"name": "Department", "value": "Waterworks"}, {"name": "Amount", "value": "1,240.50"}]',
                  $4, clock_timestamp()
           from forebay.owner where name = $1 returning id""",
        owner,
        key,
        title,
        voucher,
    )
    return int(rows[0]["id"])


def add_file(site: Site, instance: int, name: str, **columns: Any) -> None:
    site.sql(
        """insert into forebay.attachment (owner_id, instance_id, key, name)
           select owner_id, id, $2, $2 from forebay.attachment_instance where id = $1""",
        instance,
        name,
    )
    for column, value in columns.items():
        site.sql(
            f"update forebay.attachment set {column} = $3 where instance_id = $1 and name = $2", instance, name, value
        )


def deliver(site: Site, verdict: str, reason: str | None = None, instance: int | None = None) -> None:
    site.sql(
        """insert into forebay.attachment_delivery
               (owner_id, source, verdict, reason, key, event, bytes, ip, instance_id)
           select id, 'lark', $1, $2, 'd-1', 'approval_instance', 812, '192.0.2.9', $3
           from forebay.owner where name = 'ann'""",
        verdict,
        reason,
        instance,
    )


def lively(site: Site) -> dict[str, str]:
    partly = add_instance(site, "81D31358-93AF", "Pump for the lower basin")
    add_file(site, partly, "invoice.pdf", status="DOWNLOADED", size=120_400, sha256=b"\1" * 32, attempts=1)
    add_file(site, partly, "photo of the broken gate.jpg", attempts=2, error="the server answers 503")
    add_file(site, partly, "offer.xlsx", status="FAILED", attempts=4, error="the server answers 404")
    done = add_instance(site, "F6A1", "Travel to the weir", "READY")
    add_file(site, done, "ticket.pdf", status="DOWNLOADED", size=9_000, sha256=b"\2" * 32, attempts=1)
    deliver(site, "ACCEPTED", instance=partly)
    deliver(site, "DUPLICATE", instance=partly)
    deliver(site, "REJECTED", "the signature does not match")
    return {"instance": str(partly)}


LOOKS = [
    Look("/attachments", "empty", "Attachments"),
    Look("/attachments", "lively", "Attachments", lively),
    Look("/attachments?q=nothing", "nothing matches", "Attachments", lively, is_rare=True),
    Look("/attachments/{instance}", "partly", "Pump for the lower basin", lively),
    Look("/attachments/deliveries", "lively", "Deliveries", lively),
    Look("/attachments/status", "lively", "Status of attachments", lively),
    Look("/attachments/999", "gone", "Attachments", allowed=frozenset({404})),
]
