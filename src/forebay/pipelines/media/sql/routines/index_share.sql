-- Puts a share into the index of all searches, once it is known what it is: its description, and what is said in it, a segment a
-- line. The marks are the offsets of the segments and their seconds; the description is before the first of them, and
-- so are the words of a file's name, which is one word to the parser of PostgreSQL.
create or replace function forebay.index_share(share_id bigint) returns void language sql as $$
select forebay.put_document(
    s.owner_id, 'share', s.id::text, coalesce(s.title, s.url), p.preface || coalesce(t.text, ''), s.url, s.language,
    written_at => s.created_at, marks => t.marks)
from forebay.share s
cross join lateral (
    select coalesce(nullif(concat_ws(chr(10), s.author, case when s.url is null then translate(s.title, '._-', '   ') end,
                                     s.description), '') || chr(10) || chr(10), '')) p(preface)
left join lateral (
    select string_agg(e.text, chr(10) order by e.n) as text,
           jsonb_agg(jsonb_build_array(length(p.preface) + e.starts, e.second) order by e.n) as marks
    from (select g.n, g.text, g.second, coalesce(sum(length(g.text) + 1) over (order by g.n rows between unbounded preceding
                                                                              and 1 preceding), 0) as starts
          from (select j.n, coalesce(j.segment ->> 'text', '') as text, (j.segment -> 'start') as second
                from forebay.transcript t
                cross join lateral jsonb_array_elements(t.segments) with ordinality j(segment, n)
                where t.share_id = s.id and s.spoken is not null) g) e) t on true
where s.id = index_share.share_id and s.kind is not null
$$;
