-- Notes that job $2 builds model $1.
update forebay.search_model m set job_id = $2 where m.id = $1
