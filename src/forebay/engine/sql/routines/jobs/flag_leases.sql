-- Flags leases that were claimed while their job was being cancelled, and notifies their workers.
create or replace function forebay.flag_leases(job_id bigint) returns void language plpgsql as $$
begin
    update forebay.lease l set cancelled = true where l.token = any(array(
        select u.token from forebay.lease u where u.job_id = flag_leases.job_id and not u.cancelled
        order by u.token for update skip locked));
    if found then
        perform pg_notify('forebay', 'cancel ' || job_id);
    end if;
end $$;
