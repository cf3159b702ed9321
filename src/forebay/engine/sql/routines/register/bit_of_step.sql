-- The bit of a step of a new version: the one it has in the present version, by its name or its former name, else the one it
-- had in an older version, else one that no version uses. others: the names and former names of the other steps of the new
-- version, whose bits in the present version are theirs.
create or replace function forebay.bit_of_step(
    pipe forebay.pipeline, version int, name text, renamed_from text, others text[]
) returns bigint language plpgsql as $$
#variable_conflict use_column
declare found_bit bigint;
begin
    select s.bit into found_bit
    from forebay.version_step s join forebay.pipeline_version v on v.id = s.version_id
    where v.pipeline_id = pipe.id and v.id <> version and s.name in (bit_of_step.name, renamed_from)
      and not exists (select from forebay.version_step t where t.version_id = version and t.bit = s.bit)
      and not exists (select from forebay.version_step t where t.version_id = pipe.version_id and t.bit = s.bit
                      and t.name = any(others) and t.name <> bit_of_step.name and t.name is distinct from renamed_from)
    order by v.id = pipe.version_id desc, s.name = bit_of_step.name desc, v.id desc limit 1;
    if found_bit is null then
        found_bit := forebay.free_bit(pipe);
    end if;
    if found_bit is null then
        perform forebay.drop_unused_versions(pipe, version);
        found_bit := forebay.free_bit(pipe);
    end if;
    if found_bit is null then
        perform forebay.refuse('FB002', 'steps', format(
            'the versions of pipeline %L that have open jobs have 63 steps together: wait until those jobs have ended', pipe.name));
    end if;
    return found_bit;
end $$;
