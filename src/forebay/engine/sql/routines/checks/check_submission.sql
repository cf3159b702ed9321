-- Rejects an input that is too large, and a start time that is out of range.
create or replace function forebay.check_submission(size bigint, max_bytes int, field text, run_at timestamptz, now timestamptz)
returns void language plpgsql as $$
begin
    if size > max_bytes then
        perform forebay.refuse('FB003', field, format('has %s bytes; the pipeline takes at most %s', size, max_bytes));
    elsif run_at is not null and (not isfinite(run_at) or run_at > now + interval '10 years') then
        perform forebay.refuse('FB002', 'run_at', 'must be within the next ten years');
    end if;
end $$;
