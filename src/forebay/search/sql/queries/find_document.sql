-- The document $2 of kind $1 of the acting owner.
select d.id, d.title, d.version from forebay.search_document d
where d.owner_id = forebay.acting_owner() and d.kind = $1 and d.ref = $2
