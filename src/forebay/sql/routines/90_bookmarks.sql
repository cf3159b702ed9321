-- Bookmarks: adding one with its work, writing down what steps find, and finding it again.

-- Adds a bookmark and submits its work, or finds the one of the same page; that one leaves the archive, and takes what is given.
create or replace function forebay.add_bookmark(
    owner_id bigint, url text, page_hash bytea, own_title text, note text, tags text[], category_id bigint,
    priority int default 0, added_at timestamptz default null, is_image boolean default false, trace text default null,
    favicon text default null, unarchives boolean default true, out id bigint, out created boolean, out job_id bigint
) language plpgsql as $$
#variable_conflict use_column
begin
    if add_bookmark.category_id is not null and not exists (
        select from forebay.category c where c.id = add_bookmark.category_id and c.owner_id = add_bookmark.owner_id
    ) then
        perform forebay.refuse('FB004', 'categoryId', format('there is no category %s', add_bookmark.category_id));
    end if;
    insert into forebay.bookmark (owner_id, url, page_hash, own_title, note, tags, category_id, created_at)
    values (add_bookmark.owner_id, add_bookmark.url, add_bookmark.page_hash, add_bookmark.own_title, add_bookmark.note,
            coalesce(add_bookmark.tags, '{}'), add_bookmark.category_id, coalesce(added_at, clock_timestamp()))
    on conflict (owner_id, page_hash) do nothing
    returning bookmark.id into id;
    created := id is not null;
    if not created then
        update forebay.bookmark b set
            archived_at = case when unarchives then null else b.archived_at end,
            -- What the page calls itself is no title of the owner's.
            own_title = coalesce(nullif(add_bookmark.own_title, b.title), b.own_title),
            note = coalesce(add_bookmark.note, b.note),
            tags = case when add_bookmark.tags is null then b.tags
                        else array(select distinct t from unnest(b.tags || add_bookmark.tags) t order by t) end,
            category_id = coalesce(add_bookmark.category_id, b.category_id),
            updated_at = clock_timestamp()
        where b.owner_id = add_bookmark.owner_id and b.page_hash = add_bookmark.page_hash
        returning b.id, b.job_id into id, job_id;
        return;
    end if;
    job_id := forebay.crawl_bookmark(add_bookmark.owner_id, id, add_bookmark.url, priority, is_image, favicon, trace);
end $$;

-- Submits the work on a bookmark: for all steps, or for those in `only`. Returns the job.
create or replace function forebay.crawl_bookmark(
    owner_id bigint, bookmark_id bigint, url text, priority int default 0, is_image boolean default false,
    favicon text default null, trace text default null, only_steps text[] default null, key text default null
) returns bigint language plpgsql as $$
declare
    owner text;
    submitted bigint;
begin
    select o.name into strict owner from forebay.owner o where o.id = crawl_bookmark.owner_id;
    select s.job_id into submitted from forebay.submit(
        forebay.traced('bookmarks', trace),
        jsonb_strip_nulls(jsonb_build_object('bookmarkId', bookmark_id, 'url', url, 'userId', owner, 'favIcon', favicon,
                                             'isImage', is_image, 'only', to_jsonb(only_steps))),
        owner, key, priority, null, false, jsonb_build_object('bookmarkId', bookmark_id::text)) s;
    update forebay.bookmark b set job_id = submitted where b.id = bookmark_id;
    return submitted;
end $$;

-- A bookmark out of a file: with its category, which is made when it is new, and its place in the archive.
create or replace function forebay.import_bookmark(
    owner_id bigint, url text, page_hash bytea, own_title text, note text, tags text[], category text, added_at timestamptz,
    archived boolean, is_image boolean, out id bigint, out created boolean, out job_id bigint
) language plpgsql as $$
#variable_conflict use_column
declare
    found_category bigint;
begin
    if category is not null then
        insert into forebay.category (owner_id, name) values (import_bookmark.owner_id, left(category, 200))
        on conflict (owner_id, name) do nothing;
        select c.id into found_category from forebay.category c
        where c.owner_id = import_bookmark.owner_id and c.name = left(category, 200);
    end if;
    select a.id, a.created, a.job_id into id, created, job_id from forebay.add_bookmark(
        import_bookmark.owner_id, import_bookmark.url, import_bookmark.page_hash, import_bookmark.own_title,
        import_bookmark.note, import_bookmark.tags, found_category, -10, import_bookmark.added_at, is_image,
        unarchives => false) a;
    if archived and created then
        update forebay.bookmark b set archived_at = clock_timestamp() where b.id = import_bookmark.id;
    end if;
end $$;

-- The notes of a bookmark, with those of one step replaced.
create or replace function forebay.with_notes(notes jsonb, step text, fresh jsonb) returns jsonb
language sql immutable parallel safe as $$
select case when coalesce(jsonb_array_length(fresh), 0) > 0 then notes || jsonb_build_object(step, fresh) else notes - step end
$$;

-- Files that a bookmark no longer refers to go.
create or replace function forebay.drop_bookmark_files() returns trigger language plpgsql as $$
declare
    kept bigint[] := case when tg_op = 'UPDATE'
        then array[new.screenshot_id, new.full_page_id, new.image_id, new.favicon_id] else '{}' end;
begin
    delete from forebay.file f
    where f.id = any(array_remove(array[old.screenshot_id, old.full_page_id, old.image_id, old.favicon_id], null))
      and f.id <> all(array_remove(kept, null));
    return null;
end $$;

create or replace trigger drop_files after delete or update of screenshot_id, full_page_id, image_id, favicon_id on forebay.bookmark
    for each row execute function forebay.drop_bookmark_files();

-- Keeps bookmark_tag as the tags of bookmarks that are not archived.
create or replace function forebay.keep_bookmark_tags() returns trigger language plpgsql as $$
declare
    before text[] := case when tg_op = 'UPDATE' and old.archived_at is null then old.tags else '{}' end;
    after text[] := case when new.archived_at is null then new.tags else '{}' end;
begin
    if before = after then
        return null;
    end if;
    delete from forebay.bookmark_tag t where t.bookmark_id = new.id and t.tag <> all(after);
    insert into forebay.bookmark_tag (owner_id, tag, bookmark_id)
    select distinct new.owner_id, u.tag, new.id from unnest(after) u(tag) where u.tag <> all(before);
    return null;
end $$;

create or replace trigger keep_tags_of_new after insert on forebay.bookmark
    for each row when (new.tags <> '{}') execute function forebay.keep_bookmark_tags();
create or replace trigger keep_tags after update of tags, archived_at on forebay.bookmark
    for each row execute function forebay.keep_bookmark_tags();

-- The question in the words of every language that bookmarks may be in.
create or replace function forebay.search_question(question text) returns tsquery language sql stable as $$
select websearch_to_tsquery('pg_catalog.simple', question) || websearch_to_tsquery('pg_catalog.english', question)
    || websearch_to_tsquery('pg_catalog.german', question) || websearch_to_tsquery('pg_catalog.french', question)
    || websearch_to_tsquery('pg_catalog.spanish', question) || websearch_to_tsquery('pg_catalog.italian', question)
    || websearch_to_tsquery('pg_catalog.portuguese', question) || websearch_to_tsquery('pg_catalog.dutch', question)
    || websearch_to_tsquery('pg_catalog.russian', question) || websearch_to_tsquery('pg_catalog.swedish', question)
    || websearch_to_tsquery('pg_catalog.danish', question)
$$;

-- Bookmarks as lists show them, in the order of the ids. How far the work is comes from the item of its last job; when
-- that is gone, and nothing was found, it has failed. Volatile, so that it sees what the same statement has added.
create or replace function forebay.show_bookmarks(ids bigint[]) returns table (
    id bigint, owner_id bigint, url text, title text, description text, note text, tags text[], category_id bigint,
    site text, language text, kind text, kind_reason text, http_status int, published_at timestamptz, words int,
    reading_minutes real, caption text, image jsonb, screenshot_id bigint, full_page_id bigint, image_id bigint,
    favicon_id bigint, duplicate_of bigint, archived_at timestamptz, created_at timestamptz, updated_at timestamptz,
    crawled_at timestamptz, changed_at timestamptz, crawl_every double precision, next_crawl_at timestamptz,
    job_id bigint, status text, error jsonb
) language sql volatile as $$
select b.id, b.owner_id, b.url, coalesce(b.own_title, b.title), b.description, b.note, b.tags, b.category_id, b.site, b.language,
       b.kind, b.kind_reason, b.http_status, b.published_at, b.words, b.reading_minutes, b.caption, b.image, b.screenshot_id,
       b.full_page_id, b.image_id, b.favicon_id, b.duplicate_of, b.archived_at, b.created_at, b.updated_at, b.crawled_at,
       b.changed_at, extract(epoch from b.crawl_every), b.next_crawl_at, b.job_id,
       coalesce(i.status::text, case when b.crawled_at is null then 'ERROR' else 'DONE' end), i.error
from unnest(ids) with ordinality u(id, place)
join forebay.bookmark b on b.id = u.id
left join forebay.item i on i.job_id = b.job_id and i.n = 1
order by u.place
$$;

-- Finding. Row-level security would keep all of these from the indexes of words and tags, as whatever those compare could tell of
-- rows that are others': so they run without it, and look at the rows of the owner in forebay.owner_id only, as it would.

create or replace function forebay.acting_owner() returns bigint language sql stable as $$
select nullif(current_setting('forebay.owner_id', true), '')::bigint
$$;

-- The ids of bookmarks that fit, newest first; filters may be null. The conditions are written out for each call: the index
-- that fits depends on which there are.
create or replace function forebay.find_bookmarks(
    before bigint, archived boolean, category_id bigint, tag text, kind text, duplicates boolean, max_rows int
) returns bigint[] language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    ids bigint[];
begin
    execute 'select array(select b.id from forebay.bookmark b where b.owner_id = $1 and b.id < $2'
        || case archived when true then ' and b.archived_at is not null' when false then ' and b.archived_at is null' else '' end
        || case when category_id is not null then ' and b.category_id = $3' else '' end
        || case when tag is not null then ' and b.tags @> array[$4]' else '' end
        || case when kind is not null then ' and b.kind = $5' else '' end
        || case when duplicates then ' and b.duplicate_of is not null' else '' end
        || ' order by b.id desc limit $6)'
    into ids
    using forebay.acting_owner(), coalesce(before, 9223372036854775807), category_id, tag, kind, max_rows;
    return ids;
end $$;

-- Bookmarks that answer a question, the best first, of the thousand newest that do. Each is asked in its own language. The index
-- of words is always worth it: the planner does not know how much it costs to look into a text.
create or replace function forebay.search_bookmarks(
    question text, archived boolean, category_id bigint, tag text, after_rank real, after_id bigint, max_rows int
) returns table (id bigint, rank real, snippet text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_indexscan = off set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
    wanted constant tsquery := forebay.search_question(question);
    owner constant bigint := forebay.acting_owner();
begin
    return query
    with fitting as (
        select b.id, ts_rank_cd(b.search, q.own)::real as rank, q.own
        from forebay.bookmark b cross join lateral websearch_to_tsquery(forebay.search_words(b.language), question) q(own)
        where b.owner_id = owner and b.search @@ wanted and b.search @@ q.own
          and (archived is null or (b.archived_at is not null) = archived)
          and (search_bookmarks.category_id is null or b.category_id = search_bookmarks.category_id)
          and (tag is null or b.tags @> array[tag])
        order by b.id desc limit 1000
    ), best as (
        select f.id, f.rank, f.own from fitting f
        where after_rank is null or (f.rank, f.id) < (after_rank, after_id)
        order by f.rank desc, f.id desc limit max_rows
    )
    select t.id, t.rank, ts_headline(
        forebay.search_words(b.language), left(coalesce(b.body, b.description, b.ocr, ''), 20000), t.own,
        'MaxFragments=2, MaxWords=24, MinWords=8, StartSel=**, StopSel=**')
    from best t join forebay.bookmark b on b.id = t.id;
end $$;

-- A stretch of all bookmarks, those of a category together.
create or replace function forebay.export_bookmarks(after_category bigint, after_id bigint, max_rows int) returns table (
    id bigint, category_id bigint, url text, own_title text, title text, note text, tags text[], category text,
    created_at timestamptz, archived boolean
) language sql stable security definer set search_path = pg_catalog, pg_temp as $$
select b.id, coalesce(b.category_id, 0), b.url, b.own_title, b.title, b.note, b.tags, c.name, b.created_at,
       b.archived_at is not null
from forebay.bookmark b left join forebay.category c on c.id = b.category_id
where b.owner_id = forebay.acting_owner() and (coalesce(b.category_id, 0), b.id) > (after_category, after_id)
order by coalesce(b.category_id, 0), b.id limit max_rows
$$;

do $$
declare
    finder text;
    role text;
begin
    foreach finder in array array[
        'find_bookmarks(bigint, boolean, bigint, text, text, boolean, int)',
        'search_bookmarks(text, boolean, bigint, text, real, bigint, int)', 'export_bookmarks(bigint, bigint, int)'
    ] loop
        execute format('revoke execute on function forebay.%s from public', finder);
        for role in select r.rolname from pg_roles r where r.rolname in ('forebay_api', 'forebay_admin') loop
            execute format('grant execute on function forebay.%s to %I', finder, role);
        end loop;
    end loop;
end $$;

-- Submits the work on bookmarks that are due by now, unless the last work is not done yet, and says when they are due again.
-- Returns how many were looked at.
create or replace function forebay.crawl_due_bookmarks(max_rows int, now timestamptz default null) returns int
language plpgsql as $$
declare
    at constant timestamptz := coalesce(now, clock_timestamp());
    due record;
    looked_at int := 0;
begin
    for due in
        select b.id, b.owner_id, b.url, b.job_id from forebay.bookmark b
        where b.next_crawl_at <= at and b.archived_at is null
        order by b.next_crawl_at limit max_rows for update skip locked
    loop
        looked_at := looked_at + 1;
        update forebay.bookmark b set next_crawl_at = at + b.crawl_every where b.id = due.id;
        if not exists (select from forebay.job j where j.id = due.job_id and j.finished_at is null) then
            perform forebay.crawl_bookmark(due.owner_id, due.id, due.url, -10);
        end if;
    end loop;
    return looked_at;
end $$;

-- The jobs of bookmarks that have something to do right now, the oldest first, of an owner or of all. Of very many, some.
create or replace function forebay.waiting_bookmarks(owner_id bigint, max_rows int) returns bigint[] language sql stable as $$
select array(
    select distinct w.job_id
    from (
        select r.job_id from forebay.ready r
        join forebay.lane l on l.id = r.lane_id and not l.paused
        where r.step_id in (
            select s.id from forebay.step s join forebay.pipeline p on p.id = s.pipeline_id and p.name = 'bookmarks'
            join forebay.queue q on q.name = s.queue and not q.paused and q.parked is null)
          and (waiting_bookmarks.owner_id is null or r.owner_id = waiting_bookmarks.owner_id)
        limit 5000) w
    order by w.job_id limit max_rows)
$$;
