#!/usr/bin/env python3
"""Time and memory of iophase beside its own reading: second table of docs/performance.md.

    cargo build --release
    benches/itself.py [--runs 10] [--checkpoint-kib 800] [--formats csv,jsonl,msgpack,strace] [TRACE...]

For a generated job in each format, and for traces that are named, `info`, `analyze --no-patterns` and `analyze` run in turns; then
every command runs on the job in CSV. Times are medians; `cpu` is user and system time, `peak` the largest resident set.
"""

import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile

from peers.compare import ROOT, once

JOB = "generate checkpoint --ranks 64 --checkpoints 20 --transfer 1KiB --jitter 0.02 -qq".split()
READING = [["info"], ["analyze", "--no-patterns"], ["analyze"]]
COMMANDS = [
    ["info"],
    ["classify"],
    ["predict", "--once"],
    ["patterns"],
    ["analyze"],
    ["analyze", "--no-patterns"],
    ["findings"],
    ["dfg"],
    ["convert", "-q", "-o", "converted.jsonl"],
    ["report", "-q", "-o", "report.html"],
]
FORMATS = {"csv": "csv", "jsonl": "tmio", "msgpack": "msgpack", "strace": "strace"}


def medians(commands, options, folder):
    """Of each command: wall seconds, CPU seconds, peak bytes, and the spread of the wall seconds. The commands run in turns."""
    rounds = [[once([options.iophase, *c], folder) for c in commands] for _ in range(options.runs)]
    for runs in zip(*rounds):
        good = [r for r in runs if r]
        if len(good) < len(runs):
            yield None
            continue
        walls = [r[0] for r in good]
        yield (*(statistics.median(x) for x in zip(*good)), min(walls), max(walls))


def shown(run):
    if run is None:
        return "failed"
    wall, cpu, peak, least, most = run
    return f"{wall:.3f} s ({least:.3f} to {most:.3f}), {cpu:.2f} s, {peak / 1e6:.0f} MB"


def beside_reading(traces, options, folder):
    print("| input | " + " | ".join(f"`{' '.join(c)}`" for c in READING) + " | ratio | ratio without patterns |")
    print("|---" * (len(READING) + 3) + "|")
    for trace in traces:
        runs = list(medians([[*c, str(trace)] for c in READING], options, folder))
        known = all(runs)
        ratios = [f"{runs[k][0] / runs[0][0]:.2f}" if known else "" for k in (2, 1)]
        print(f"| {trace.name} | " + " | ".join(map(shown, runs)) + f" | {ratios[0]} | {ratios[1]} |", flush=True)


def all_commands(trace, options, folder):
    print("\n| command | wall (least to most), CPU, peak |\n|---|---|")
    commands = [[*c, str(trace)] for c in COMMANDS]
    commands.append(["compare", str(trace), str(trace)])
    for command, run in zip([*COMMANDS, ["compare"]], medians(commands, options, folder)):
        print(f"| `{' '.join(command)}` | {shown(run)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="*", help="more traces")
    parser.add_argument("--iophase", default=str(ROOT / "target/release/iophase"), help="the program")
    parser.add_argument("--runs", type=int, default=10, help="runs of each command [10]")
    parser.add_argument("--checkpoint-kib", type=int, default=800, help="requests of 1 KiB of a rank and checkpoint [800]")
    parser.add_argument("--formats", default="csv,jsonl,msgpack,strace", help="formats of the generated job")
    options = parser.parse_args()
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start;", end=" ")
    print(f"medians of {options.runs} runs; wall (least to most), CPU, peak\n")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        traces = []
        for ending in options.formats.split(","):
            trace = folder / f"job.{ending}"
            job = [*JOB, "--size", f"{options.checkpoint_kib}KiB", "--format", FORMATS[ending], "-o", str(trace)]
            subprocess.run([options.iophase, *job], check=True)
            traces.append(trace)
        beside_reading([*traces, *(pathlib.Path(t).resolve() for t in options.traces)], options, folder)
        if "csv" in options.formats:
            all_commands(folder / "job.csv", options, folder)


if __name__ == "__main__":
    main()
