-- Documents $1 for a list of hits: the words $2 marked in the best pieces of their texts, or the beginning of the chunk at $4 to $5;
-- whether model $3 has embedded an older text. The marks are control characters, which texts do not have.
select s.*,
       case when s.marks is not null and s.headline is not null then  -- the first word that was found; null: it is in the title
           nullif(strpos(s.body, split_part(translate(s.headline, E'\x02\x03', ''), ' … ', 1)), 0)
               + nullif(strpos(s.headline, E'\x02'), 0) - 2 end as headline_at
from (
    select w.place, d.body, d.id, d.kind, d.ref, d.url, d.language, d.tags, d.written_at, d.updated_at, d.details, d.marks, d.version, d.embeds,
           i.version as indexed_version, i.indexed_at,
           case when q.own is not null and d.search @@ q.own then ts_headline(
               forebay.document_config(d.language), translate(left(d.body, 100000), E'\x02\x03', ''), q.own,
               E'MaxFragments=2, MaxWords=30, MinWords=12, StartSel=\x02, StopSel=\x03, FragmentDelimiter=" … "') end as headline,
           ts_headline(forebay.document_config(d.language), translate(d.title, E'\x02\x03', ''), coalesce(q.own, ''::tsquery),
                       E'HighlightAll=true, StartSel=\x02, StopSel=\x03') as title_headline,
           substr(d.body, coalesce(w.starts, 0) + 1, least(coalesce(w.stops, 300) - coalesce(w.starts, 0), 300)) as excerpt
    from unnest($1::bigint[], $4::int[], $5::int[]) with ordinality w(id, starts, stops, place)
    join forebay.search_document d on d.id = w.id
    left join forebay.search_indexed i on i.document_id = d.id and i.model_id = $3
    cross join lateral (
        select case when $2::text <> '' then forebay.words_query(forebay.document_config(d.language), $2::text, true) end) q(own)
) s
order by s.place
