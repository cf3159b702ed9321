-- A settled task after which something else has to happen: see settle. It takes the place of the type sequel.
create type forebay.settled_task as (
    job_id bigint, n int, step_id int, lane_id bigint, owner_id bigint, pipeline_id int, mask bigint, status forebay.item_status,
    done bigint, dead bigint, adds_done bigint, adds_dead bigint, outcome forebay.outcome, attempt smallint, spent boolean,
    again_at timestamptz, class text, reason text
);
