-- Whether leases have expired (if looks), and from which token on to look next: from the lowest one, or, if there is none, from
-- those that claims of the last minute have. Leases are read from first_token on: below the lowest one there may be millions of
-- dead rows that a long transaction keeps, which are walked over once.
create or replace function forebay.look_at_leases(
    first_token bigint, looks boolean, at timestamptz, out lowest_token bigint, out has_expired boolean
) language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
    has_expired := false;
    select l.token into lowest_token from forebay.lease l where l.token >= first_token order by l.token limit 1;
    if lowest_token is null then
        lowest_token := greatest(first_token, forebay.token_at(clock_timestamp() - interval '1 minute'));
    elsif looks then
        has_expired := exists (
            select from forebay.lease l where l.token >= look_at_leases.lowest_token and l.expires_at <= look_at_leases.at);
    end if;
end $$;
