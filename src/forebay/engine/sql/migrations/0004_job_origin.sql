-- Where a job was submitted from, and the file that it was made of, as the session of its submit says: for audit.
-- formerly 0004
alter table forebay.job
    add column ip   inet default nullif(current_setting('forebay.ip', true), '')::inet,
    add column file text default nullif(current_setting('forebay.file', true), '');
