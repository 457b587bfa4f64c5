-- Which findings cost most: jobs and users that have them, and core hours lost (seconds that could be gained x ranks).
with of_log as (
  -- counting distinct logs in one step takes five times as long
  select code, log_key, min(name) as name, min(user_id) as user_id, sum(lost_s * ranks) as lost from findings group by code, log_key
)
select code, min(name) as name, count(*) as jobs, count(distinct user_id) as users, sum(lost) / 3600 as lost_core_hours
from of_log group by code
order by lost_core_hours desc nulls last, jobs desc, code
