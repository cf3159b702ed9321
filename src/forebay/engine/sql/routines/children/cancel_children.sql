-- Cancels the children of an item that ends before them.
create or replace function forebay.cancel_children(job_id bigint, n int, now timestamptz default null) returns void
language sql as $$
    select forebay.change_children(j, 'cancel', 'forebay', coalesce(cancel_children.now, clock_timestamp()), cancel_children.n)
    from forebay.job j where j.id = cancel_children.job_id
$$;
