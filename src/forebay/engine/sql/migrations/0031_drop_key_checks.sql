-- after the routines: they check the lengths of keys.
-- PostgreSQL parses and plans the checks of a table for each INSERT anew: for a job of one item, this takes as long as storing it.
alter table forebay.job drop constraint job_key_check;
alter table forebay.item drop constraint item_key_check;
