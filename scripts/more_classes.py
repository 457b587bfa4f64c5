#!/usr/bin/env python3
"""Further kinds of traces to train and check the classifier of the default detector on.

    more_classes.py --seed 100 --out DIR [--per-class 14] [--classes ...]      output as make_suite.py's

They cover what the accuracy suite does not hold: smooth modulation, thousands of cycles, nearly even bursts
inside one phase, a large read before and a large write after the periodic part, ranks of unequal length, bursts beside others, and negatives
that resemble periodic traces. Draws on make_suite.py in $IOPHASE_CORPUS/accuracy (default ../shared/accuracy). Needs
numpy.
"""
import os
import sys

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CORPUS = os.environ.get("IOPHASE_CORPUS", os.path.join(ROOT, "..", "shared"))
for folder in (CORPUS, os.path.join(ROOT, "..", "..", "shared")):
    sys.path.append(os.path.join(folder, "accuracy"))
import make_suite as m  # noqa: E402


def setup(d, **k):
    f = m.frame(d, **k)
    m.shift_start(f)
    return f


def grid(f, start=None):
    return (f["t0"] if start is None else start) + f["period"] * np.arange(f["n"])


def clipped(d, n, limit=2.5):
    return np.clip(d.r.normal(size=n), -limit, limit)


# ---------------------------------------------------------------- periodic


def y_even(d):
    """Two to four nearly equal, nearly evenly spaced bursts in each period."""
    f = setup(d)
    k, p, n = d.integer(2, 4), f["period"], f["n"]
    tr = m.Trace(f["ranks"])
    off = np.arange(k) / k
    off[1:] += d.choice([-1, 1]) * d.r.uniform(0.03, 0.12, size=k - 1) / k * 2
    w = min(f["width"], 0.5 * p / k)
    sizes = d.r.uniform(0.85, 1.0, size=k) if d.chance(0.6) else d.r.uniform(0.3, 1.0, size=k)
    jitter = d.choice([0.0, 0.0, 0.01]) * p
    for x in grid(f) + jitter * clipped(d, n):
        for o, a in zip(off, sizes):
            m.burst(d, tr, x + o * p, w, f["rate"] * w * a * (1 + 0.02 * d.r.normal()), f["pieces"])
    return m.periodic_result(tr, f, grid(f), np.full(n, off[-1] * p + w), p, {"parts": k})


def y_nested(d):
    """Each phase is a volley of five to nine short bursts."""
    f = setup(d, t_lo=4.0)
    p, n, k = f["period"], f["n"], d.integer(5, 9)
    room = d.uniform(0.15, 0.5) * p
    tr = m.Trace(f["ranks"])
    w = room / k * d.uniform(0.2, 0.7)
    for x in grid(f):
        for i in range(k):
            m.burst(d, tr, x + room * i / k, w, f["rate"] * w, 1)
    return m.periodic_result(tr, f, grid(f), np.full(n, room * (k - 1) / k + w), p, {"parts": k})


def y_alternating(d):
    """Every third to sixth checkpoint is a full one, the others are small. (Two kinds by turns are two bursts a period.)"""
    f = setup(d, min_cycles=8)
    k, low = d.integer(3, 6), d.uniform(0.15, 0.6)
    full = np.arange(f["n"]) % k == 0
    w = f["width"] * np.where(full, 1.0, low)
    tr, s, w = m.regular(d, f, widths=w)
    return m.periodic_result(tr, f, s, w, f["period"], {"every": k})


def y_gaps(d):
    """Some bursts are missing and the others jitter."""
    f = setup(d, min_cycles=12)
    f["width"] = min(f["width"], 0.3 * f["period"])
    keep = d.r.uniform(size=f["n"]) > d.uniform(0.05, 0.2)
    keep[0] = keep[-1] = True
    s = (grid(f) + d.uniform(0.02, 0.08) * f["period"] * clipped(d, f["n"]))[keep]
    f["n"] = len(s)
    tr, s, w = m.regular(d, f, starts=s)
    return m.periodic_result(tr, f, s, w, f["period"])


def y_sine(d):
    """Bandwidth that swings smoothly; requests back to back."""
    f = setup(d, t_lo=2.0)
    p, n = f["period"], f["n"]
    cycles = n + d.uniform(0, 1)
    per = d.integer(10, 60)
    depth, noise = d.uniform(0.2, 1.0), d.choice([0.0, 0.05, 0.15, 0.3])
    shape = d.choice([1.0, 1.0, 2.0])
    tr = m.Trace(f["ranks"])
    phase = d.uniform(0, 1)
    end = f["t0"] + cycles * p
    for _ in range(min(f["ranks"], 8)):
        steps = p / per * d.r.uniform(0.7, 1.3, size=int(cycles * per * 1.1) + 2)
        cuts = f["t0"] + np.concatenate([[0.0], np.cumsum(steps)])
        cuts = cuts[cuts < end]
        cuts = np.append(cuts, end)
        mid = 0.5 * (cuts[1:] + cuts[:-1])
        x = 0.5 * (1 + np.sin(2 * np.pi * ((mid - f["t0"]) / p + phase)))
        level = (1 - depth) + depth * x ** shape
        level = np.maximum(level * (1 + noise * d.r.normal(size=len(mid))), 0.0)
        tr.add(cuts[:-1], cuts[1:], level * np.diff(cuts) * f["rate"] + 1)
    f["duty"] = 1.0
    out, truth = m.periodic_result(tr, f, np.array([f["t0"], end - p]), np.full(2, p), p, {"depth": depth, "noise": noise})
    truth["n_cycles"] = int(cycles)
    return out, truth


def y_long(d):
    """A thousand cycles and more."""
    n = d.log_integer(800, 4000)
    f = setup(d, n=n, t_lo=0.5, t_hi=1.0)
    f["period"] = d.log(0.5, 5.0)
    f["width"] = d.uniform(0.05, 0.5) * f["period"]
    f["ranks"], f["pieces"] = d.choice([1, 2]), d.integer(1, 2)
    sig = d.choice([0.0, 0.02, 0.1, 0.2])
    gaps = f["period"] * np.maximum(1 + sig * clipped(d, n - 1), 0.6)
    s = f["t0"] + np.concatenate([[0.0], np.cumsum(gaps)])
    tr, s, w = m.regular(d, f, starts=s)
    return m.periodic_result(tr, f, s, w, float((s[-1] - s[0]) / (n - 1)), {"sigma": sig})


def y_restart(d):
    """A large read at the start, checkpoints, a large result at the end."""
    f = setup(d)
    f["bookends"] = False
    tr, s, w = m.regular(d, f)
    one = f["rate"] * f["width"]
    if d.chance(0.7):
        x = d.log(1.0, 8.0)
        width = min(x * f["width"], 3 * f["period"])
        m.burst(d, tr, max(s[0] - width - f["period"] * d.uniform(0.1, 1.5), 0.0), width, one * x)
    if d.chance(0.7):
        x = d.log(1.0, 6.0)
        m.burst(d, tr, s[-1] + f["period"] * d.uniform(0.3, 1.4) + f["width"], x * f["width"], one * x)
    return m.periodic_result(tr, f, s, w, f["period"])


def y_huge(d):
    """A few huge bursts at random among many small periodic ones."""
    f = setup(d, min_cycles=12)
    f["width"] = min(f["width"], 0.4 * f["period"])
    tr, s, w = m.regular(d, f)
    k = d.integer(1, 3)
    share = d.uniform(0.2, 0.5)
    volume = tr.bytes() * share / (1 - share) / k
    for x in d.r.uniform(s[0], s[-1], size=k):
        width = f["period"] * d.uniform(0.3, 1.5)
        m.burst(d, tr, float(x), width, volume)
    return m.periodic_result(tr, f, s, w, f["period"], {"huge": k, "share": share})


def y_unequal(d):
    """Ranks whose parts of a burst differ in length, anew each time or for ever."""
    f = setup(d, min_ranks=4)
    f["width"] = min(f["width"], 0.35 * f["period"])
    tr = m.Trace(f["ranks"])
    spread = d.uniform(0.3, 0.9)
    fixed = np.exp(spread * clipped(d, f["ranks"], 2))
    always = d.chance(0.5)
    s = grid(f)
    ends = []
    for x in s:
        w = f["width"] * (fixed if always else np.exp(spread * clipped(d, f["ranks"], 2)))
        w = np.minimum(w, 0.85 * f["period"])
        tr.add(np.full(f["ranks"], x), x + w, f["rate"] / f["ranks"] * w)
        ends.append(w.max())
    return m.periodic_result(tr, f, s, np.array(ends), f["period"])


def y_high_duty(d):
    """I/O most of the time: the gaps are what repeats."""
    f = setup(d)
    f["width"] = d.uniform(0.6, 0.93) * f["period"]
    sig = d.choice([0.0, 0.0, 0.02])
    s = grid(f) + sig * f["period"] * clipped(d, f["n"])
    tr, s, w = m.regular(d, f, starts=s)
    return m.periodic_result(tr, f, s, w, f["period"])


def y_requests(d):
    """One process, hundreds of short requests per burst with gaps between them."""
    f = setup(d, max_cycles=30)
    f["ranks"] = 1
    tr = m.Trace(1)
    k = d.log_integer(20, 300)
    s = grid(f)
    for x in s:
        cuts = np.sort(d.r.uniform(0, 1, size=k))
        cuts[0], t = 0.0, None
        lengths = f["width"] / k * d.r.uniform(0.1, 0.9, size=k)
        t = x + (f["width"] - lengths.max()) * cuts
        tr.add(t, t + lengths, d.choice([4096.0, 1e6]) * d.r.choice([1, 1, 1, 8], size=k))
    if d.chance(0.5):
        m.bookends(d, tr, f, s[0], s[-1] + f["width"])
    return m.periodic_result(tr, f, s, np.full(f["n"], f["width"]), f["period"])


def y_decay(d):
    """Bursts that begin sharply and fade."""
    f = setup(d, min_ranks=4)
    tr = m.Trace(f["ranks"])
    f["width"] = min(f["width"], 0.5 * f["period"])
    s = grid(f)
    for x in s:
        w = np.minimum(f["width"] * d.r.exponential(size=f["ranks"]) * 0.5 + 0.05 * f["width"], 0.85 * f["period"])
        tr.add(np.full(f["ranks"], x), x + w, f["rate"] / f["ranks"] * w)
    return m.periodic_result(tr, f, s, np.full(f["n"], f["width"]), f["period"])


def y_jitter(d):
    """Any jitter from 8 to 35 % with ten to sixty cycles, varying bursts."""
    f = setup(d, min_cycles=10)
    f["width"] = min(f["width"], 0.35 * f["period"])
    n, p, sig = f["n"], f["period"], d.uniform(0.08, 0.35)
    if d.chance(0.5):
        gaps = np.maximum(p * (1 + sig * clipped(d, n)), 1.2 * f["width"])
        s = f["t0"] + np.concatenate([[0.0], np.cumsum(gaps[:-1])])
        truth = float((s[-1] - s[0]) / (n - 1))
    else:
        s = np.sort(f["t0"] + p * (1 + np.arange(n) + sig * clipped(d, n)))
        for i in range(1, n):
            s[i] = max(s[i], s[i - 1] + 1.05 * f["width"])
        truth = p
    spread = d.choice([0.02, 0.3])
    tr, s, w = m.regular(d, f, starts=s, scale=np.exp(spread * clipped(d, n, 2)))
    return m.periodic_result(tr, f, s, w, truth, {"sigma": sig})


def y_regimes(d):
    """Three stretches, two of which share a period."""
    f = setup(d, t_lo=1.5, t_hi=60.0)
    f["bookends"] = False
    p = f["period"]
    q = p * d.choice([d.uniform(1.3, 3.3), 1 / d.uniform(1.3, 3.3), 2.0, 3.0])
    duty = d.uniform(0.08, 0.5)
    tr = m.Trace(f["ranks"])
    t = f["t0"]
    regimes = []
    order = [p, q, p] if d.chance(0.4) else [p, q]
    for x in order:
        n = d.integer(10, 20) if x == p else d.integer(5, 9)
        if x == q:
            n = max(4, int(min(n, 0.6 * 10 * p / q)))
        s = t + x * np.arange(n)
        for y in s:
            m.burst(d, tr, float(y), duty * x, f["rate"] * duty * x * (1 + 0.02 * d.r.normal()), f["pieces"])
        regimes.append({"period_s": float(x), "start_s": float(s[0]), "end_s": float(s[-1] + duty * x)})
        t = s[-1] + x
    total = {x: sum(r["end_s"] - r["start_s"] for r in regimes if r["period_s"] == x) for x in (p, q)}
    top = max(total, key=total.get)
    regimes.sort(key=lambda r: r["period_s"] != top)
    return tr, {"period_s": float(top), "regimes": regimes, "burst_width_s": duty * top, "n_cycles": 10, "params": {}}


def y_start_up(d):
    """Irregular small I/O at first, then regular bursts."""
    f = setup(d)
    tr, s, w = m.regular(d, f)
    lead = f["period"] * d.uniform(0.5, 3.0)
    share = d.uniform(0.01, 0.15)
    n = d.integer(10, 80)
    t = s[0] - lead * d.r.uniform(0.02, 1.0, size=n) - 0.01
    t = np.maximum(t, 0.0)
    v = tr.bytes() * share / n * d.r.exponential(size=n)
    ww = np.minimum(v / (f["rate"] / f["ranks"]), 0.02 * lead)
    tr.add(t, t + ww, v)
    return m.periodic_result(tr, f, s, w, f["period"])


def beside(d, n, start, end, most):
    """Random bursts of other writers: their number, times, widths and bytes."""
    count = d.log_integer(max(3, n // 4), 4 * n)
    t = np.sort(d.r.uniform(start, end, size=count))
    w = np.minimum(most * np.exp(0.7 * d.r.normal(size=count)), 0.3 * (end - start) / count)
    return t, w


def y_beside(d):
    """Small even bursts beside random ones of other writers, which move more."""
    f = setup(d, min_cycles=8)
    f["bookends"] = False
    f["width"] = min(f["width"], 0.15 * f["period"])
    f["n"] = max(f["n"], d.integer(12, 60))
    tr, s, w = m.regular(d, f)
    t, v = beside(d, f["n"], s[0] - f["period"], s[-1] + f["period"], f["width"] * d.log(0.3, 2.0))
    more = d.log(1.0, 8.0) * tr.bytes() / v.sum()
    for a, b in zip(t, v):
        m.burst(d, tr, max(float(a), 0.0), float(b), more * b * float(np.exp(0.5 * d.r.normal())), ranks=d.choice([1, f["ranks"]]))
    return m.periodic_result(tr, f, s, w, f["period"])


# ---------------------------------------------------------------- negatives


def y_neg_beside(d):
    """Small random bursts beside larger random ones of other writers."""
    f, n = m.negative_frame(d), d.integer(12, 60)
    tr = m.Trace(f["ranks"])
    gaps = d.r.exponential(size=n) ** d.choice([0.8, 1.0, 1.3])
    s = f["t0"] + np.cumsum(gaps) / gaps.sum() * f["duration"]
    w = f["duration"] / n * d.log(0.02, 0.12)
    for x in s:
        m.burst(d, tr, float(x), w, f["rate"] * w, f["pieces"] if "pieces" in f else 1)
    t, v = beside(d, n, s[0], s[-1], w * d.log(0.3, 2.0))
    more = d.log(1.0, 8.0) * tr.bytes() / v.sum()
    for a, b in zip(t, v):
        m.burst(d, tr, float(a), float(b), more * b * float(np.exp(0.5 * d.r.normal())), ranks=d.choice([1, f["ranks"]]))
    return m.negative(tr)


def random_bursts(d, n, gaps, width):
    f = m.negative_frame(d)
    tr = m.Trace(f["ranks"])
    gaps = np.asarray(gaps, float)
    scale = f["duration"] / (gaps.sum() + n * width)
    t = f["t0"]
    vary = d.choice([0.0, 0.0, 0.3])
    for i in range(n):
        w = width * scale * float(np.exp(vary * d.r.normal()))
        m.burst(d, tr, float(t), w, f["rate"] * w * float(np.exp(vary * d.r.normal())), wobble=f["wobble"])
        t += w + gaps[i] * scale
    return f, tr


def y_neg_few(d):
    """Three to seven bursts with gaps that clearly differ."""
    n = d.integer(3, 7)
    while True:
        gaps = d.r.exponential(1.0, size=n) + 0.05
        inner = gaps[:-1]
        if inner.max() > 1.7 * inner.min():
            break
    return m.negative(random_bursts(d, n, gaps, d.log(0.03, 0.5))[1], bursts=n)


def y_neg_smooth(d):
    """Smooth random bandwidth: a filtered walk without a dominant frequency."""
    f = m.negative_frame(d)
    tr = m.Trace(f["ranks"])
    n = d.integer(150, 800)
    x = np.cumsum(d.r.normal(size=n)) if d.chance(0.5) else d.r.normal(size=n)
    k = d.integer(1, 12)
    x = np.convolve(x, np.ones(k) / k, "same")
    x = (x - x.min()) / max(x.max() - x.min(), 1e-9)
    cuts = f["t0"] + f["duration"] * np.arange(n + 1) / n
    if d.chance(0.5):
        cuts[1:-1] += f["duration"] / n * d.r.uniform(-0.3, 0.3, size=n - 1)
    lo = d.choice([0.0, 0.0, 0.3])
    tr.add(cuts[:-1], cuts[1:], (lo + (1 - lo) * x) * np.diff(cuts) * f["rate"] + 1)
    return m.negative(tr)


def y_neg_stream(d):
    """A steady stream with pauses at random."""
    f = m.negative_frame(d)
    tr = m.Trace(f["ranks"])
    m.constant_io(d, tr, f["t0"], f["t0"] + f["duration"], f["rate"], d.choice([0.0, 0.1]))
    k = d.integer(2, 15)
    holes = np.sort(d.r.uniform(0, 1, size=k)) * f["duration"] + f["t0"]
    s, e, v = tr.arrays()
    length = f["duration"] * d.uniform(0.005, 0.04)
    keep = np.ones(len(s), bool)
    for h in holes:
        inside = (s < h + length) & (e > h)
        keep &= ~(inside & (s >= h))
        cut = inside & (s < h)
        v[cut] *= (h - s[cut]) / (e[cut] - s[cut])
        e[cut] = h
    out = m.Trace(f["ranks"])
    out.add(s[keep], e[keep], np.maximum(v[keep], 1))
    return m.negative(out, pauses=k)


def y_neg_fading(d):
    """Gaps that grow or shrink steadily by a factor of two or more in all."""
    n = d.integer(8, 40)
    q = d.log(2.5, 20.0) ** (1 / (n - 1))
    gaps = q ** np.arange(n) * (1 + 0.05 * clipped(d, n))
    if d.chance(0.5):
        gaps = gaps[::-1]
    return m.negative(random_bursts(d, n, gaps, d.log(0.03, 0.3))[1])


def y_neg_volleys(d):
    """Volleys of two or three short bursts that come at random, each with its own spacing."""
    f = m.negative_frame(d)
    tr = m.Trace(f["ranks"])
    k = d.integer(3, 8)
    gap = f["duration"] / k
    t = f["t0"]
    for _ in range(k):
        step = gap * d.log(0.005, 0.08)
        for i in range(d.integer(2, 3)):
            m.burst(d, tr, float(t + step * i), 0.4 * step, f["rate"] * 0.4 * step, wobble=f["wobble"])
        t += 8 * step + gap * d.r.exponential()
    return m.negative(tr, volleys=k)


def y_neg_small_requests(d):
    """Requests of very unequal size at random times."""
    f = m.negative_frame(d)
    tr = m.Trace(f["ranks"])
    n = d.log_integer(30, 2000)
    v = np.exp(1.5 * d.r.normal(size=n))
    w = f["duration"] / n * d.log(0.01, 1.0) * v / v.mean()
    s = f["t0"] + f["duration"] * d.r.uniform(size=n)
    tr.add(s, s + w, v * f["rate"] / f["ranks"])
    return m.negative(tr)


m.CLASSICS = m.CLASSES
m.CLASSES = {k: v for k, v in globals().items() if k.startswith("y_")}

if __name__ == "__main__":
    m.main()
