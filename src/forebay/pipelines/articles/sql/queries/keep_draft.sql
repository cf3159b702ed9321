-- Stores what somebody types; of an article only if the owner has it.
insert into forebay.article_draft as d (owner_id, key, article_id, base_version, title, content)
select $1, $2, $3, $4, $5, $6
where $3::bigint is null or exists (select from forebay.article a where a.id = $3 and a.owner_id = $1)
on conflict (owner_id, key) do update set article_id = excluded.article_id, base_version = excluded.base_version,
    title = excluded.title, content = excluded.content, updated_at = clock_timestamp()
returning d.key, d.article_id, d.base_version, d.title, d.content, d.updated_at
