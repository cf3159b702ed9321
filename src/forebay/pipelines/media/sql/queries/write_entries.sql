-- Adds the entries of playlist $1 of owner $2 that it does not have yet; $3 are their URLs, $4 their titles, in order.
insert into forebay.share (owner_id, url, title, priority, playlist_id, playlist_index, platform_data)
select $2, e.url, e.title, p.priority, p.id, e.place, jsonb_build_object('originalMediaUrl', e.url)
from unnest($3::text[], $4::text[]) with ordinality e(url, title, place)
join forebay.share p on p.id = $1 and p.owner_id = $2
where not exists (select from forebay.share s where s.playlist_id = p.id and s.url = e.url)
order by e.place
