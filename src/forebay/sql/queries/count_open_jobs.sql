-- How many jobs are open, by state.
select j.state::text as state, count(*) as count from forebay.job j where j.finished_at is null group by j.state
