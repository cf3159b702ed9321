-- Adds the files of an instance that are new: [{"key", "name", "url", "size", "sha256"}]; of the others, the address is updated.
create or replace function forebay.add_attachments(owner_id bigint, instance_id bigint, files jsonb)
returns void language sql as $$
insert into forebay.attachment as a (owner_id, instance_id, key, name, url, expected_size, expected_sha256)
select add_attachments.owner_id, add_attachments.instance_id, f.key, f.name, f.url, f.size, decode(f.sha256, 'hex')
from jsonb_to_recordset(files) as f(key text, name text, url text, size bigint, sha256 text)
on conflict (instance_id, key) do update set url = excluded.url where a.url is distinct from excluded.url
$$;
