#!/usr/bin/env python3
"""Kinds of traces as request-level tracers record them, to train and check the classifier of the default detector on.

    request_classes.py --seed 100 --out DIR [--per-class 14] [--classes ...]      output as make_suite.py's

A burst is a run of short requests with gaps between them, as in strace or Darshan DXT logs. The requests inside a burst
often follow each other like clockwork; that is no period of the job. So there are bursts of paced requests that are
periodic and such that are not, at one to 64 ranks. Draws on make_suite.py like more_classes.py. Needs numpy.
"""
import numpy as np

from more_classes import clipped, grid, m, setup


def paced(d, tr, start, width, volume, count, style, ranks=None):
    """One burst of `count` requests a rank inside [start, start + width], paced as `style` says."""
    p = tr.ranks if ranks is None else ranks
    for rank in range(p):
        steps = np.maximum(1 + style["jitter"] * d.r.normal(size=count), 0.1)
        if style["shape"] == "gamma":
            steps = d.r.gamma(1 / max(style["jitter"], 0.05) ** 2, size=count) + 0.02
        edges = np.concatenate([[0.0], np.cumsum(steps)])
        edges *= (1 - 0.1 * d.r.uniform()) / edges[-1]
        lag = style["skew"] * d.r.uniform() * width / count
        s = start + min(lag, 0.05 * width) + width * 0.95 * edges[:-1]
        w = width * 0.95 * np.diff(edges) * style["busy"] * d.r.uniform(0.6, 1.0, size=count)
        tr.add(s, s + w, volume / p / count)


def style_of(d):
    return {"jitter": d.choice([0.002, 0.02, 0.1, 0.3]), "shape": d.choice(["normal", "gamma"]),
            "busy": d.log(0.02, 0.95), "skew": d.choice([0.0, 0.3, 1.0])}


def some(d, f, low=4, high=60, most=6000):
    """Requests per burst and rank such that the trace stays small."""
    f["ranks"] = min(f["ranks"], 16)
    return max(3, min(d.log_integer(low, high), most // (f["n"] * f["ranks"])))


# ---------------------------------------------------------------- periodic


def r_paced(d):
    """Bursts of paced requests; the bursts are periodic."""
    f = setup(d)
    f["width"] = min(f["width"], 0.5 * f["period"])
    k, style = some(d, f), style_of(d)
    tr = m.Trace(f["ranks"])
    sig = d.choice([0.0, 0.0, 0.01, 0.05])
    s = grid(f) + sig * f["period"] * clipped(d, f["n"])
    for x in s:
        m_width = f["width"] * (1 + 0.1 * d.r.uniform(-1, 1))
        paced(d, tr, x, m_width, f["rate"] * f["width"], max(3, int(k * d.uniform(0.8, 1.2))), style)
    if f["bookends"]:
        m.bookends(d, tr, f, s[0], s[-1] + f["width"])
    return m.periodic_result(tr, f, s, np.full(f["n"], f["width"]), f["period"], {"requests": k})


def r_walk(d):
    """The same with a compute phase whose length varies, as in runs on a busy machine."""
    f = setup(d, min_cycles=8)
    f["width"] = min(f["width"], 0.35 * f["period"])
    k, style, sig = some(d, f), style_of(d), d.uniform(0.03, 0.15)
    tr = m.Trace(f["ranks"])
    gaps = f["period"] * np.maximum(1 + sig * clipped(d, f["n"]), 0.5)
    s = f["t0"] + np.concatenate([[0.0], np.cumsum(gaps[:-1])])
    for x in s:
        paced(d, tr, x, f["width"] * d.uniform(0.8, 1.2), f["rate"] * f["width"], k, style)
    truth = float((s[-1] - s[0]) / (f["n"] - 1))
    return m.periodic_result(tr, f, s, np.full(f["n"], f["width"]), truth, {"sigma": sig})


def r_files(d):
    """Each burst writes several files one after the other, with gaps for closing and opening."""
    f = setup(d, max_cycles=40)
    tr = m.Trace(f["ranks"])
    files = d.integer(2, 12)
    k = some(d, f, 2, 20, 6000 // files)
    room, style = d.uniform(0.1, 0.6) * f["period"], style_of(d)
    gap = d.uniform(0.05, 0.5)
    sizes = np.exp(d.choice([0.0, 0.5]) * d.r.normal(size=files))
    s = grid(f)
    vary = d.choice([0.0, 0.15])
    for x in s:
        parts = sizes * np.exp(vary * clipped(d, files))
        edges = np.concatenate([[0.0], np.cumsum(parts)]) / parts.sum() * room * d.uniform(0.9, 1.0)
        for a, b in zip(edges[:-1], edges[1:]):
            width = (b - a) * (1 - gap * d.uniform(0.5, 1.0))
            paced(d, tr, x + a, width, f["rate"] * width, k, style)
    return m.periodic_result(tr, f, s, np.full(f["n"], room), f["period"], {"files": files})


def r_epochs(d):
    """Steps at an even cadence, a pause, steps again: the epoch is the period, the cadence a second one."""
    f = setup(d, max_cycles=25, t_lo=3.0)
    tr = m.Trace(min(f["ranks"], 16))
    f["ranks"] = tr.ranks
    steps = d.integer(8, 20)
    pause = d.uniform(1.6, 8.0)
    if d.chance(0.5):
        pause = np.ceil(pause)  # the pause takes the time of whole steps: the cadence goes on through it
    step = f["period"] / (steps + pause)
    busy = d.log(0.02, 0.6)
    stray = d.choice([0.0, 0.01, 0.04])
    k = d.integer(1, 4)
    s = grid(f)
    style = style_of(d)
    for x in s:
        for i in range(steps):
            paced(d, tr, x + step * (i + stray * float(clipped(d, 1)[0])), step * busy, f["rate"] * step * busy, max(1, k), style,
                  ranks=d.choice([tr.ranks, max(1, tr.ranks // 2)]) if stray else None)
    width = step * (steps - 1 + busy)
    tr, r = m.periodic_result(tr, f, s, np.full(f["n"], width), f["period"], {"steps": steps, "pause": float(pause)})
    r["regimes"].append(dict(r["regimes"][0], period_s=float(step), nested=True))
    return tr, r


def r_rounds(d):
    """Collective writes: each burst is a number of rounds in which some ranks write one request."""
    f = setup(d, max_cycles=40, min_ranks=4)
    f["ranks"] = min(f["ranks"], 16)
    tr = m.Trace(f["ranks"])
    k = some(d, f, 3, 40)
    writers = d.choice([1, 2, f["ranks"]])
    f["width"] = min(f["width"], 0.6 * f["period"])
    busy, stray = d.uniform(0.1, 0.8), d.choice([0.0, 0.05, 0.3])
    s = grid(f) + d.choice([0.0, 0.01, 0.04]) * f["period"] * clipped(d, f["n"])
    for x in s:
        step = f["width"] / k
        for i in range(k):
            at = x + step * (i + (stray * d.r.uniform() if i else 0.0))
            m.burst(d, tr, at, step * busy, f["rate"] * step * busy, ranks=writers)
    return m.periodic_result(tr, f, s, np.full(f["n"], f["width"]), f["period"], {"rounds": k})


def r_fast(d):
    """Periods of 40 ms to a second, short requests."""
    f = setup(d, n=d.log_integer(20, 600))
    f["ranks"] = min(f["ranks"], 4)
    f["period"] = d.log(0.04, 1.0)
    f["width"] = d.log(0.02, 0.5) * f["period"]
    sig = d.choice([0.0, 0.01, 0.05, 0.1])
    gaps = f["period"] * np.maximum(1 + sig * clipped(d, f["n"] - 1), 0.6)
    s = f["t0"] + np.concatenate([[0.0], np.cumsum(gaps)])
    tr, s, w = m.regular(d, f, starts=s)
    return m.periodic_result(tr, f, s, w, float((s[-1] - s[0]) / (f["n"] - 1)), {"sigma": sig})


def r_weak(d):
    """A small log line at an even cadence beside large checkpoints, each of one or more requests."""
    f = setup(d, max_cycles=20, t_lo=3.0)
    f["width"], f["ranks"] = min(f["width"], 0.3 * f["period"]), min(f["ranks"], 8)
    tr = m.Trace(f["ranks"])
    k, style = some(d, f), style_of(d)
    s = grid(f)
    for x in s:
        paced(d, tr, x, f["width"], f["rate"] * f["width"], k, style)
    q = f["period"] / d.choice([d.uniform(2.2, 15.0), float(d.integer(3, 14))])
    t = np.arange(s[0] - 0.3 * q * d.uniform(0, 1), s[-1] + f["width"], q)
    w = q * d.log(1e-3, 0.2)
    volume = tr.bytes() * d.log(0.002, 0.1) / len(t)
    stray = d.choice([0.0, 0.002, 0.02])
    tr.add(t + stray * q * clipped(d, len(t)), t + w, volume)
    tr, r = m.periodic_result(tr, f, s, np.full(f["n"], f["width"]), f["period"], {"ratio": f["period"] / q})
    r["regimes"].append({"period_s": float(q), "start_s": float(t[0]), "end_s": float(t[-1] + w)})
    return tr, r


# ---------------------------------------------------------------- negatives


def irregular(d, n):
    """Gaps that no period explains, scaled to a mean of one."""
    kind = d.choice(["exponential", "gamma", "pareto", "lognormal", "uniform"])
    if kind == "exponential":
        g = d.r.exponential(size=n)
    elif kind == "gamma":
        g = d.r.gamma(d.uniform(0.5, 1.5), size=n)
    elif kind == "pareto":
        g = 0.3 + d.r.pareto(1.5, size=n)
    elif kind == "lognormal":
        g = np.exp(d.uniform(0.9, 1.4) * d.r.normal(size=n))
    else:
        g = np.diff(np.concatenate([[0.0], np.sort(d.r.uniform(size=n))])) * n
    return g / g.mean()


def r_neg_bursts(d):
    """Bursts of paced requests at irregular times."""
    f = m.negative_frame(d)
    n = d.log_integer(4, 40)
    f["n"] = n
    k, style = some(d, f), style_of(d)
    tr = m.Trace(f["ranks"])
    width = f["duration"] / n * d.log(0.02, 0.4)
    same = d.chance(0.5)
    t = f["t0"]
    for g in irregular(d, n):
        w = width if same else width * float(np.exp(0.5 * d.r.normal()))
        paced(d, tr, t, w, f["rate"] * w, max(3, k if same else int(k * w / width)), style)
        t += w + g * (f["duration"] / n - width)
    return m.negative(tr, bursts=n, requests=k)


def r_neg_single(d):
    """One burst of requests whose pace varies as it does on a busy file system."""
    f = m.negative_frame(d)
    f["ranks"], f["n"] = min(f["ranks"], 16), 1
    tr = m.Trace(f["ranks"])
    k = d.log_integer(6, 200)
    width = d.log(0.5, 300.0)
    spread = d.uniform(0.5, 1.2)
    for _ in range(f["ranks"]):
        steps = np.exp(spread * d.r.normal(size=k))
        edges = f["t0"] + width * np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
        w = np.diff(edges) * d.uniform(0.3, 0.98)
        tr.add(edges[:-1], edges[:-1] + w, f["rate"] * width / k / f["ranks"])
    return m.negative(tr, requests=k)


def r_neg_stream(d):
    """A continuous stream: each rank writes request after request with hardly a gap; their lengths vary."""
    f = m.negative_frame(d)
    f["ranks"] = min(f["ranks"], 16)
    tr = m.Trace(f["ranks"])
    k = d.log_integer(30, 300)
    spread = d.uniform(0.15, 0.8)
    gap = d.log(0.005, 0.05)
    width = f["duration"]
    for _ in range(f["ranks"]):
        steps = np.exp(spread * d.r.normal(size=k))
        edges = f["t0"] + width * np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
        w = np.diff(edges)
        tr.add(edges[:-1], edges[:-1] + w * (1 - gap * d.r.uniform(0.2, 1.0, size=k)), f["rate"] * width / k / f["ranks"])
    return m.negative(tr, requests=k)


def r_neg_parts(d):
    """A few stretches of paced requests of unequal length, as of input, output and a log."""
    f = m.negative_frame(d)
    f["ranks"] = min(f["ranks"], 8)
    tr = m.Trace(f["ranks"])
    t, mean = f["t0"], f["duration"] / 6
    for _ in range(d.integer(2, 6)):
        w = mean * float(np.exp(0.9 * d.r.normal())) * 0.5
        style = style_of(d)
        style["jitter"], style["shape"] = d.uniform(0.7, 1.2), "gamma"
        paced(d, tr, t, w, f["rate"] * w, d.log_integer(5, 60), style, ranks=d.choice([1, f["ranks"]]))
        t += w + mean * d.r.exponential()
    return m.negative(tr)


m.CLASSES = {k: v for k, v in globals().items() if k.startswith("r_")}

if __name__ == "__main__":
    m.main()
