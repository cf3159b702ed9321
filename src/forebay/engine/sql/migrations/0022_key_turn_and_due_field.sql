-- A key can pass from one job to the next: see holds_key. key_turn counts the jobs that have had the key.
alter table forebay.job add column key_turn int not null default 0;
-- The field of a schedule's input that gets the time at which a run was due; empty: none.
alter table forebay.schedule add column due_field text not null default '';
