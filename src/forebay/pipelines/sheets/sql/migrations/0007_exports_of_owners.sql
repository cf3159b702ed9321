-- outside a transaction: the index is built while work goes on.
-- For the list of an owner's exports over all sheets.
drop index concurrently if exists forebay.sheet_export_owner;
create index concurrently sheet_export_owner on forebay.sheet_export (owner_id, job_id);
