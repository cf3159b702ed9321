-- Suggests up to $2 bookmarks whose titles contain the text $1, or something similar.
select s.id, s.title, s.url, s.score from forebay.suggest_bookmarks($1::text, $2::int) s
