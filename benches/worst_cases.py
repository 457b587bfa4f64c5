#!/usr/bin/env python3
"""CPU time per request of every command on requests that are hard to analyse: the table of docs/performance.md.

    cargo build --release
    benches/worst_cases.py [--requests 100000] [--times 10] [--runs 3] [KIND...]

Each kind of job is made twice, the second time with `--times` as many requests. A row has CPU microseconds per request of both and their
ratio, which stays near 1 where time grows with the number of requests. The median of the runs counts. Python 3 alone.
"""

import argparse
import math
import pathlib
import random
import statistics
import tempfile

from peers.compare import ROOT, once

COMMANDS = [
    ["info"],
    ["analyze"],
    ["patterns"],
    ["classify"],
    ["dfg"],
    ["findings"],
    ["report", "-q", "-o", "report.html"],
]


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


def a_file_each(_, n):
    return (request(i, 0.01 * i, file=i) for i in range(n))


def a_rank_each(_, n):
    return (request(i, 0.01 * i, rank=i) for i in range(n))


def in_turn(_, n):
    return (request(i, 0.01 * i, rank=i % 2, file=i % 3, op=["read", "write"][i % 5 % 2]) for i in range(n))


def nested(_, n):
    return (request(i, 0.001 * i, 0.002 * n - 0.001 * i) for i in range(n))


def at_once(_, n):
    return (request(i, 1.0, 2.0) for i in range(n))


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


KINDS = [random_offsets, random_sizes, all_random, backwards, a_file_each, a_rank_each, in_turn, nested, at_once, one_long,
         exponential_gaps, poisson, many_trains, growing_blocks]


def write(path, kind, n):
    with open(path, "w") as file:
        file.write("rank,op,file,offset,size,start,end\n")
        file.writelines(kind(random.Random(1), n))


def per_request(program, command, trace, n, runs, folder):
    """CPU microseconds per request, or None if the command failed."""
    done = [once([program, *command, str(trace)], folder) for _ in range(runs)]
    return statistics.median(cpu for _, cpu, _ in done) / n * 1e6 if all(done) else None


def main():
    names = {kind.__name__.replace("_", "-"): kind for kind in KINDS}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(names))
    parser.add_argument("--iophase", default=str(ROOT / "target/release/iophase"), help="the program")
    parser.add_argument("--requests", type=int, default=100_000, help="of the smaller job [100000]")
    parser.add_argument("--times", type=int, default=10, help="the larger job has so many times the requests [10]")
    parser.add_argument("--runs", type=int, default=3, help="of each command [3]")
    options = parser.parse_args()
    unknown = set(options.kinds) - set(names)
    if unknown:
        parser.error(f"no kind is called {', '.join(sorted(unknown))}")
    sizes = [options.requests, options.requests * options.times]
    worst = {command[0]: (0.0, "", 0.0, "") for command in COMMANDS}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print("| kind | " + " | ".join(f"`{c[0]}`" for c in COMMANDS) + " |\n|---" + "|---" * len(COMMANDS) + "|")
        for kind in options.kinds or names:
            traces = [folder / f"{n}.csv" for n in sizes]
            for trace, n in zip(traces, sizes):
                write(trace, names[kind], n)
            cells = []
            for command in COMMANDS:
                small, large = (per_request(options.iophase, command, t, n, options.runs, folder) for t, n in zip(traces, sizes))
                if small is None or large is None:
                    cells.append("failed")
                    continue
                cells.append(f"{small:.2f}, {large:.2f} ({large / small:.2f})")
                most, of, growth, grown = worst[command[0]]
                worst[command[0]] = (*max((most, of), (max(small, large), kind)), *max((growth, grown), (large / small, kind)))
            print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)
    print("\n| command | most, us a request | kind | largest growth | kind |\n|---|---|---|---|---|")
    for command, (most, of, growth, grown) in worst.items():
        print(f"| `{command}` | {most:.2f} | {of} | {growth:.2f} | {grown} |")


if __name__ == "__main__":
    main()
