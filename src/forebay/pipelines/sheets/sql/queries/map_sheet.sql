-- Changes the mapping of columns or the order of providers; null: unchanged.
update forebay.sheet s set mapping = coalesce($2::jsonb, s.mapping),
    providers = case when $3::text[] is null then s.providers else nullif($3, '{}') end
where s.job_id = $1 returning s.id
