-- Stores items in COPY's binary format.
copy forebay.item (n, key, input, job_id, owner_id, pipeline_id) from stdin (format binary)
