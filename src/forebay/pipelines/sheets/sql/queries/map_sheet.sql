-- An owner says which columns hold what, or who is asked first; null: as it was.
update forebay.sheet s set mapping = coalesce($2::jsonb, s.mapping),
    providers = case when $3::text[] is null then s.providers else nullif($3, '{}') end
where s.job_id = $1 returning s.id
