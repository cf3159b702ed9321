-- The mean vector of document $1 by model $2.
select forebay.document_vector($1, $2)
