-- Cancels a job, on behalf of $2 (null: the database's user); returns whether that changed anything.
select forebay.cancel(cast($1 as bigint), coalesce(cast($2 as text), current_user))
