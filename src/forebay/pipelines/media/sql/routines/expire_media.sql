-- Removes the files of shares that were downloaded before a time, and the oldest of owners who have more bytes than the quota
-- allows; null: no limit. The shares stay, and can be downloaded again. Returns how many were removed.
create or replace function forebay.expire_media(older_than timestamptz, quota bigint, max_rows int)
returns int language plpgsql as $$
declare removed int;
begin
    with too_much as (
        select u.id from (
            select s.id, sum(s.size) over (partition by s.owner_id order by s.download_completed_at desc, s.id desc) as bytes
            from forebay.share s where s.file_id is not null and quota is not null) u
        where u.bytes > quota
    ), chosen as (
        select s.id from forebay.share s
        where s.file_id is not null and (s.download_completed_at < older_than or s.id in (select t.id from too_much t))
          and not exists (select from forebay.job j where j.id = s.job_id and j.finished_at is null)
        order by s.download_completed_at limit max_rows
        for update skip locked
    )
    update forebay.share s set file_id = null, file_removed_at = clock_timestamp(), updated_at = clock_timestamp()
    from chosen c where s.id = c.id;
    get diagnostics removed = row_count;
    return removed;
end $$;
