-- How periodic each application is: share of its runs with a period, median period and burst of those with confidence above 0.8.
with runs as (
  select l.app, l.log_key, bool_or(coalesce(s.periodic, false)) as periodic
  from logs l left join signals s on l.log_key = s.log_key
  where l.status in ('ok', 'partial') group by l.app, l.log_key
), share as (
  select app, count(*) as runs, avg(case when periodic then 1.0 else 0.0 end) as periodic_share from runs group by app
), sure as (
  select app, median(period_s) as period_s, median(duty_cycle) as duty_cycle, median(burst_bytes_median) as burst_bytes
  from signals where confidence > 0.8 group by app
)
select a.app, a.runs, a.periodic_share, s.period_s, s.duty_cycle, s.burst_bytes
from share a left join sure s on a.app = s.app
order by a.runs desc, a.app
