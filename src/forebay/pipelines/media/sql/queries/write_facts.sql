-- Writes what is known about share $1 of owner $2 before it is downloaded; $3 has what was found. The title of the media replaces
-- that of the owner.
update forebay.share s set
    kind = coalesce(f.kind, s.kind), title = coalesce(f.title, s.title), description = coalesce(f.description, s.description),
    author = coalesce(f.author, s.author), site = coalesce(f.site, s.site), language = coalesce(f.language, s.language),
    published_at = coalesce(f.published_at, s.published_at), duration_s = coalesce(f.duration_s, s.duration_s),
    width = coalesce(f.width, s.width), height = coalesce(f.height, s.height),
    platform_data = s.platform_data || coalesce(f.platform_data, '{}'), updated_at = clock_timestamp()
from jsonb_to_record($3::jsonb) as f(
    kind text, title text, description text, author text, site text, language text, published_at timestamptz,
    duration_s double precision, width int, height int, platform_data jsonb)
where s.id = $1 and s.owner_id = $2
