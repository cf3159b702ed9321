-- Resumes a queue.
select forebay.resume_queue($1, $2)
