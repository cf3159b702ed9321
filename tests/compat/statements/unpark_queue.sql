-- Unparks a queue.
select forebay.unpark_queue($1)
