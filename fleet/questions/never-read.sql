-- Files that are written and not read again within 30 days by any job of the list: families by bytes.
with written as (
  select family, mount, user_id, start_time, bytes_written from files where bytes_written > 0
), reads as (
  select family, start_time from files where bytes_read > 0
), unread as (
  select w.family, w.mount, w.user_id, w.bytes_written, w.start_time
  from written w left join reads r
    on r.family = w.family and r.start_time >= w.start_time and r.start_time <= w.start_time + interval '30 days'
  where r.family is null
)
select family, mount, count(*) as jobs, count(distinct user_id) as users, sum(bytes_written) as bytes_written, max(start_time) as last_written
from unread group by family, mount
order by bytes_written desc, family, mount limit 20
