-- outside a transaction: the index is built while work goes on.
-- For lists of files without thumbnails.
drop index concurrently if exists forebay.picture_thumbnails;
create index concurrently picture_thumbnails on forebay.picture using gin (thumbnail_ids);
