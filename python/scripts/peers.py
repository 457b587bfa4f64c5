#!/usr/bin/env python3
"""Peers side by side: PyDarshan and FTIO (in one environment) against this package with polars (in another), in turns, each in a process of its own.

python scripts/peers.py PYTHON_OF_PEERS PYTHON_OF_IOPHASE LOG [TURNS]
Prints medians of the seconds of the call, of the CPU seconds of the process, and of its largest memory.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

FRAME = """
import json, os, resource, sys, time
log = sys.argv[1]
before = time.perf_counter()
{setup}
ready = time.perf_counter()
{call}
done = time.perf_counter()
used = resource.getrusage(resource.RUSAGE_SELF)
sys.__stdout__.write(json.dumps(dict(import_s=ready - before, call_s=done - ready, cpu_s=used.ru_utime + used.ru_stime,
    mib=used.ru_maxrss / 1024, rows=rows)) + "\\n")
"""

CASES = {
    "segments: PyDarshan to DataFrames": (
        "peers",
        "import darshan",
        "report = darshan.DarshanReport(log, read_all=False)\n"
        "report.mod_read_all_dxt_records('DXT_POSIX')\n"
        "frames = report.records['DXT_POSIX'].to_df()\n"
        "rows = sum(len(f['write_segments']) + len(f['read_segments']) for f in frames)",
    ),
    "segments: iophase to polars": (
        "ours",
        "import iophase, polars",
        "frame = polars.DataFrame(iophase.open(log).requests())\nrows = frame.height",
    ),
    "segments: iophase to pandas": (
        "ours",
        "import iophase, pandas",
        "frame = iophase.open(log).requests().to_pandas()\nrows = len(frame)",
    ),
    "period: FTIO's function": (
        "peers",
        "import io, contextlib\nfrom ftio.cli.ftio_core import main",
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    main(['ftio', log, '-e', 'no', '-m', 'write_sync', '-f', '10'])\nrows = None",
    ),
    "period: iophase.analyze": ("ours", "import iophase", "report = iophase.analyze(log, mode='write')\nrows = None"),
    "import darshan": ("peers", "import darshan", "rows = None"),
    "import ftio": ("peers", "import ftio.cli.ftio_core", "rows = None"),
    "import iophase": ("ours", "import iophase", "rows = None"),
}


def main() -> int:
    pythons = {"peers": sys.argv[1], "ours": sys.argv[2]}
    log, turns = sys.argv[3], int((sys.argv[4:] or ["5"])[0])
    seen: dict[str, list[dict]] = {name: [] for name in CASES}
    failed: dict[str, str] = {}
    for _ in range(turns):
        for name, (whose, setup, call) in CASES.items():
            code = FRAME.format(setup=setup, call=call)
            done = subprocess.run([pythons[whose], "-c", code, log], capture_output=True, text=True)
            if done.returncode:
                failed[name] = (done.stderr.strip().splitlines() or ["no output"])[-1]
                continue
            seen[name].append(json.loads(done.stdout.strip().splitlines()[-1]))
    print(f"{'':36} {'import s':>9} {'call s':>9} {'CPU s':>9} {'MiB':>7} {'rows':>9}")
    for name, runs in seen.items():
        if not runs:
            print(f"{name:36} failed: {failed.get(name)}")
            continue
        import_s, call_s, cpu_s, mib = (statistics.median(r[k] for r in runs) for k in ("import_s", "call_s", "cpu_s", "mib"))
        print(f"{name:36} {import_s:9.3f} {call_s:9.3f} {cpu_s:9.3f} {mib:7.0f} {runs[0]['rows'] or '':>9}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
