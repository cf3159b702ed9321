-- Begins a batch and locks the job until the transaction ends. Returns the number of items so far, and which of the keys exist.
-- A stream is a job whose items arrive in batches, each in a transaction that also records the position in the source. An
-- interrupted stream continues after job.loaded; of two concurrent streams to one job, one is rejected.
create or replace function forebay.begin_batch(
    job_id bigint, loaded bigint, keys text[], out total int, out taken text[]
) language plpgsql as $$
#variable_conflict use_column
declare job forebay.job := forebay.lock_job(job_id);
begin
    if job.sealed or job.parent_id is not null then
        perform forebay.refuse('FB005', 'key', format('job %s takes no more items: it is %s', job.id, job.state));
    elsif job.loaded <> begin_batch.loaded then
        perform forebay.refuse('FB005', 'key', format(
            'another process streams to job %s: it has read %s rows of its source, this one %s', job.id, job.loaded, loaded));
    end if;
    total := job.total;
    taken := array(select i.key from forebay.item i where i.job_id = job.id and i.key = any(keys));
end $$;
