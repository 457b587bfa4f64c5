-- Pairs of applications whose bursts overlap: jobs that meet, seconds of overlap, the seconds that chance alone would give while both run, and how much longer a burst is that meets another.
with burst as (
  select log_key, app, cast(extract(epoch from begin_time) as double) as b, cast(extract(epoch from end_time) as double) as e,
         cast(begin_time as bigint) as begin_us, cast(end_time as bigint) as end_us
  from bursts where count = 1 and end_time > begin_time
), width as (
  -- the mean length of a burst: a burst falls into two buckets on average, and most bursts of a bucket overlap; in whole microseconds, since the buckets are computed twice and have to be the same
  select sum(end_us - begin_us) / count(*) as us from burst
), bucket as (
  select log_key, app, b, e, begin_us / us as first, unnest(range(begin_us / us, end_us / us + 1)) as bucket
  from burst cross join width
), met as (
  select x.log_key as first_key, y.log_key as second_key, x.app as first_app, y.app as second_app,
         x.b, y.b as b2, least(x.e, y.e) - greatest(x.b, y.b) as overlap_s
  from bucket x join bucket y on x.bucket = y.bucket
  where x.log_key < y.log_key and least(x.e, y.e) > greatest(x.b, y.b) and x.bucket = greatest(x.first, y.first)
), pair as (
  select least(first_app, second_app) as app, greatest(first_app, second_app) as other_app, first_key, second_key, sum(overlap_s) as overlap_s
  from met group by least(first_app, second_app), greatest(first_app, second_app), first_key, second_key
), busy as (
  select log_key, min(b) as b, max(e) as e, sum(e - b) as busy_s from burst group by log_key
), expected as (
  select p.app, p.other_app, p.overlap_s,
         greatest(least(x.e, y.e) - greatest(x.b, y.b), 0.0) * (x.busy_s / (x.e - x.b)) * (y.busy_s / (y.e - y.b)) as chance_s
  from pair p join busy x on x.log_key = p.first_key join busy y on y.log_key = p.second_key
), touched as (
  select distinct unnest(make_array(first_key, second_key)) as log_key, unnest(make_array(b, b2)) as b from met
), length as (
  select u.app, avg(case when t.log_key is not null then u.e - u.b end) as meeting_s, avg(case when t.log_key is null then u.e - u.b end) as alone_s
  from burst u left join touched t on t.log_key = u.log_key and t.b = u.b group by u.app
), sums as (
  select app, other_app, count(*) as job_pairs, sum(overlap_s) as overlap_s, sum(chance_s) as chance_s
  from expected group by app, other_app
)
select s.app, s.other_app, s.job_pairs, s.overlap_s, s.chance_s,
       l.meeting_s / l.alone_s as app_longer, m.meeting_s / m.alone_s as other_longer
from sums s left join length l on l.app = s.app left join length m on m.app = s.other_app
where s.overlap_s > s.chance_s
order by s.overlap_s - s.chance_s desc, s.app, s.other_app limit 20
