-- Deletes old audit records.
select forebay.delete_audit($1, $2)
