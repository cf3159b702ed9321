-- Words, parsed for every language that documents may have; any: one of them is enough.
create or replace function forebay.document_question(words text, "any" boolean default false) returns tsquery
language sql stable as $$
select string_agg(format('(%s)', q.parsed), ' | ')::tsquery
from (values ('simple'), ('english'), ('german'), ('french'), ('spanish'), ('italian'), ('portuguese'), ('dutch'), ('russian'),
             ('swedish'), ('danish'), ('norwegian'), ('finnish')) c(name)
cross join lateral (
    select forebay.words_query(('pg_catalog.' || c.name)::regconfig, words, "any")) q(parsed)
where numnode(q.parsed) > 0
$$;
