-- Gives items without a task their tasks.
select forebay.repair_stranded($1)
