-- Whether all roles of the service exist: the account that migrates may lack the right to create them.
create or replace function forebay.has_roles() returns boolean language sql stable as $$
select count(*) = 4 from pg_roles
where rolname in ('forebay_api', 'forebay_admin', 'forebay_identity', 'forebay_worker')
$$;
