-- Puts a sheet that was read into the index of all searches: one document with the values of its first rows, found by its words.
-- Rows are data, not prose, and may be a million: they are not embedded.
create or replace function forebay.index_sheet(sheet_id bigint) returns void language sql as $$
select forebay.put_document(
    sheet.owner_id, 'sheet', sheet.job_id::text, sheet.name,
    left((select string_agg(r.line, chr(10) order by r.n) from (
        select i.n, (select string_agg(v.value, ' ') from jsonb_each_text(case jsonb_typeof(i.input) when 'object' then i.input end) v
                     where v.value <> '') as line
        from forebay.item i where i.job_id = sheet.job_id order by i.n limit 2000) r), 200000),
    written_at => sheet.created_at, embed => false)
from forebay.sheet where sheet.id = sheet_id
$$;
