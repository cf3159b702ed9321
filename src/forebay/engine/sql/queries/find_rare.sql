-- Whether there is anything for the sweeps of signals, of children and of the order of tasks: an idle worker asks for all of them
-- in one statement.
select exists (select from forebay.kept_signal) as signals,
       exists (select from forebay.child_change)
           or exists (select from forebay.job j where not j.sealed and j.parent_id is not null) as children,
       exists (select from forebay.ordered_task) as ordered
