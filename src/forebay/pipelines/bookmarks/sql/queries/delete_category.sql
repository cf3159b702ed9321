-- Deletes a category; its bookmarks stay, without one.
delete from forebay.category where id = $1 returning id
