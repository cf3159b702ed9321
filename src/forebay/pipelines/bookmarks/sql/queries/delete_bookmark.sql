-- Deletes a bookmark and its files.
delete from forebay.bookmark b where b.id = $1 returning b.id
