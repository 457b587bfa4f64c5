-- Who spends most I/O time: core hours lost in I/O (seconds of the slowest rank x ranks), bytes, and the costliest finding.
with cost as (
  select user_id, count(*) as jobs, sum(io_s * ranks) / 3600 as io_core_hours,
         sum(bytes_read) as bytes_read, sum(bytes_written) as bytes_written
  from logs where status in ('ok', 'partial') group by user_id
), worst as (
  select user_id, code, row_number() over (partition by user_id order by sum(lost_s * ranks) desc nulls last, code) as place
  from findings where lost_s > 0 group by user_id, code
)
select c.user_id, c.jobs, c.io_core_hours, c.bytes_read, c.bytes_written, w.code as worst_finding
from cost c left join worst w on c.user_id = w.user_id and w.place = 1
-- sums of equal jobs differ in their last digits
order by round(c.io_core_hours, 9) desc nulls last, c.user_id limit 20
