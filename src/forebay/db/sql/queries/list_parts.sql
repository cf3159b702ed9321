-- The version of each schema part; 0 for a part that has routines and no migrations.
select part, max(version) as version
from (select part, version from forebay.migration union all select name, 0 from forebay.part) p
group by part
order by part
