-- Begins a batch: nobody else may until the transaction ends. Tells how many items there are, and which of the keys they have.
-- A stream is a job whose items come batch by batch, each in a transaction that also says how far the source was read. A
-- stream that broke off goes on behind job.loaded; of two that write to one job at once, one is rejected.
create or replace function forebay.begin_batch(
    job_id bigint, loaded bigint, keys text[], out total int, out taken text[]
) language plpgsql as $$
#variable_conflict use_column
declare job forebay.job := forebay.lock_job(job_id);
begin
    if job.sealed then
        perform forebay.refuse('FB005', 'key', format('job %s takes no more items: it is %s', job.id, job.state));
    elsif job.loaded <> begin_batch.loaded then
        perform forebay.refuse('FB005', 'key', format(
            'another process streams to job %s: it has read %s rows of its source, this one %s', job.id, job.loaded, loaded));
    end if;
    total := job.total;
    taken := array(select i.key from forebay.item i where i.job_id = job.id and i.key = any(keys));
end $$;
