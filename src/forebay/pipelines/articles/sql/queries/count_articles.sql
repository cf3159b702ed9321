-- The number of articles by the recorded state of their vectors.
select a.embedding, count(*) as articles from forebay.article a group by a.embedding
