-- Deletes document $3 of kind $2 of owner $1.
select forebay.delete_document($1, $2, $3)
