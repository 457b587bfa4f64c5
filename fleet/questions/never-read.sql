-- Files that are written and not read again within 30 days by any job of the list: families by bytes.
with event as (
  select family, mount, user_id, start_time, bytes_written,
         min(case when bytes_read > 0 then start_time end)
           over (partition by family order by start_time range between current row and unbounded following) as next_read
  from files
)
select family, mount, count(*) as jobs, count(distinct user_id) as users, sum(bytes_written) as bytes_written, max(start_time) as last_written
from event
where bytes_written > 0 and (next_read is null or next_read > start_time + interval '30 days')
group by family, mount
order by bytes_written desc, family, mount limit 20
