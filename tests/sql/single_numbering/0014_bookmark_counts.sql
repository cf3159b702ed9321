-- How often tags and categories are in use is read from narrow indexes: the rows of bookmarks are wide.

create index bookmark_category_shown on forebay.bookmark (owner_id, category_id)
    where archived_at is null and category_id is not null;

-- The tags of bookmarks that are not archived, one row each; kept by a trigger of bookmark.
create table forebay.bookmark_tag (
    owner_id    bigint not null,
    tag         text not null,
    bookmark_id bigint not null references forebay.bookmark on delete cascade
);
insert into forebay.bookmark_tag (owner_id, tag, bookmark_id)
select distinct b.owner_id, t.tag, b.id from forebay.bookmark b cross join lateral unnest(b.tags) t(tag)
where b.archived_at is null;
create index bookmark_tag_used on forebay.bookmark_tag (owner_id, tag);
create index bookmark_tag_of on forebay.bookmark_tag (bookmark_id);
