-- Whether reprocess() selects this item: it has one of the statuses, and is in `chosen` if that is given.
create or replace function forebay.is_chosen(i forebay.item, statuses forebay.item_status[], chosen int4multirange)
returns boolean language sql immutable as $$
select i.n > 0 and i.status = any(statuses) and (chosen is null or i.n <@ chosen)
$$;
