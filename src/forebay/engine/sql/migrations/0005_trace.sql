-- The trace that a job belongs to, as the session of its submit says: a W3C traceparent. Workers go on with it.
-- formerly 0005
alter table forebay.job add column trace text default nullif(current_setting('forebay.trace', true), '');
