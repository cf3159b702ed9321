-- Finds the segments of the transcript of share $1 in which the words or the text $2 occur, up to $3.
select e.n - 1 as n, e.segment ->> 'start' as start, e.segment ->> 'end' as end, e.segment ->> 'text' as text
from forebay.transcript t
cross join lateral jsonb_array_elements(t.segments) with ordinality e (segment, n)
where t.share_id = $1
  and (to_tsvector(forebay.document_config(t.language), e.segment ->> 'text')
           @@ websearch_to_tsquery(forebay.document_config(t.language), $2)
       or strpos(lower(e.segment ->> 'text'), lower($2)) > 0)
order by e.n
limit $3
