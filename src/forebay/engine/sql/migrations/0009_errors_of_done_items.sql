-- after the routines: those of before leave such errors behind.
-- formerly 0017
-- An item that is done has no error. Nobody else changes items that have ended but a reprocess.
update forebay.item set error = null where status = 'DONE' and error is not null;
