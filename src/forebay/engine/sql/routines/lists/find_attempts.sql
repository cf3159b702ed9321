-- Attempts by fewer filters: search_attempts() as the API of the previous release calls it.
create or replace function forebay.find_attempts(
    owner_id bigint, job_id bigint, n int, step text, outcome forebay.outcome, worker text,
    before_at timestamptz, before_token bigint, before_n int, max_attempts int, effort interval default '100 ms',
    out attempts forebay.attempt[], out next_at timestamptz, out next_token bigint, out next_n int
) language sql stable as $$
select s.attempts, s.next_at, s.next_token, s.next_n from forebay.search_attempts(
    owner_id, job_id, n, step, outcome, worker, null, null, null, before_at, before_token, before_n, max_attempts, effort) s
$$;
