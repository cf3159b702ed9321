-- Saves search $3 of owner $1 under the name $2.
insert into forebay.saved_search as s (owner_id, name, question) values ($1, $2, $3::text::jsonb)
on conflict (owner_id, name) do update set question = excluded.question
returning s.id, s.name, s.question, s.token_hash is not null as has_feed, s.created_at
