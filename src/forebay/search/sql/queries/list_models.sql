-- The models, the active one first.
select m.id, m.name, m.dimensions, m.state, m.job_id, m.created_at, m.activated_at
from forebay.search_model m order by m.state <> 'active', m.state <> 'building', m.id desc
