-- Whether a job takes no more items because somebody has cancelled it, or it is gone.
select coalesce((select j.state = 'CANCELLED' from forebay.job j where j.id = $1), true)
