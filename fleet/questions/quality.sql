-- How good the data is: logs by status, format version, depth of their times, and the most frequent reason.
with counted as (
  select status, format, format_version, timing, reason, count(*) as logs,
         row_number() over (partition by status, format, format_version, timing order by count(*) desc, reason) as place,
         sum(count(*)) over (partition by status, format, format_version, timing) as all_logs
  from logs group by status, format, format_version, timing, reason
)
select status, format, format_version, timing, all_logs as logs, reason as most_frequent_reason
from counted where place = 1
order by logs desc, status, format, format_version, timing
