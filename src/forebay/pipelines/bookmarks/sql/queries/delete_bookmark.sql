-- Deletes a bookmark; its files go with it.
delete from forebay.bookmark b where b.id = $1 returning b.id
