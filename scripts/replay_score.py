#!/usr/bin/env python3
"""Compare replayed predictions with the truth.

    replay_score.py suite SUITE_DIR REPLAY.jsonl      output of examples/replay.rs on SUITE_DIR/*/trace.json
    replay_score.py corpus MANIFEST.json REPLAY.jsonl ... on the traces that the manifest lists

Prints, for every class or scenario: in how many cases each burst after the fourth cycle of its regime was predicted
within 5 % of the period by the last prediction before it; how many changes of the period were noticed within two
cycles of the new one; false changes; and the milliseconds a prediction took. Python 3 alone.
"""
import bisect
import collections
import json
import math
import os
import statistics
import sys

CYCLES = 4
TOLERANCE = 0.05
WITHIN = 2
SAME = 0.1  # periods that differ by less, of the logarithm, are no other regime


def lines(path):
    with open(path) as f:
        return [json.loads(l) for l in f if l.startswith("{")]


def regimes_of_suite(case):
    """[(period, [burst starts])] of a case whose bursts keep to a clock."""
    out = []
    for r in case["regimes"]:
        n = int((r["end_s"] - r["start_s"]) / r["period_s"] + 1e-6) + 1
        out.append((r["period_s"], [r["start_s"] + k * r["period_s"] for k in range(n)]))
    return sorted(out, key=lambda r: r[1][0])


def regimes_of_drift(case):
    """The same of a case whose period drifts evenly from one length to another."""
    first, last, n = case["params"]["first_period_s"], case["params"]["last_period_s"], case["n_cycles"]
    starts = [case["regimes"][0]["start_s"]]
    for k in range(n - 1):
        starts.append(starts[-1] + first + (last - first) * k / max(n - 2, 1))
    return [(case["period_s"], starts)]


def regimes_of_bursts(replay, periods=None):
    """As above, from the bursts that the whole trace shows; with `periods`, those whose period is one of them."""
    mode = next((p["mode"] for p in reversed(replay["predictions"]) if p["mode"]), "write")
    found = [o for o in replay["offline"] if o["mode"] == mode]
    if periods:
        found = [o for o in found if any(abs(o["period_s"] / t - 1) < 0.05 for t in periods)]
    out = []
    for o in found:
        starts = [o["starts_s"][0]]
        for t in o["starts_s"][1:]:
            if t - starts[-1] > 1.5 * o["period_s"]:
                out.append((o["period_s"], starts))
                starts = []
            starts.append(t)
        out.append((o["period_s"], starts))
    return sorted(out, key=lambda r: r[1][0])


def judge(regimes, replay):
    """hits, bursts, changes noticed in time, changes, false changes"""
    predictions = replay["predictions"]
    # a job that reads and writes is predicted in both; only one of them is judged
    last = next((p["mode"] for p in reversed(predictions) if p["mode"]), None)
    judged = [p for p in predictions if p["mode"] in (None, last)]
    times = [p["now_s"] for p in judged]
    hits = total = 0
    misses = []
    for period, starts in regimes:
        for start in starts[CYCLES + 1 :]:
            i = bisect.bisect_left(times, start - TOLERANCE * period) - 1
            p = judged[i] if i >= 0 else {}
            next_s = p.get("next_start_s")
            total += 1
            if next_s is not None and abs(next_s - start) <= TOLERANCE * period:
                hits += 1
            else:
                misses.append((round(start, 3), next_s and round(next_s, 3)))
    changes = [p for p in predictions if p["change_point"]]
    noticed = wanted = 0
    allowed = []
    for (earlier, before), (period, starts) in zip(regimes, regimes[1:]):
        if abs(math.log(period / earlier)) < SAME:
            continue
        begin, until = starts[0], starts[min(WITHIN, len(starts) - 1)] + 0.6 * period
        allowed.append((begin - 1e-6, starts[-1]))
        if len(before) < CYCLES or len(starts) < WITHIN + 2:
            continue  # too short to be told, but no false change if it is
        wanted += 1
        noticed += any(begin <= p["now_s"] <= until for p in changes)
    if regimes:  # what comes after the last regime is no stable one
        allowed.append((regimes[-1][1][-1] + regimes[-1][0], math.inf))
    false = sum(not any(a <= p["now_s"] <= b for a, b in allowed) for p in changes)
    return hits, total, noticed, wanted, false, misses


def table(rows):
    print(f"{'':24} {'cases':>5} {'>=95%':>6} {'bursts':>7} {'within 5 %':>10} {'changes':>9} {'false':>6} {'ms p50':>7} {'ms max':>7}")
    for name, cases in sorted(rows.items()):
        hits, total = sum(c[0] for c in cases), sum(c[1] for c in cases)
        good = sum(c[1] > 0 and c[0] >= 0.95 * c[1] for c in cases)
        judged = sum(c[1] > 0 for c in cases)
        ms = sorted(m for c in cases for m in c[6])
        share = f"{100 * hits / total:.1f} %" if total else "-"
        print(f"{name:24} {len(cases):5} {good:3}/{judged:<3}{total:7} {share:>10} {sum(c[2] for c in cases):4}/{sum(c[3] for c in cases):<4}"
              f" {sum(c[4] for c in cases):6} {statistics.median(ms):7.2f} {ms[-1]:7.2f}")


def main():
    kind, truth, replays = sys.argv[1:4]
    verbose = "-v" in sys.argv
    rows = collections.defaultdict(list)
    if kind == "suite":
        with open(os.path.join(truth, "suite.json")) as f:
            cases = json.load(f)["cases"]
        for r in lines(replays):
            name = os.path.basename(os.path.dirname(r["trace"]))
            case = cases[name]
            regimes = regimes_of_suite(case) if case["periodic"] else []
            if case["class"] == "two_periods":
                regimes = [r for r in regimes if r[0] == case["period_s"]]
            elif case["class"] == "drift":
                regimes = regimes_of_drift(case)
            elif case["class"].startswith("jitter"):
                regimes = regimes_of_bursts(r, case["periods"])
            result = judge(regimes, r)
            if verbose and (result[5] or result[4] or result[2] < result[3]):
                print(name, "missed", result[5][:6], "noticed", result[2:4], "false", result[4],
                      [(round(p["now_s"], 2), p["change_s"]) for p in r["predictions"] if p["change_point"]])
            rows[case["class"]].append(result + (r["milliseconds"],))
    else:
        with open(truth) as f:
            runs = json.load(f)["runs"]
        base = os.path.dirname(truth)
        by_path = {}
        for run in runs:
            for f in run.get("files", []):
                by_path[os.path.join(base, f["path"])] = run
                by_path[os.path.join(base, os.path.dirname(f["path"]))] = run
        for r in lines(replays):
            run = by_path[r["trace"].rstrip("/")]
            truth = run["truth"]
            periodic = truth.get("periodic") is True
            periods = [t for t in truth.get("period_s") or [] if isinstance(t, (int, float))]
            regimes = regimes_of_bursts(r, periods) if periodic else []
            if "streams" in truth:
                regimes = regimes[:1]
            result = judge(regimes, r)
            if verbose and (result[5] or result[4] or result[2] < result[3]):
                print(run["id"], "missed", result[5][:6], "noticed", result[2:4], "false", result[4])
            rows[run["id"] if verbose else run["scenario"]].append(result + (r["milliseconds"],))
    table(rows)


if __name__ == "__main__":
    main()
