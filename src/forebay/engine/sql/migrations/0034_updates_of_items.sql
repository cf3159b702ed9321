-- outside a transaction: the index is built while work goes on.
-- The end of an item that is DONE changes no indexed column, and its page has room for the new version: so no index changes, and
-- the old version is removed without a vacuum. Items that failed are found by their verdict, which only a failure changes.
drop index concurrently if exists forebay.item_verdict;
create index concurrently item_verdict on forebay.item (job_id, n) where verdict <> 'DONE';
drop index concurrently if exists forebay.item_failed;
alter table forebay.item set (fillfactor = 50);
