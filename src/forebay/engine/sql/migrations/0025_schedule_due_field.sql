-- The field of a schedule's input that gets the time at which a run was due; empty: none.
alter table forebay.schedule add column due_field text not null default '';
