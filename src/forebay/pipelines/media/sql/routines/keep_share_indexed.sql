-- Keeps the index of all searches in sync with shares, whoever changes them.
create or replace function forebay.keep_share_indexed() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' then
        perform forebay.delete_document(old.owner_id, 'share', old.id::text);
    else
        perform forebay.index_share(new.id);
    end if;
    return null;
end $$;

create or replace trigger keep_indexed after update on forebay.share
    for each row when (
        new.spoken is not distinct from old.spoken
        and (new.kind, new.title, new.description, new.author, new.site, new.language)
            is distinct from (old.kind, old.title, old.description, old.author, old.site, old.language))
    execute function forebay.keep_share_indexed();

-- Also if the words are the same: their times may differ.
create or replace trigger keep_spoken_indexed after update of spoken on forebay.share
    for each row execute function forebay.keep_share_indexed();

create or replace trigger forget_indexed after delete on forebay.share
    for each row execute function forebay.keep_share_indexed();
