-- When the file systems are busiest: the ten minutes and mounts with most bytes, how many jobs do I/O then, and the one with most.
with of_job as (
  select minute, mount, log_key, app, user_id, sum(bytes) as bytes
  from minutes where mode in ('read', 'write') group by minute, mount, log_key, app, user_id
), ranked as (
  select minute, mount, app, user_id, bytes,
         row_number() over (partition by minute, mount order by bytes desc, log_key) as place,
         sum(bytes) over (partition by minute, mount) as all_bytes,
         count(*) over (partition by minute, mount) as jobs
  from of_job
)
select minute, mount, all_bytes / 60.0 as bytes_per_s, jobs, app as largest_app, user_id as largest_user, bytes / 60.0 as largest_bytes_per_s
from ranked where place = 1
order by bytes_per_s desc, minute, mount limit 10
