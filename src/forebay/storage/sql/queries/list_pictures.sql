-- Lists what is known of those of the files $1 that are pictures.
select p.file_id, p.width, p.height, p.blurhash, p.widths from forebay.picture p where p.file_id = any($1::bigint[])
