#!/usr/bin/env python3
"""Figures of the default detector where it is hardest, by kind of job, from generated traces with known truth.

    detector_cases.py --program target/release/iophase [--seed 901] [--per-kind 84] [--kinds ...]

Kinds: bursts seen in a few bins per period; two periods in one job; the next burst of a run that is cut at a random moment, against one
who knows all onsets; periods at and below the shortest that is looked for; a rhythm beside small lines, bursts without a
period beside a long write; thousands of cycles that wander; stretches in which another job slows the bursts. Kinds between periodic and not: edge_classes.py. Needs numpy.
"""
import argparse
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

WITHIN = 0.05  # a period is right within so much


class Job:
    """Writes of a job: start, end, bytes."""

    def __init__(self):
        self.rows = []

    def burst(self, start, width, size, requests=4):
        step = width / requests
        self.rows += [(start + i * step, start + (i + 1) * step, size / requests) for i in range(requests)]

    def csv(self, path):
        with open(path, "w") as f:
            f.write("op,start,end,size\n")
            f.writelines(f"write,{s:.9f},{e:.9f},{max(1, round(b))}\n" for s, e, b in sorted(self.rows))

    def bins_csv(self, path, width, origin):
        s, e, b = (np.array(x) for x in zip(*sorted(self.rows)))
        edges = np.arange(origin, e.max() + 2 * width, width)
        t = np.concatenate([s, e])
        order = np.argsort(t)
        rate = np.cumsum(np.concatenate([b / (e - s), -b / (e - s)])[order])
        total = np.concatenate([[0.0], np.cumsum(rate[:-1] * np.diff(t[order]))])
        bins = np.diff(np.interp(edges, t[order], total))
        with open(path, "w") as f:
            f.write("time,bytes\n")
            f.writelines(f"{a:.9f},{max(0, round(x))}\n" for a, x in zip(edges, bins))


def log_uniform(r, low, high):
    return float(np.exp(r.uniform(np.log(low), np.log(high))))


def is_right(found, true):
    return found is not None and abs(found / true - 1) <= WITHIN


class Answer:
    def __init__(self, program, path, options):
        run = subprocess.run([program, "analyze", path, "--json", "-", *options], capture_output=True, text=True)
        if run.returncode not in (0, 2, 3):
            raise SystemExit(f"{path}: exit code {run.returncode}: {run.stderr}")
        signals = json.loads(run.stdout)["signals"] if run.returncode == 0 else []
        signal = max(signals, key=lambda s: s["bytes"], default=None)
        period = signal["period"] if signal else {"verdict": None, "dominant": None, "others": []}
        self.verdict, self.others = period["verdict"], period["others"]
        dominant = period["dominant"] if signal and period["periodic"] else None
        self.period = dominant and dominant["period_s"]
        self.confidence = dominant["confidence"] if dominant else 0.0
        self.next = signal and signal["prediction"]
        self.windows = [(w["start_s"], w["end_s"]) for w in signal["validity"]] if dominant else []
        self.all = [p for p in [self.period, *(o["period_s"] for o in self.others)] if p]


# ---------------------------------------------------------------- kinds: each gives the file's options and a judge of the answer


def bins(low, high):
    """A burst on a clock every `low` to `high` bins."""

    def make(r, path):
        width = log_uniform(r, 0.1, 60.0)
        period, n = width * r.uniform(low, high), r.integers(20, 200)
        job, duty, jitter = Job(), r.uniform(0.05, 0.4), r.choice([0.0, 0.0, 0.01, 0.02])
        origin = r.uniform(0, 5) * width
        for i in range(n):
            start = origin + width * r.uniform(0, 1) * (i == 0) + period * (i + 1 + jitter * np.clip(r.normal(), -2, 2))
            job.burst(start, duty * period, 1e8 * (1 + 0.05 * np.clip(r.normal(), -2, 2)))
        job.bins_csv(path, width, 0.0)
        options = ["--columns", "time=time,write=bytes", "--kind", "bytes", "--time-unit", "s"]
        if high <= 2:
            return options, lambda a: {"silent, unsure or right": a.period is None or a.confidence <= 0.5 or is_right(a.period, period)}
        return options, lambda a: {"right": is_right(a.period, period), "wrong": a.period is not None and not is_right(a.period, period)}

    return make


def two_judge(periods, main):
    def judge(a):
        return {
            "both": all(any(is_right(p, t) for p in a.all) for t in periods),
            "main": is_right(a.period, main),
            "neither": not any(is_right(p, t) for t in periods for p in a.all),
        }

    return judge


def checkpoint_beside_dumps(r, path):
    """Dumps on a clock, and a checkpoint right after every k-th of them or between two."""
    short, k, rounds = log_uniform(r, 0.5, 20.0), int(r.integers(6, 50)), int(r.integers(5, 16))
    dump, size = r.uniform(0.03, 0.2) * short, log_uniform(r, 2, 100)
    job, phase = Job(), r.choice([0.0, 0.02, r.uniform(0.0, 0.9)])
    checkpoint = min(dump * size ** 0.5, 0.6 * short)
    for i in range(k * rounds):
        job.burst(3 + short * (i + 1e-3 * r.normal()), dump, 1e7)
    for i in range(rounds):
        job.burst(3 + i * k * short + dump + phase * (short - dump), checkpoint, 1e7 * size)
    job.csv(path)
    return [], two_judge([short, k * short], k * short if size > k else short)


def two_writers(r, path):
    """Small writes often and large ones seldom, each on a clock of its own."""
    short, ratio, rounds = log_uniform(r, 0.5, 5.0), r.uniform(8, 110), int(r.integers(5, 16))
    long, size = short * ratio, log_uniform(r, 10, 200)
    job, at = Job(), r.uniform(0, 1) * short * ratio
    run = rounds * long
    for i in range(int(rounds * ratio)):
        job.burst(3 + i * short, r.uniform(0.03, 0.06) * short, 1e7)
    width = min(0.1 * long, 0.05 * short * size ** 0.5)
    for start in np.arange(at, run - width, long):
        job.burst(3 + start, width, 1e7 * size)
    job.csv(path)
    return [], two_judge([short, long], long if size > ratio else short)


def throttled(r, path):
    """Each burst is cut into slices by a limit on the bandwidth."""
    slice_s, m, rounds = log_uniform(r, 0.2, 3.0), int(r.integers(10, 40)), int(r.integers(5, 16))
    period = slice_s * m * r.uniform(1.8, 5.0)
    job = Job()
    for i in range(rounds):
        start = 3 + period * (i + 0.002 * r.normal())
        for j in range(m):
            job.burst(start + j * slice_s, r.uniform(0.1, 0.5) * slice_s, 1e8, 2)
    job.csv(path)
    return [], two_judge([slice_s, period], period)


def next_burst(how):
    """The run is cut at a random moment, perhaps within a burst."""

    def make(r, path):
        period, n = log_uniform(r, 1.0, 100.0), int(r.integers(10, 60))
        jitter = {"jitter": r.uniform(0.02, 0.1)}.get(how, 0.003)
        light = {"alternating": r.uniform(0.1, 0.5)}.get(how, 1.0)
        growth = r.uniform(0.02, 0.08) if how == "growing" else 0.0
        onsets = 3 + period * np.arange(n + 2)
        if how == "renewal":
            onsets = 3 + period * np.cumsum(np.clip(1 + r.uniform(0.02, 0.1) * r.normal(size=n + 2), 0.5, None))
        else:
            onsets = onsets + jitter * period * np.clip(r.normal(size=n + 2), -2.5, 2.5)
        widths = r.uniform(0.05, 0.3) * period * np.where(np.arange(n + 2) % 2 == 0, 1.0, light)
        sizes = 1e9 * widths / period * (1 + growth * np.arange(n + 2))
        # A run ends by its last request: within a burst, or after one.
        within = r.random() < 0.3
        end = onsets[n - 1] + (r.uniform(0.1, 0.9) * widths[n - 1] if within else widths[n - 1])
        job = Job()
        for s, w, b in zip(onsets[:n], widths, sizes):
            job.burst(s, w, b, 8)
        job.rows = [(s, min(e, end), b * (min(e, end) - s) / (e - s)) for s, e, b in job.rows if s < end]
        job.csv(path)
        k = np.arange(n)
        best = float(onsets[n - 1] + period) if how == "renewal" else float(np.polyval(np.polyfit(k, onsets[:n], 1), n))

        def judge(a):
            p = a.next
            if p is None:
                return {"told": False}
            error = abs(p["next_start_s"] - onsets[n]) / period
            return {
                "told": True, "before the end": p["next_start_s"] < end - 1e-9, "~error": error, "~oracle": abs(best - onsets[n]) / period,
                "under way told": p["now_in_burst"] if within else None,
                "~sigma": p["next_start_std_s"] and abs(p["next_start_s"] - onsets[n]) / p["next_start_std_s"],
                "~bytes": abs(p["bytes"] / sizes[n] - 1),
            }

        return [], judge

    return make


def fast(looked_for):
    """Bursts every 1 to 15 ms: below the default shortest period, or with --min-period."""

    def make(r, path):
        period, n = log_uniform(r, 1e-3, 15e-3), int(r.integers(200, 2000))
        job = Job()
        for i in range(n):
            job.burst(1 + period * (i + 1e-3 * r.normal()), r.uniform(0.1, 0.3) * period, 1e6, 1)
        job.csv(path)
        if looked_for:
            return ["--min-period", f"{0.4 * period:.6f}"], lambda a: {"right": is_right(a.period, period)}
        return [], lambda a: {"silent or right": a.period is None or is_right(a.period, period)}

    return make


def small_lines(r, path):
    """A dump on a clock; small lines of 0.1 to 1 % of its bytes at a part of the period."""
    period, n, part = log_uniform(r, 2.0, 60.0), int(r.integers(10, 60)), int(r.integers(2, 6))
    job, share = Job(), log_uniform(r, 1e-3, 1e-2)
    for i in range(n):
        job.burst(3 + i * period, 0.1 * period, 1e9)
        for j in range(part):
            job.burst(3 + (i + (j + 0.5) / part) * period, 0.002 * period, 1e9 * share / part, 1)
    job.csv(path)
    return [], lambda a: {"main": is_right(a.period, period)}


def poisson(r, path):
    """Many bursts by chance."""
    n, gap = int(r.integers(300, 3000)), log_uniform(r, 0.5, 20)
    job, at = Job(), 3.0
    for _ in range(n):
        at += gap * r.exponential()
        job.burst(at, 0.05 * gap, 1e8, 2)
        at += 0.05 * gap
    job.csv(path)
    return [], lambda a: {"constant": a.verdict == "constant", "periodic": a.period is not None}


def after_a_long_write(r, path):
    """Clean bursts after an initial write that lasts longer than they do."""
    period, n = log_uniform(r, 5, 60), int(r.integers(20, 80))
    job, first = Job(), period * n * r.uniform(0.5, 2.0)
    job.burst(0.5, first, 1e9 * first, 200)
    for i in range(n):
        job.burst(first + period * (i + 1), 0.1 * period, 1e8 * period)
    job.csv(path)
    return [], lambda a: {"right": is_right(a.period, period), "constant": a.verdict == "constant"}


def overlap(found, true):
    """Intersection over union of two lists of disjoint stretches of time."""
    both = sum(max(0.0, min(b, d) - max(a, c)) for a, b in found for c, d in true)
    return both / (sum(b - a for a, b in found) + sum(d - c for c, d in true) - both)


def contention(r, path):
    """A job that computes and then writes; in one to three stretches another job takes part of the bandwidth, and each burst lasts
    longer. The period holds in the stretches between."""
    period, duty = log_uniform(r, 2.0, 100.0), r.uniform(0.1, 0.5)
    compute, width = (1 - duty) * period, duty * period
    job, at, alone = Job(), 3.0, []
    for k in range(2 * int(r.integers(1, 4)) + 1):
        first = at
        for _ in range(int(r.integers(3, 9) if k % 2 else r.integers(8, 30))):
            slower = 1 + r.uniform(0.5, 3.0) / duty * 0.5 if k % 2 else 1.0
            job.burst(at, width * slower, 1e8)
            end, at = at + width * slower, at + width * slower + compute * (1 + 0.01 * np.clip(r.normal(), -2, 2))
        if k % 2 == 0:
            alone.append((first, end))
    job.csv(path)
    return [], lambda a: {
        "right": is_right(a.period, period),
        "~IoU": overlap(a.windows, alone) if is_right(a.period, period) else None,
    }


def wander(r, path):
    """Thousands of cycles whose period is a slow random walk of 5 to 20 %."""
    n, period = int(r.integers(1000, 5000)), log_uniform(r, 0.5, 10)
    walk = np.cumsum(r.normal(size=n)) / n ** 0.5
    gaps = period * np.exp(r.uniform(0.05, 0.2) * walk) * (1 + 0.02 * np.clip(r.normal(size=n), -2, 2))
    job = Job()
    for s in 3 + np.cumsum(gaps):
        job.burst(s, 0.1 * period, 1e8, 1)
    job.csv(path)
    mean = gaps[1:].mean()
    return [], lambda a: {"1 %": a.period is not None and abs(a.period / mean - 1) < 0.01, "5 %": is_right(a.period, mean)}


KINDS = {
    "bins 2.2 to 3": bins(2.2, 3.0), "bins 3 to 8": bins(3.0, 8.0), "bins below 2": bins(1.2, 1.95),
    "checkpoint beside dumps": checkpoint_beside_dumps, "two writers": two_writers, "throttled": throttled,
    "next, clock": next_burst("clock"), "next, jitter": next_burst("jitter"), "next, renewal": next_burst("renewal"),
    "next, alternating": next_burst("alternating"), "next, growing": next_burst("growing"),
    "fast": fast(False), "fast, looked for": fast(True), "small lines": small_lines, "poisson": poisson,
    "after a long write": after_a_long_write, "wander": wander, "contention": contention,
}


def summary(judged):
    out = []
    for key in {k: None for j in judged for k in j}:
        values = [j[key] for j in judged if j.get(key) is not None]
        if key == "~sigma":
            shares = [100 * np.mean([v <= k for v in values]) for k in (1, 2, 3)]
            out.append("within 1, 2, 3 sigma " + ", ".join(f"{s:.0f}" for s in shares) + " %")
        elif key.startswith("~"):
            out.append(f"{key[1:]} median {np.median(values):.4f} p90 {np.quantile(values, 0.9):.4f}")
        elif values:
            out.append(f"{key} {100 * np.mean(values):.1f} %")
    return "; ".join(out)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--program", required=True)
    a.add_argument("--seed", type=int, default=901)
    a.add_argument("--per-kind", type=int, default=84)
    a.add_argument("--kinds", nargs="*", default=list(KINDS))
    a.add_argument("--failures", action="store_true", help="print the numbers of the cases with a false judgement")
    a = a.parse_args()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        for kind in a.kinds:

            def case(i, kind=kind):
                path = os.path.join(folder, f"{list(KINDS).index(kind)}-{i}.csv")
                options, judge = KINDS[kind](np.random.default_rng([a.seed, list(KINDS).index(kind), i]), path)
                judged = judge(Answer(a.program, path, options))
                os.remove(path)
                return judged

            judged = list(pool.map(case, range(a.per_kind)))
            print(f"{kind:24} {summary(judged)}", flush=True)
            if a.failures:
                print("   ", [i for i, j in enumerate(judged) if j.get("right", j.get("both", j.get("main", True))) is False])


if __name__ == "__main__":
    main()
