-- Deletes a category; its bookmarks stay.
delete from forebay.category where id = $1 returning id
