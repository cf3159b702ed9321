-- Loads items in COPY's text format.
copy forebay.item (job_id, owner_id, pipeline_id, n, key, input) from stdin (encoding 'utf8')
