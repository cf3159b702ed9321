-- The views are for people with psql: those of an owner are protected by the tables that they read.
select forebay.permit('select', v, 'forebay_api', 'forebay_admin')
from unnest('{embedding_tasks,embedding_log}'::text[]) v;
select forebay.permit('select', 'embedding_worker_status', 'forebay_admin');
