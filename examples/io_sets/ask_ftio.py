# Answers each line, new rows of a job, with the period that FTIO finds in all its rows so far.
import json, os, sys

out = os.fdopen(os.dup(1), "w")
sys.stdout = open(os.devnull, "w")

import numpy as np
from ftio.cli.ftio_core import core
from ftio.parse.args import parse_args
from ftio.parse.bandwidth import overlap
from ftio.prediction.helper import get_dominant

args = parse_args(["-e", "no"], "ftio")
print("{}", file=out, flush=True)
jobs = {}
for line in sys.stdin:
    message = json.loads(line)
    if message is None:  # other jobs begin
        jobs.clear()
        continue
    rows = jobs.setdefault(message["job"], [])
    rows += message["rows"]
    period = None
    try:
        starts, ends, rates = map(list, zip(*rows))
        b, t = overlap(rates, starts, ends)
        moved = int(sum(r * (e - s) for s, e, r in rows))
        prediction, _ = core({"time": np.array(t), "bandwidth": np.array(b), "total_bytes": moved, "ranks": 1}, args)
        frequency = float(get_dominant(prediction))
        period = 1 / frequency if frequency > 0 else None
    except Exception as e:  # also said where there are too few rows for an answer
        print("FTIO:", repr(e), file=sys.stderr)
    print(json.dumps({"period_s": period}), file=out, flush=True)
