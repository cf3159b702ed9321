-- An article with its text.
select s.*, v.content, v.message
from forebay.show_articles(array[$1::bigint]) s
join forebay.article_version v on v.article_id = s.id and v.version = s.version
