-- Which findings cost most: jobs and users that have them, and core hours lost (seconds that could be gained x ranks).
select code, min(name) as name, count(distinct log_key) as jobs, count(distinct user_id) as users,
       sum(lost_s * ranks) / 3600 as lost_core_hours
from findings group by code
order by lost_core_hours desc nulls last, jobs desc, code
