-- How the period of an application changes with its version and size: median period, burst length and rate by class of ranks (powers of two).
select l.app, l.app_version, cast(floor(log2(l.ranks)) as bigint) as ranks_class, s.mode, count(*) as runs,
       median(s.period_s) as period_s, median(s.burst_width_median_s) as burst_s, median(s.agg_rate) as agg_rate
from signals s join logs l on s.log_key = l.log_key
where s.confidence > 0.8 and l.ranks > 0
group by l.app, l.app_version, cast(floor(log2(l.ranks)) as bigint), s.mode
order by l.app, l.app_version, ranks_class, s.mode
