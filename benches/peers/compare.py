#!/usr/bin/env python3
"""Runs iophase and other programs on the same inputs and prints a table of time and memory (docs/performance.md).

    cargo build --release
    benches/peers/compare.py --runs 5 --python VENV/bin/python --log JOB.darshan

Programs that are not installed are left out, with a word on standard error. The runs of one input alternate: iophase, peer,
iophase, peer. Times are medians; `cpu` is user and system time, `peak` the largest resident set.
"""

import argparse
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 900


def once(command, folder, fine=(0,), limit_s=LIMIT_S):
    """Wall seconds, CPU seconds and peak bytes of one run; None if it takes too long or its exit code is not one of `fine`."""
    with open(os.devnull, "wb") as sink:
        start = time.monotonic()
        child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            wall = time.monotonic() - start
            if pid:
                break
            if wall > limit_s:
                child.kill()
                os.wait4(child.pid, 0)
                return None
            time.sleep(0.0005 if wall < 1 else 0.02)
    if os.waitstatus_to_exitcode(status) not in fine:
        return None
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


class Peers:
    """The programs that are there."""

    def __init__(self, options):
        self.python = options.python
        self.missing = set()

    def module(self, name):
        found = self.python and subprocess.run(
            [self.python, "-c", f"import {name}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
        return self.known(f"Python module {name}", found and found.returncode == 0)

    def script(self, name):
        beside = pathlib.Path(self.python).parent / name if self.python else None
        path = str(beside) if beside and beside.exists() else shutil.which(name)
        return path if self.known(name, path) else None

    def known(self, name, there):
        if not there and name not in self.missing:
            self.missing.add(name)
            print(f"skipped: {name} is not installed", file=sys.stderr)
        return there

    def versions(self):
        text = (
            "import importlib.metadata as m\n"
            "for n in ('ftio-hpc', 'darshan', 'drishti-io', 'pm4py'):\n"
            "    try: print(n, m.version(n))\n"
            "    except m.PackageNotFoundError: pass"
        )
        if not self.python:
            return []
        run = subprocess.run([self.python, "-c", text], capture_output=True, text=True, check=False)
        return run.stdout.split("\n")[:-1]


PM4PY = """
import sys, pm4py, pandas as pd
log = pd.read_csv(sys.argv[1])
log = log.rename(columns={"rank": "case:concept:name", "op": "concept:name", "start": "time:timestamp"})
log["case:concept:name"] = log["case:concept:name"].astype(str)
log["time:timestamp"] = pd.to_datetime(log["time:timestamp"], unit="s", utc=True)
pm4py.discover_dfg(log)
"""


def pairs(peers, iophase, options, folder):
    """Input, arguments of iophase, name of the peer and its command."""
    job = ["generate", "checkpoint", "--ranks", "64", "--checkpoints", "20", "--jitter", "0.02", "--transfer", "1KiB", "-q"]
    per_rank = max(1, options.requests // (64 * 20))

    def made(name, *more):
        path = folder / name
        command = [iophase, *job, "--size", f"{per_rank}KiB", *more, "-o", str(path)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return str(path)

    ftio = peers.script("ftio")
    if ftio:
        for path in [*options.phases, made("job.jsonl", "--format", "tmio"), made("job.msgpack", "--format", "msgpack")]:
            # no pictures, and what both programs do: one period
            yield path, ["analyze", "--no-patterns", path], "FTIO", [ftio, path, "-e", "no", "-m", "write"]
    if peers.module("pm4py"):
        path = made("job.csv", "--format", "csv")
        yield path, ["dfg", path], "pm4py", [peers.python, "-c", PM4PY, path]
    parser = shutil.which("darshan-dxt-parser")
    peers.known("darshan-dxt-parser", parser)
    summary, drishti = peers.module("darshan"), peers.script("drishti")
    for log in options.log:
        if summary:
            out = str(folder / "summary.html")
            command = [peers.python, "-m", "darshan", "summary", "--output", out, log]
            yield log, ["report", "-q", "-o", str(folder / "report.html"), log], "PyDarshan summary", command
        if drishti:
            yield log, ["findings", log], "Drishti", [drishti, log]
        if parser:
            yield log, ["analyze", log], "darshan-dxt-parser", [parser, log]


def shown(run):
    wall, cpu, peak = run
    return f"{wall:.3f} s | {cpu:.3f} s | {peak / 1e6:.0f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iophase", default=str(ROOT / "target/release/iophase"), help="the program")
    parser.add_argument("--python", help="Python of the environment with the peers")
    parser.add_argument("--runs", type=int, default=5, help="runs of each program [5]")
    parser.add_argument("--requests", type=int, default=1_000_000, help="requests of generated traces [1000000]")
    parser.add_argument("--phases", action="append", default=[], help="a trace that FTIO reads; may be repeated")
    parser.add_argument("--log", action="append", default=[], help="a Darshan log; may be repeated")
    options = parser.parse_args()
    peers = Peers(options)
    # the peers run in another folder
    options.phases, options.log = ([os.path.abspath(p) for p in paths] for paths in (options.phases, options.log))
    load = os.getloadavg()[0]
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {load:.1f} at the start;", end=" ")
    version = subprocess.run([options.iophase, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print("; ".join([version, *peers.versions()]), f"; medians of {options.runs} runs\n")
    print("| input | program | wall | cpu | peak | ratio of cpu |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for path, ours, name, theirs in pairs(peers, options.iophase, options, folder):
            runs = [(once([options.iophase, *ours], folder), once(theirs, folder)) for _ in range(options.runs)]
            both = []
            for some in zip(*runs):
                good = [r for r in some if r]
                both.append(tuple(statistics.median(x) for x in zip(*good)) if len(good) == len(some) else None)
            size = f"{pathlib.Path(path).name}, {os.path.getsize(path) / 1e6:.1f} MB"
            mine, other = both
            failed = "failed, or took longer than " + str(LIMIT_S) + " s | | "
            print(f"| {size} | `iophase {ours[0]}` | {shown(mine) if mine else failed} | |")
            ratio = f"{other[1] / max(mine[1], 1e-4):.0f}" if mine and other else ""
            print(f"| | {name} | {shown(other) if other else failed} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
