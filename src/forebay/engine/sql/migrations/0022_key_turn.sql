-- A key can pass from one job to the next: see holds_key. key_turn counts the jobs that have had the key.
alter table forebay.job add column key_turn int not null default 0;
