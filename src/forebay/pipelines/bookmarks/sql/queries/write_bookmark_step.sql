-- Records how step $3 of bookmark $1 of owner $2 has ended: state $4, reason $5, job $6.
insert into forebay.bookmark_step (bookmark_id, step, owner_id, job_id, state, reason)
select b.id, $3, b.owner_id, $6, $4, left($5::text, 1000) from forebay.bookmark b where b.id = $1 and b.owner_id = $2
on conflict (bookmark_id, step) do update
set job_id = excluded.job_id, state = excluded.state, reason = excluded.reason, ended_at = excluded.ended_at
