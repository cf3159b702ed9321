-- Lists shares with the columns of lists, in the order of the ids. The status is that of the item of the last job; if the job
-- was deleted, whether there is a file. Volatile, so that it sees rows that the same statement added.
create or replace function forebay.show_shares(ids bigint[]) returns table (
    id bigint, owner_id bigint, url text, title text, description text, author text, site text, language text, kind text,
    published_at timestamptz, duration_s double precision, width int, height int, video_codec text, audio_codec text,
    container text, size bigint, sha256 text, file_id bigint, file_type text, poster_id bigint, file_removed_at timestamptz,
    playlist_id bigint, playlist_index int, entries bigint, ready_entries bigint, priority smallint, platform_data jsonb,
    download_status text, download_attempts int, download_error text, download_started_at timestamptz,
    download_completed_at timestamptz, transcript_status text, transcript_error text, has_transcript boolean,
    created_at timestamptz, updated_at timestamptz, job_id bigint, item_n int, job_state text, status text, error jsonb, progress jsonb
) language sql volatile as $$
select s.id, s.owner_id, s.url, s.title, s.description, s.author, s.site, s.language, s.kind, s.published_at, s.duration_s, s.width,
       s.height, s.video_codec, s.audio_codec, s.container, s.size, encode(s.sha256, 'hex'), s.file_id, f.media_type, s.poster_id,
       s.file_removed_at, s.playlist_id, s.playlist_index, e.entries, e.ready, s.priority, s.platform_data,
       s.download_status::text, s.download_attempts, s.download_error, s.download_started_at, s.download_completed_at,
       s.transcript_status, s.transcript_error, exists (select from forebay.transcript t where t.share_id = s.id),
       s.created_at, s.updated_at, s.job_id, s.item_n, j.state::text,
       case when i.status = 'PENDING' and l.is_leased then 'PROCESSING'
            else coalesce(i.status::text,
                          case when s.job_id is null or j.finished_at is null and j.id is not null then 'PENDING'
                               when s.file_id is null and s.kind is distinct from 'playlist' then 'ERROR' else 'DONE' end) end,
       i.error, case when i.status = 'PENDING' and l.is_leased then i.progress end
from unnest(ids) with ordinality u(id, place)
join forebay.share s on s.id = u.id
left join forebay.file f on f.id = s.file_id
left join forebay.job j on j.id = s.job_id
left join forebay.item i on i.job_id = s.job_id and i.n = s.item_n
cross join lateral (
    select exists (select from forebay.lease l where l.job_id = s.job_id and l.ns @> s.item_n) as is_leased) l
left join lateral (
    select count(*) as entries, count(*) filter (where c.download_status = 'completed') as ready
    from forebay.share c where c.playlist_id = s.id) e on s.kind = 'playlist'
order by u.place
$$;
