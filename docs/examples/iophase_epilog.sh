#!/bin/sh
# EpilogSlurmctld: finds the trace of the job that has ended and hands it to slurm_epilog.sh, which sets the AdminComment.
# Runs as SlurmUser on the controller, with an almost empty environment: PATH is set here, and the logs have to be readable there.
set -u
PATH=/usr/local/bin:/usr/bin:/bin
export PATH
here=$(dirname "$(readlink -f "$0")")
logs=${IOPHASE_LOGS:-/var/log/darshan}       # DARSHAN_LOGPATH of the site

# Darshan names its logs USER_PROGRAM_idJOB-PID_... and sorts them into folders YEAR/MONTH/DAY without leading zeros; a job may have
# crossed midnight. The largest log of a job with several programs is that of the one that did the work.
today=$(date +%Y/%-m/%-d)
yesterday=$(date -d yesterday +%Y/%-m/%-d)
trace=$(find "$logs/$today" "$logs/$yesterday" -name "*_id${SLURM_JOB_ID}[-_]*.darshan" -printf '%s %p\n' 2>/dev/null |
    sort -rn | head -1 | cut -d' ' -f2-)
[ -n "$trace" ] || exit 0
exec "$here/slurm_epilog.sh" "$trace"
