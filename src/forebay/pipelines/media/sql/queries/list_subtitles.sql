-- Lists the subtitles that the site offers for share $1 of owner $2.
select s.language, s.platform_data -> 'subtitles' as subtitles
from forebay.share s
where s.id = $1 and s.owner_id = $2
