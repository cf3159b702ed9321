-- A reason of failure without what differs from task to task: addresses, hosts, ids and numbers. Reasons that become equal
-- are one group.
create or replace function forebay.mask_reason(reason text) returns text language sql immutable parallel safe as $$
select regexp_replace(
    regexp_replace(
        regexp_replace(
            regexp_replace(left(reason, 300), '\m[a-z][a-z0-9+.-]*://[^\s''"<>)]*[^\s''"<>).,:;]', '<url>', 'gi'),
            '\m([a-z0-9_-]+\.)+[a-z][a-z0-9-]+(:\d+)?\M', '<name>', 'gi'),
        '\m(?=[0-9a-f-]*\d)[0-9a-f]{8}[0-9a-f-]*\M', '<id>', 'gi'),
    '\d+([.,:]\d+)*', '#', 'g')
$$;
