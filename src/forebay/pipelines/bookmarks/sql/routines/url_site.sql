-- The host of a URL without `www.`, by which bookmarks are grouped. The index bookmark_site uses it: a change needs a new index.
create or replace function forebay.url_site(url text) returns text language sql immutable parallel safe as $$
select lower(substring(url from '^[A-Za-z]+://(?:[^/?#@]*@)?(?:[Ww][Ww][Ww]\.)?(\[[^]]*\]|[^/?#:]*)'))
$$;
