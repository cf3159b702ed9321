-- Pauses a queue.
select forebay.pause_queue($1, $2)
