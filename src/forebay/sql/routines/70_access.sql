-- Roles and row-level security.
--   forebay_api       what the API does for one owner: sees and changes the rows of the owner in forebay.owner_id, none without
--   forebay_admin     what it does for administrators: all rows
--   forebay_identity  what it does to find out who is asking: accounts and their secrets' hashes, no work
--   forebay_worker    for workers that should not own the tables; they name the owner of what they write
-- Who migrates may lack the right to make roles; then the service says what to do, and everything else works.
do $$
declare
    role text;
begin
    foreach role in array array['forebay_api', 'forebay_admin', 'forebay_identity', 'forebay_worker'] loop
        if not exists (select from pg_roles where rolname = role) then
            begin
                execute format('create role %I nologin', role);
            exception
                when duplicate_object or unique_violation then null;  -- by someone else, at this moment
                when insufficient_privilege then
                    raise notice 'forebay: this account may not make the role %, which the API needs', role;
            end;
        end if;
    end loop;
end $$;

create or replace function forebay.protect(tab text, owner_column text) returns void language plpgsql as $$
begin
    execute format('alter table forebay.%I enable row level security', tab);
    execute format('create policy of_owner on forebay.%I to forebay_api using (%I = (select nullif(current_setting(''forebay.owner_id'', true), '''')::bigint))', tab, owner_column);
    execute format('create policy of_all on forebay.%I to forebay_admin, forebay_worker using (true)', tab);
end $$;

do $$
declare
    owned text;
begin
    if (select count(*) from pg_roles
        where rolname in ('forebay_api', 'forebay_admin', 'forebay_identity', 'forebay_worker')) < 4 then
        return;
    end if;
    foreach owned in array array[
        'job', 'item', 'attempt', 'dead_letter', 'audit', 'lane', 'ready', 'scheduled', 'lease', 'schedule', 'owner', 'idempotency',
        'file', 'category', 'bookmark', 'bookmark_change', 'bookmark_tag', 'tally', 'sheet', 'sheet_piece', 'sheet_export',
        'sheet_file', 'catalogue', 'product'
    ] loop
        if not exists (select from pg_policies where schemaname = 'forebay' and tablename = owned and policyname = 'of_owner') then
            perform forebay.protect(owned, case owned when 'owner' then 'id' else 'owner_id' end);
        end if;
    end loop;
    if not exists (select from pg_policies where schemaname = 'forebay' and policyname = 'of_identity') then
        create policy of_identity on forebay.owner to forebay_identity using (true);
        create policy of_identity on forebay.audit for insert to forebay_identity with check (true);
    end if;
    -- A blob is seen through files: nobody learns what others have.
    if not exists (select from pg_policies where schemaname = 'forebay' and tablename = 'blob') then
        alter table forebay.blob enable row level security;
        create policy of_files on forebay.blob for select to forebay_api
            using (exists (select from forebay.file f where f.sha256 = blob.sha256));
        create policy of_all on forebay.blob to forebay_admin, forebay_worker using (true);
    end if;
    -- What an administrator shares, all may see.
    if not exists (select from pg_policies where schemaname = 'forebay' and policyname = 'of_shared') then
        create policy of_shared on forebay.catalogue for select to forebay_api using (shared);
        create policy of_shared on forebay.product for select to forebay_api
            using (exists (select from forebay.catalogue c where c.id = product.catalogue_id and c.shared));
    end if;
    grant usage on schema forebay to forebay_api, forebay_admin, forebay_identity, forebay_worker;
    grant usage on all sequences in schema forebay to forebay_api, forebay_admin, forebay_identity, forebay_worker;
    grant select on forebay.migration to forebay_api, forebay_admin, forebay_identity, forebay_worker;
    grant select, insert, update, delete on
        forebay.job, forebay.item, forebay.lane, forebay.ready, forebay.scheduled, forebay.lease, forebay.dead_letter,
        forebay.schedule, forebay.idempotency, forebay.category, forebay.bookmark, forebay.bookmark_change, forebay.bookmark_tag,
        forebay.sheet_piece
        to forebay_api, forebay_admin, forebay_worker;
    -- Files are made by workers, which have had the content in their hands: who could make one could read any blob.
    -- What workers find out about a sheet, and the files of it, are theirs to say.
    grant select, delete on forebay.file, forebay.sheet_file, forebay.sheet, forebay.sheet_export to forebay_api, forebay_admin;
    grant insert (owner_id, job_id, name, size, options, source, path, version, providers),
          update (intake_job_id, mapping, providers, turn, problem) on forebay.sheet to forebay_api, forebay_admin;
    grant insert (job_id, sheet_id, owner_id, format, options) on forebay.sheet_export to forebay_api, forebay_admin;
    grant select, insert, update on forebay.sheet_taken to forebay_api, forebay_admin;
    if not exists (select from pg_policies where schemaname = 'forebay' and policyname = 'of_own_job') then
        create policy of_own_job on forebay.sheet as restrictive to forebay_api
            using (true) with check (exists (select from forebay.job j where j.id = job_id));
    end if;
    grant select, delete on forebay.catalogue to forebay_api, forebay_admin;
    grant update (shared) on forebay.catalogue to forebay_admin;
    grant select on forebay.product to forebay_api, forebay_admin;
    grant select, insert, update, delete on forebay.catalogue, forebay.product to forebay_worker;
    grant select on forebay.blob to forebay_api, forebay_admin;
    grant select, insert, update, delete on forebay.blob, forebay.file, forebay.waste, forebay.sheet_file, forebay.sheet, forebay.sheet_export,
        forebay.sheet_taken to forebay_worker;
    grant select, insert on forebay.attempt, forebay.audit, forebay.tally to forebay_api, forebay_admin, forebay_worker;
    grant select on forebay.pipeline, forebay.step, forebay.queue, forebay.owner to forebay_api, forebay_admin;
    revoke select on forebay.worker from forebay_api;
    grant select (id, name, stats, stale, started_at, seen_at, stopped_at) on forebay.worker to forebay_api;
    -- Numbers only: the caller's own where views can be told so (PostgreSQL 15 and newer), else everyone's together.
    grant select on forebay.queue_depth, forebay.workers to forebay_api;
    grant insert, update on forebay.owner to forebay_admin;
    grant update on forebay.queue to forebay_admin;
    grant select, insert, update, delete on
        forebay.owner, forebay.pipeline, forebay.step, forebay.queue, forebay.worker, forebay.rate_limit, forebay.slot_limit,
        forebay.slot_lease
        to forebay_worker;
    grant update, delete on forebay.tally to forebay_worker;  -- update: to lock what it folds
    grant delete on forebay.audit to forebay_worker;
    grant execute on function forebay.make_partitions(timestamptz, int), forebay.drop_partitions(timestamptz, interval)
        to forebay_worker;
    -- The sweeper of a worker ends what is over, and sees no more of it than when.
    grant delete on forebay.session, forebay.invitation, forebay.sign_in_failure to forebay_worker;
    grant select (expires_at) on forebay.session, forebay.invitation to forebay_worker;
    grant select (last_at) on forebay.sign_in_failure to forebay_worker;
    grant select on all tables in schema forebay to forebay_admin;
    revoke select on forebay.account, forebay.session, forebay.api_token, forebay.invitation, forebay.sign_in_failure
        from forebay_admin;
    grant select, insert, update, delete on
        forebay.account, forebay.session, forebay.api_token, forebay.invitation, forebay.sign_in_failure
        to forebay_identity;
    grant select, insert on forebay.owner to forebay_identity;
    grant insert on forebay.audit to forebay_identity;
end $$;

-- Says until the transaction ends for whom, and from which address, the API's role acts. Returns the owner's name.
create or replace function forebay.act_for(owner_id bigint, ip text, out owner text) language plpgsql as $$
begin
    perform set_config('forebay.owner_id', act_for.owner_id::text, true), set_config('forebay.ip', coalesce(ip, ''), true);
    select o.name into owner from forebay.owner o where o.id = act_for.owner_id;
end $$;
