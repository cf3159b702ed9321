-- The files of instance $1 that are to be downloaded.
select a.id, a.name from forebay.attachment a where a.instance_id = $1 and a.status = 'PENDING' order by a.id
