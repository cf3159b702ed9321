-- For a server that is all ours: steps may hand over rows for the tables that its operator makes in the schema public.
grant usage on schema public to forebay_worker;
grant select, insert, update, delete on all tables in schema public to forebay_worker;
grant usage on all sequences in schema public to forebay_worker;
alter default privileges in schema public grant select, insert, update, delete on tables to forebay_worker;
alter default privileges in schema public grant usage on sequences to forebay_worker;
