-- The files of an instance are settled: keeps its voucher, and submits a job if a delivery came after its form was read.
create or replace function forebay.settle_attachments(instance_id bigint, voucher text, voucher_id bigint, problem text)
returns void language plpgsql as $$
declare
    settled forebay.attachment_instance;
begin
    update forebay.attachment_instance i set voucher = settle_attachments.voucher, voucher_id = settle_attachments.voucher_id,
        problem = settle_attachments.problem, settled_at = clock_timestamp()
    where i.id = settle_attachments.instance_id
    returning * into settled;
    if settled.received_at > settled.seen_at then
        perform forebay.submit('attachments', jsonb_build_object('instance_id', settled.id),
                               (select o.name from forebay.owner o where o.id = settled.owner_id),
                               meta => jsonb_build_object('instanceId', settled.id::text));
    end if;
end $$;
