-- Removes items from leases: later reports of their workers are stale.
create or replace function forebay.cut_leases(job_id bigint, gone int4multirange) returns void language plpgsql as $$
declare touched bigint[];
begin
    touched := array(select l.token from forebay.lease l where l.job_id = cut_leases.job_id and l.ns && gone
                     order by l.token for update);
    update forebay.lease l set ns = l.ns - gone where l.token = any(touched);
    delete from forebay.lease l where l.token = any(touched) and isempty(l.ns);
end $$;
