#!/usr/bin/env python3
"""CPU time and memory of every command on inputs that are hard to analyse (docs/performance.md).

    cargo build --release
    benches/worst_cases.py [--rows 4000 40000] [--runs 1] [--most-us 20] [--commands NAME,...] [KIND...]

Each kind of input is made in several sizes, 0.1 to 10 MB by default. A cell has the CPU microseconds per row (a request, a call, an event, a
section) of each size. Listed at the end: runs above `--most-us` a row, runs above the memory of `--max-memory`, and commands whose CPU time
grows faster than n log n. The least of the runs counts. The exit code is 1 if anything is listed. Python 3 alone.
"""

import argparse
import gzip
import json
import math
import pathlib
import random
import sys
import tempfile
import time

from peers.compare import ROOT, once

# The part of a run that no row pays for: start of the process, fixed tables.
START_S = 0.02
# CPU time of a size over that of a smaller one, beyond that of n log n: caches, and the noise of a busy machine.
GROWTH = 1.6
MAX_MEMORY = 4 << 30
# A run that is not done by then is stopped and counts as if it were.
LIMIT_S = 60

COMMANDS = {
    "info": ["info"],
    "analyze": ["analyze"],
    "methods": ["analyze", "--method", "dft", "--detector", "lof", "--fourier-fit", "--scores", "--no-patterns"],
    "pictures": ["analyze", "--svg", "pictures"],
    "table": ["analyze", "--table"],
    "patterns": ["patterns", "--verify"],
    "classify": ["classify"],
    "network": ["classify", "--classifier", "network"],
    "dfg": ["dfg", "--svg", "graph.svg", "--dot", "graph.dot"],
    "timeline": ["dfg", "--timeline", "write", "--svg", "timeline.svg"],
    "findings": ["findings"],
    "report": ["report", "-q", "-o", "report.html"],
    "compare": ["compare", "INPUT"],
    "predict": ["predict", "--once", "--queue", "1000000"],
    "convert": ["convert", "-o", "converted.jsonl"],
}


def request(i, start, end=None, size=4096, offset=None, rank=0, file=0, op="write"):
    end = start + 0.001 if end is None else end
    return f"{rank},{op},f{file},{4096 * i if offset is None else offset},{size},{start:.6f},{end:.6f}\n"


def random_offsets(draw, n):
    return (request(i, 0.01 * i, offset=draw.randrange(1 << 40)) for i in range(n))


def random_sizes(draw, n):
    return (request(i, 0.01 * i, size=draw.randrange(1, 1 << 24)) for i in range(n))


def all_random(draw, n):
    for i in range(n):
        start = draw.uniform(0, 0.01 * n)
        yield request(i, start, start + draw.expovariate(1), draw.randrange(1, 1 << 24), draw.randrange(1 << 40), draw.randrange(64),
                      draw.randrange(64), draw.choice(["read", "write"]))


def backwards(_, n):
    return (request(i, 0.01 * i, offset=4096 * (n - i)) for i in range(n))


def time_backwards(_, n):
    return (request(i, 0.01 * (n - i)) for i in range(n))


def a_file_each(_, n):
    return (request(i, 0.01 * i, file=i) for i in range(n))


def a_rank_each(_, n):
    return (request(i, 0.01 * i, rank=i) for i in range(n))


def a_rank_and_file_each(_, n):
    return (request(i, 0.01 * i, rank=i, file=n - i) for i in range(n))


def ranks_by_files(draw, n):
    """Every file is touched by many ranks, every rank touches many files."""
    many = max(1, math.isqrt(n))
    return (request(i, 0.01 * i, rank=draw.randrange(many), file=draw.randrange(many), op=draw.choice(["read", "write"])) for i in range(n))


def long_names(draw, n):
    names = ["/".join("%030x" % draw.getrandbits(120) for _ in range(6)) for _ in range(n // 2)]
    return (request(i, 0.01 * i, file=names[i % len(names)]) for i in range(n))


def in_turn(_, n):
    return (request(i, 0.01 * i, rank=i % 2, file=i % 3, op=["read", "write"][i % 5 % 2]) for i in range(n))


def nested(_, n):
    return (request(i, 0.001 * i, 0.002 * n - 0.001 * i) for i in range(n))


def at_once(_, n):
    return (request(i, 1.0, 2.0) for i in range(n))


def at_once_by_ranks(_, n):
    return (request(i, 1.0, 2.0, offset=0, rank=i, op=["read", "write"][i % 2]) for i in range(n))


def no_duration(_, n):
    return (request(i, float(i // 100), float(i // 100)) for i in range(n))


def one_long(_, n):
    yield request(0, 0.0, 0.01 * n)
    yield from (request(i, 0.01 * i) for i in range(1, n))


def exponential_gaps(_, n):
    return (request(i, 1e9 * (math.expm1(20 * i / n) / math.expm1(20))) for i in range(n))


def poisson(draw, n):
    start = 0.0
    for i in range(n):
        start += draw.expovariate(1)
        yield request(i, start)


def a_burst_each(draw, n):
    return (request(i, i + 0.05 * draw.random(), i + 0.2, size=1 << 20) for i in range(n))


def bursts_of_two_jobs(draw, n):
    """Writes and reads, each with a period of its own."""
    for i in range(n // 2):
        yield request(i, 2.0 * i, 2.0 * i + 0.2, size=1 << 20)
        yield request(i, 3.7 * i + 0.1 * draw.random(), 3.7 * i + 0.5, size=1 << 20, op="read", file=1)


def changing_periods(draw, n):
    start = 0.0
    for i in range(n):
        start += [3.0, 5.0, 8.0, 4.0][i // 25 % 4] + 0.02 * draw.random()
        yield request(i, start, start + 0.3, size=1 << 20)


def heavy_tails(draw, n):
    start = 0.0
    for i in range(n):
        start += draw.paretovariate(1.1)
        yield request(i, start, start + 0.1, size=min(int(4096 * draw.paretovariate(0.8)), 1 << 40))


def many_trains(draw, n):
    """Sixteen trains with periods that have no common multiple."""
    starts = sorted(k * math.sqrt(2 + train) for train in range(16) for k in range(n // 16))
    return (request(i, start, start + 0.001 * draw.random()) for i, start in enumerate(starts))


def growing_blocks(_, n):
    """Runs of 1, 2, 3, ... requests, each run at another place."""
    run, left = 1, 1
    for i in range(n):
        if left == 0:
            run += 1
            left = run
        left -= 1
        yield request(i, 0.01 * i, offset=(run << 24) + 4096 * (run - left))


def thue_morse(_, n):
    """Steps of two lengths in an order without repetition."""
    offset = 0
    for i in range(n):
        yield request(i, 0.01 * i, offset=offset)
        offset += 4096 + 4096 * (i.bit_count() % 2)


def interleaved(_, n):
    """Sixty-four strided streams of one rank in one file."""
    return (request(i, 0.01 * i, offset=(i % 64 << 32) + (i // 64) * (4096 + 512 * (i % 64))) for i in range(n))


def same_place(_, n):
    return (request(i, 0.01 * i, offset=0, rank=i % 7, op=["write", "read"][i % 2]) for i in range(n))


def overlapping(draw, n):
    return (request(i, 0.01 * i, offset=draw.randrange(1 << 20), size=draw.randrange(1, 1 << 19), rank=i % 16) for i in range(n))


def strided_sizes(_, n):
    return (request(i, 0.01 * i, size=1 + i, offset=i * (i + 1) // 2) for i in range(n))


def call(i, name, path, pid=1):
    return f"{pid} {1700000000 + 0.001 * i:.6f} {name}({3 + i % 5}</d/{path}>, \"\", 4096) = 4096 <0.000100>\n"


def activities(count):
    def made(draw, n):
        names = ["read", "write", "pread64", "pwrite64"]
        return (call(i, names[k % 4], f"a{k // 4}/x") for i, k in ((i, draw.randrange(count)) for i in range(n)))
    return made


def an_activity_each(_, n):
    return (call(i, "write", f"{i}/x") for i in range(n))


def a_process_each(_, n):
    return (call(i, "write", "x/y", pid=i + 1) for i in range(n))


def unfinished(_, n):
    half = n // 2
    for i in range(half):
        yield f"{i + 1} {1700000000 + 0.001 * i:.6f} write(3</d/x>, \"\", 4096 <unfinished ...>\n"
    for i in range(half):
        yield f"{half - i} {1700000000 + 0.001 * (half + i):.6f} <... write resumed>) = 4096 <1.0>\n"


def never_resumed(_, n):
    return (f"1 {1700000000 + 0.001 * i:.6f} write({i}</d/x{i}>, \"\", 4096 <unfinished ...>\n" for i in range(n))


def open_and_close(_, n):
    for i in range(n // 3):
        at = 1700000000 + 0.003 * i
        yield f"1 {at:.6f} openat(AT_FDCWD, \"/d/f{i}\", O_RDWR) = {3 + i}\n"
        yield f"1 {at + 0.001:.6f} write({3 + i}, \"\", 4096) = 4096 <0.000100>\n"
        yield f"1 {at + 0.002:.6f} close({3 + i // 2}) = 0\n"


def events(made):
    def with_commas(draw, n):
        yield "["
        yield from (("" if i == 0 else ",\n") + json.dumps(e) for i, e in enumerate(made(draw, n)))
        yield "]\n"
    return with_commas


def begins_then_strange_ends(_, n):
    for i in range(n):
        phase, name = ("B", f"write{i}") if i < n // 2 else ("E", f"other{i}")
        yield {"ph": phase, "name": name, "pid": 1, "tid": 1, "ts": i, "args": {"bytes": 4096}}


def deep_events(_, n):
    for i in range(n):
        yield {"ph": "B" if i < n // 2 else "E", "name": "write", "pid": 1, "tid": 1, "ts": i, "args": {"bytes": 4096}}


def asynchronous_events(draw, n):
    for i in range(n // 2):
        yield {"ph": "b", "cat": "io", "id": i, "name": "write", "pid": i % 97, "ts": i, "args": {"bytes": 4096}}
    for i in draw.sample(range(n // 2), n // 2):
        yield {"ph": "e", "cat": "io", "id": i, "name": "write", "pid": i % 97, "ts": n + i}


def many_counters(_, n):
    for i in range(n):
        yield {"ph": "C", "name": f"bytes_written{i % max(1, n // 4)}", "pid": 1, "ts": 1000 * i, "args": {"bytes": 4096 * i}}


def dftracer_calls(draw, n):
    yield "[\n"
    for i in range(n // 2):
        yield json.dumps({"name": "FH", "cat": "dftracer", "pid": 7, "tid": 7, "ph": "M", "args": {"name": f"/d/{i}", "value": f"{i:x}"}}) + "\n"
        yield json.dumps({"id": i, "name": draw.choice(["read", "write"]), "cat": "POSIX", "pid": i % 50, "tid": i, "ts": 1000 * i, "dur": 100,
                          "ph": "X", "args": {"fhash": f"{i:x}", "ret": 4096}}) + "\n"


def section(i, rates="100.0,0", times=None):
    times = f"{i},{i}.5" if times is None else times
    return '{"write_sync":{"total_bytes":50,"number_of_ranks":4,"bandwidth":{"b_overlap_avr":[%s],"t_overlap":[%s]}}}\n' % (rates, times)


def sections(_, n):
    return (section(i) for i in range(n))


def open_sections(_, n):
    """The last rate of each curve has no end."""
    return (section(i, rates="100.0,50.0") for i in range(n))


def overlapping_sections(draw, n):
    return (section(i, times=f"{draw.uniform(0, n)},{n + 1}") for i in range(n))


def cut_sections(_, n):
    return (section(i)[:-4] + "\n" for i in range(n))


def devices(_, n):
    yield "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s\n"
    many = max(1, n // 50)
    yield from (f"n{i % many};1;{1700000000 + i // many};sd{i % many};2.00;1.00;{i % 91}.00\n" for i in range(n))


def radar_processes(_, n):
    yield f"HEADER\n/scratch/x {n} {4096 * n}\n"
    yield from (f"PROCESS {i} 1\nADIOI_WriteStrided {0.5 * i} 1\n{4096 * i} 4096\n" for i in range(n))


KINDS = {
    ".csv": [random_offsets, random_sizes, all_random, backwards, time_backwards, a_file_each, a_rank_each, a_rank_and_file_each,
             ranks_by_files, long_names, in_turn, nested, at_once, at_once_by_ranks, no_duration, one_long, exponential_gaps, poisson,
             a_burst_each, bursts_of_two_jobs, changing_periods, heavy_tails, many_trains, growing_blocks, thue_morse, interleaved,
             same_place, overlapping, strided_sizes],
    ".st": [("forty_activities", activities(40)), ("thousand_activities", activities(1000)), an_activity_each, a_process_each, unfinished,
            never_resumed, open_and_close],
    ".json": [(f.__name__, events(f)) for f in (begins_then_strange_ends, deep_events, asynchronous_events, many_counters)],
    ".pfw": [dftracer_calls],
    ".jsonl.gz": [sections, open_sections, overlapping_sections, cut_sections],
    ".series.csv": [devices],
    ".radar.txt": [radar_processes],
}


def kinds():
    """Ending and generator by name."""
    named = [(ending, *(k if isinstance(k, tuple) else (k.__name__, k))) for ending, all_of in KINDS.items() for k in all_of]
    return {name.replace("_", "-"): (ending, make) for ending, name, make in named}


def write(path, make, n):
    opened = gzip.open(path, "wt", compresslevel=6) if path.suffix == ".gz" else open(path, "w")
    with opened as file:
        if path.suffixes == [".csv"]:
            file.write("rank,op,file,offset,size,start,end\n")
        file.writelines(make(random.Random(1), n))


def least(program, command, trace, runs, folder):
    """Least CPU seconds and most bytes of memory; None if the command failed."""
    filled = [str(trace) if word == "INPUT" else word for word in command]
    done = []
    for _ in range(runs):
        start = time.monotonic()
        with tempfile.TemporaryDirectory(dir=folder) as outputs:
            run = once([program, *filled, str(trace)], outputs, (0, 4), LIMIT_S)
        if run is None:
            return (LIMIT_S, 0) if time.monotonic() - start > LIMIT_S else None
        done.append(run)
    return min(cpu for _, cpu, _ in done), max(peak for *_, peak in done)


def grows(times, sizes):
    """Largest CPU time beyond n log n from a size to the next, as a ratio; 0 if too short to tell."""
    cost = [n * math.log(n) for n in sizes]
    pairs = [(b / a) / (d / c) for a, b, c, d in zip(times, times[1:], cost, cost[1:]) if b > 10 * START_S]
    return max(pairs, default=0.0)


def main():
    all_kinds = kinds()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(all_kinds))
    parser.add_argument("--iophase", default=str(ROOT / "target/release/iophase"), help="the program")
    parser.add_argument("--rows", type=int, nargs="+", default=[4_000, 16_000, 64_000], help="of each input, rising [4000 16000 64000]")
    parser.add_argument("--runs", type=int, default=1, help="of each command [1]")
    parser.add_argument("--most-us", type=float, default=20.0, help="CPU microseconds a row may take [20]")
    parser.add_argument("--commands", default=",".join(COMMANDS), help="those to run [all]")
    options = parser.parse_args()
    unknown = set(options.kinds) - set(all_kinds) | set(options.commands.split(",")) - set(COMMANDS)
    if unknown:
        parser.error(f"neither a kind nor a command: {', '.join(sorted(unknown))}")
    wanted, sizes, found, count = options.commands.split(","), options.rows, [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print("| kind | " + " | ".join(f"`{c}`" for c in wanted) + " |\n|---" + "|---" * len(wanted) + "|")
        for kind in options.kinds or all_kinds:
            ending, make = all_kinds[kind]
            traces = [folder / f"{n}{ending}" for n in sizes]
            for trace, n in zip(traces, sizes):
                write(trace, make, n)
            cells = []
            for command in wanted:
                done = [least(options.iophase, COMMANDS[command], t, options.runs, folder) for t in traces]
                count += len(done) * options.runs
                if not all(done):
                    cells.append("-")
                    continue
                times = [max(cpu - START_S, 0.001) for cpu, _ in done]
                # a comparison reads two of them
                inputs = 1 + COMMANDS[command].count("INPUT")
                of_row = [t / (inputs * n) * 1e6 for t, n in zip(times, sizes)]
                cells.append(", ".join(f"{us:.1f}" for us in of_row))
                for us, n, (_, peak) in zip(of_row, sizes, done):
                    if us > options.most_us:
                        found.append(f"{kind}, {command}: {us:.1f} us a row of {n}")
                    if peak > MAX_MEMORY:
                        found.append(f"{kind}, {command}: {peak >> 20} MiB for {n} rows")
                if grows(times, sizes) > GROWTH:
                    found.append(f"{kind}, {command}: grows {grows(times, sizes):.1f} times as fast as n log n")
            print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)
            for trace in traces:
                trace.unlink()
    print(f"\n{count} runs", *found, sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
