#!/bin/sh
# EpilogSlurmctld, or run by hand after a job: leaves what iophase says of the I/O of a job in its AdminComment, as
#   iophase period_s=12.1 set=1 bytes=8.6e+09 idle_s=9.7 confidence=0.99
# Usage: slurm_epilog.sh TRACE [JOB]       JOB is $SLURM_JOB_ID if not given. Needs jq.
# A job without a period, or a trace that cannot be read, leaves the comment as it is: an epilog must not fail its node.
set -u
trace=$1
job=${2:-${SLURM_JOB_ID:?no job}}

report=$(timeout 60 iophase analyze "$trace" --json - -qq) || exit 0
comment=$(printf '%s' "$report" | jq -r '
    .primary as $mode | .signals[] | select(.mode == $mode) | .prediction | select(. != null)
    | "iophase period_s=\(.period_s) set=\(.set10.set) bytes=\(.bytes) idle_s=\(.idle_s) confidence=\(.confidence)"')
# The job has ended: scontrol refuses to change it, the accounting database does not.
[ -z "$comment" ] || sacctmgr -i -Q modify job where "JobId=$job" set "AdminComment=$comment"
exit 0
