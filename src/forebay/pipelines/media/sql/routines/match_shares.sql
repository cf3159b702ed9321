-- Finds the ids of shares of the owner in forebay.owner_id, the newest first, before the one with id `before`: of these states of
-- the download and kinds (null: all), of a playlist (null: all that are not part of one), and with these words (null: any).
-- With row-level security, PostgreSQL cannot use the index of words, whose operators are not leakproof: it runs without.
create or replace function forebay.match_shares(
    states text[], kinds text[], playlist bigint, question text, before bigint, max_rows int
) returns bigint[] language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan as $$
declare
    start constant bigint := coalesce(before, 9223372036854775807);
    asked constant tsquery := forebay.document_question(question);
begin
    if question is not null then
        -- The newest thousand that match are all that a search shows.
        return array(
            select m.id from (
                select s.id, s.download_status, s.kind from forebay.share s
                where s.owner_id = forebay.acting_owner() and s.search @@ asked and s.id < start
                  and (playlist is null or s.playlist_id = playlist)
                order by s.id desc limit 1000) m
            where (states is null or m.download_status = any(states)) and (kinds is null or m.kind = any(kinds))
            order by m.id desc limit max_rows);
    elsif playlist is not null then
        return array(
            select s.id from forebay.share s
            where s.owner_id = forebay.acting_owner() and s.playlist_id = playlist and s.id < start
              and (states is null or s.download_status = any(states)) and (kinds is null or s.kind = any(kinds))
            order by s.id desc limit max_rows);
    end if;
    return array(
        select s.id from forebay.share s
        where s.owner_id = forebay.acting_owner() and s.playlist_id is null and s.id < start
          and (states is null or s.download_status = any(states)) and (kinds is null or s.kind = any(kinds))
        order by s.id desc limit max_rows);
end $$;
select forebay.permit_call('match_shares(text[], text[], bigint, text, bigint, int)', 'forebay_api', 'forebay_admin');
