-- Deletes a draft of owner $1.
delete from forebay.article_draft d where d.owner_id = $1 and d.key = $2 returning d.key
