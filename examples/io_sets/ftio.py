# Answers with the period that FTIO finds in the rows so far of a job: one JSON object a line in, one out.
import json
import os
import sys

out = os.fdopen(os.dup(1), "w")
sys.stdout = open(os.devnull, "w")

import numpy as np
from importlib.metadata import version
from ftio.cli.ftio_core import core
from ftio.parse.args import parse_args
from ftio.parse.bandwidth import overlap
from ftio.prediction.helper import get_dominant

args = parse_args(["-e", "no"] + sys.argv[1:], "ftio")
print(json.dumps({"version": version("ftio-hpc")}), file=out, flush=True)
jobs = {}
for line in sys.stdin:
    message = json.loads(line)
    if "anew" in message:
        jobs = {}
        continue
    rows = jobs.setdefault(message["job"], [])
    rows += message["rows"]
    period = None
    if len(rows) > 1:
        try:
            starts, ends, rates = map(list, zip(*rows))
            b, t = overlap(rates, starts, ends)
            moved = sum(r * (e - s) for s, e, r in rows)
            prediction, _ = core({"time": np.array(t), "bandwidth": np.array(b), "total_bytes": moved, "ranks": 1}, args)
            frequency = float(get_dominant(prediction))
            period = 1 / frequency if frequency > 0 else None
        except Exception:
            period = None
    print(json.dumps({"period_s": period}), file=out, flush=True)
