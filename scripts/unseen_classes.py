#!/usr/bin/env python3
"""Kinds of traces that the classifier of the default detector is never trained on: an estimate of how it does on new ones.

    unseen_classes.py --seed 900 --out DIR [--per-class 14] [--classes ...]      output as make_suite.py's

Draws on make_suite.py like more_classes.py. Needs numpy.
"""
import numpy as np

from heatmap_classes import bins_of
from more_classes import clipped, grid, m, setup


# ---------------------------------------------------------------- periodic


def u_growing(d):
    """Checkpoints that grow from one to the next, in bytes and in length."""
    f = setup(d)
    g = np.linspace(1.0, d.log(1.5, 6.0), f["n"])
    f["width"] = min(f["width"], 0.6 * f["period"] / g[-1])
    tr, s, w = m.regular(d, f, widths=f["width"] * g, scale=g ** d.choice([0.0, 0.5]))
    return m.periodic_result(tr, f, s, w, f["period"])


def u_dropouts(d):
    """Ranks that stop writing one after the other."""
    f = setup(d, min_ranks=4)
    tr = m.Trace(f["ranks"])
    s = grid(f)
    last = d.r.uniform(0.2, 1.3, size=f["ranks"]) * f["n"]
    last[0] = f["n"]
    for i, x in enumerate(s):
        alive = max(1, int((last >= i).sum()))
        m.burst(d, tr, x, f["width"], f["rate"] * f["width"] * alive / f["ranks"], f["pieces"], ranks=alive)
    return m.periodic_result(tr, f, s, np.full(f["n"], f["width"]), f["period"])


def u_missed(d):
    """One to four checkpoints in a row are missed, once or twice."""
    f = setup(d, min_cycles=14)
    keep = np.ones(f["n"], bool)
    for _ in range(d.integer(1, 2)):
        at = d.integer(3, f["n"] - 8)
        keep[at:at + d.integer(1, 4)] = False
    s = grid(f)[keep]
    f["n"] = len(s)
    tr, s, w = m.regular(d, f, starts=s)
    return m.periodic_result(tr, f, s, w, f["period"])


def u_turns(d):
    """The ranks write their files in turn, one after the other, each with a few requests."""
    f = setup(d, max_cycles=40)
    f["ranks"] = d.choice([2, 3, 4, 6, 8, 12])
    tr = m.Trace(f["ranks"])
    room, gap = d.uniform(0.1, 0.7) * f["period"], d.uniform(0.02, 0.4)
    s = grid(f)
    for x in s:
        turn = room / f["ranks"]
        for k in range(f["ranks"]):
            a = x + k * turn * (1 + 0.02 * float(clipped(d, 1)[0]))
            pieces = d.integer(1, 5)
            for i in range(pieces):
                w = turn * (1 - gap) / pieces
                tr.add(a + i * w, a + (i + d.uniform(0.5, 0.95)) * w, f["rate"] * w)
    return m.periodic_result(tr, f, s, np.full(f["n"], room), f["period"])


def u_rewrite(d):
    """Read, compute, write in every cycle: a small and a large burst at a distance that varies a little."""
    f = setup(d)
    tr = m.Trace(f["ranks"])
    p, share, at = f["period"], d.uniform(0.1, 0.7), d.uniform(0.15, 0.6)
    w = min(f["width"], 0.3 * p, 0.6 * at * p)
    s = grid(f)
    stray = d.choice([0.0, 0.02])
    for x in s:
        m.burst(d, tr, x, w * share, f["rate"] * w * share, f["pieces"])
        m.burst(d, tr, x + p * (at + stray * float(clipped(d, 1)[0])), w, f["rate"] * w, f["pieces"])
    return m.periodic_result(tr, f, s, np.full(f["n"], at * p + w), p)


def u_clocks(d):
    """Ranks whose clocks are apart and run at rates that differ by parts in a thousand."""
    f = setup(d, min_ranks=4)
    f["width"] = min(f["width"], 0.35 * f["period"])
    off = d.r.uniform(0, 0.25 * f["period"], size=f["ranks"])
    rate = 1 + 1e-3 * d.r.normal(size=f["ranks"]) * min(1.0, 20 / f["n"])
    tr = m.Trace(f["ranks"])
    for i in range(f["n"]):
        x = f["t0"] + off + f["period"] * i * rate
        tr.add(x, x + f["width"] * (1 - 0.05 * d.r.uniform(size=f["ranks"])), f["rate"] * f["width"] / f["ranks"])
    s = grid(f)
    return m.periodic_result(tr, f, s, np.full(f["n"], f["width"] + off.max()), f["period"] * float(rate.mean()), tail=0.0)


def u_compute(d):
    """Compute phases of equal length; the time to write varies log-normally, as on a shared file system."""
    f = setup(d, min_cycles=8)
    n, p = f["n"], f["period"]
    w = min(f["width"], 0.3 * p) * np.exp(d.uniform(0.2, 0.7) * np.clip(d.r.normal(size=n), -2, 2))
    gap = p - float(w.mean())
    s = f["t0"] + np.concatenate([[0.0], np.cumsum(w[:-1] + gap)])
    tr = m.Trace(f["ranks"])
    for x, ww in zip(s, w):
        m.burst(d, tr, x, ww, f["rate"] * float(np.median(w)), f["pieces"])
    return m.periodic_result(tr, f, s, w, float((s[-1] - s[0]) / (n - 1)))


def u_phases(d):
    """Phases of ranks instead of requests: one interval a rank and phase, long and short ones mixed."""
    f = setup(d, min_ranks=2)
    f["width"] = min(f["width"], 0.4 * f["period"])
    tr = m.Trace(f["ranks"])
    sig = d.choice([0.0, 0.02, 0.06])
    s = grid(f) + sig * f["period"] * clipped(d, f["n"])
    for x in s:
        a = x + 0.1 * f["width"] * d.r.exponential(size=f["ranks"])
        w = np.minimum(f["width"] * np.exp(0.4 * clipped(d, f["ranks"], 2)), 0.55 * f["period"])
        a[0] = x
        tr.add(a, a + w, f["rate"] / f["ranks"] * f["width"])
    return m.periodic_result(tr, f, s, np.full(f["n"], f["width"]), f["period"])


def u_drain(d):
    """A burst into a buffer that drains slowly until the next one or nearly so."""
    f = setup(d)
    tr = m.Trace(f["ranks"])
    s, p = grid(f), f["period"]
    w, level, upto = min(f["width"], 0.3 * p), d.uniform(0.03, 0.3), d.uniform(0.5, 1.0)
    for x in s:
        m.burst(d, tr, x, w, f["rate"] * w, f["pieces"])
        tr.add(x + w, x + w + (p - w) * upto * d.uniform(0.9, 1.0), level * f["rate"] * (p - w) * upto)
    return m.periodic_result(tr, f, s, np.full(f["n"], w), p)


def u_sawtooth(d):
    """Bandwidth that rises (or falls) and starts again, without a pause."""
    f = setup(d, t_lo=2.0)
    p, per = f["period"], d.integer(12, 40)
    low, noise, down = d.uniform(0.0, 0.5), d.choice([0.0, 0.1]), d.chance(0.5)
    tr = m.Trace(f["ranks"])
    end = f["t0"] + p * (f["n"] + d.uniform(0, 1))
    for _ in range(min(f["ranks"], 4)):
        steps = p / per * d.r.uniform(0.8, 1.2, size=int((f["n"] + 2) * per * 1.1))
        cuts = f["t0"] + np.concatenate([[0.0], np.cumsum(steps)])
        cuts = np.append(cuts[cuts < end], end)
        x = ((0.5 * (cuts[1:] + cuts[:-1]) - f["t0"]) / p) % 1.0
        level = low + (1 - low) * ((1 - x) if down else x)
        tr.add(cuts[:-1], cuts[1:], np.maximum(level * (1 + noise * d.r.normal(size=len(x))), 0.01) * np.diff(cuts) * f["rate"])
    return m.periodic_result(tr, f, np.array([f["t0"], end - p]), np.full(2, p), p)


def u_heat(d):
    """A heat map of bursts and of noise."""
    f = setup(d, min_cycles=8)
    f["width"] = min(f["width"], 0.4 * f["period"])
    tr, s, w = m.regular(d, f)
    share = d.uniform(0.02, 0.15)
    m.small_noise(d, tr, s[0], s[-1] + w[-1], tr.bytes() * share / (1 - share), d.log_integer(20, 200),
                  f["rate"] / f["ranks"], 0.15 * f["period"])
    width = f["period"] * d.uniform(0.1, 0.3)
    out = bins_of(tr, width, s[0] - width * d.uniform(0, 1) - (f["period"] if f["bookends"] else 0))
    return m.periodic_result(out, f, s, w, f["period"], {"bin_s": width})


def u_heavy(d):
    """Bursts of very unequal size: a few hold most of the bytes."""
    f = setup(d, min_cycles=8)
    f["width"] = min(f["width"], 0.3 * f["period"])
    tr, s, w = m.regular(d, f, scale=np.minimum(0.3 + 0.3 * d.r.pareto(1.3, size=f["n"]), 30.0))
    return m.periodic_result(tr, f, s, w, f["period"])


def u_steps(d):
    """The size of the bursts changes once or twice for good, as after a mesh refinement."""
    f = setup(d, min_cycles=9)
    cuts = np.sort(d.r.randint(1, f["n"], size=d.integer(1, 2)))
    g = np.ones(f["n"])
    for c in cuts:
        g[c:] *= d.log(2.0, 6.0) ** d.choice([-1, 1])
    f["width"] = min(f["width"], 0.3 * f["period"])
    w = f["width"] * np.clip(g / g.max(), 0.02, 1.0) if d.chance(0.5) else None
    tr, s, w = m.regular(d, f, widths=w, scale=g)
    return m.periodic_result(tr, f, s, w, f["period"])


def u_spikes(d):
    """Bursts that are over in a ten-thousandth of the period, with a header and a summary."""
    f = setup(d, t_lo=10.0)
    f["width"], f["pieces"], f["bookends"] = f["period"] * d.log(1e-5, 1e-3), 1, True
    tr, s, w = m.regular(d, f)
    return m.periodic_result(tr, f, s, w, f["period"])


def u_noisy(d):
    """Random requests of single ranks move up to two thirds of the bytes."""
    f = setup(d, min_cycles=8, min_ranks=8)
    f["width"] = min(f["width"], 0.3 * f["period"])
    tr, s, w = m.regular(d, f)
    share = d.uniform(0.3, 0.65)
    m.small_noise(d, tr, s[0] - 0.5 * f["period"], s[-1] + w[-1], tr.bytes() * share / (1 - share), d.log_integer(100, 1000),
                  f["rate"] / f["ranks"], 0.25 * f["period"])
    return m.periodic_result(tr, f, s, w, f["period"])


def u_first(d):
    """A first burst many times larger than the others: the initial state."""
    f = setup(d, min_cycles=6)
    f["width"] = min(f["width"], 0.15 * f["period"])
    g = np.ones(f["n"])
    g[0] = d.log(3.0, 6.0)
    tr, s, w = m.regular(d, f, widths=f["width"] * g)
    return m.periodic_result(tr, f, s, w, f["period"])


def u_three(d):
    """Three stretches with three periods."""
    f = setup(d, t_lo=1.5, t_hi=40.0)
    f["bookends"] = False
    p, t, regimes = f["period"], f["t0"], []
    tr, duty = m.Trace(f["ranks"]), d.uniform(0.1, 0.45)
    for x, n in zip((p, p * d.uniform(1.4, 1.9), p / d.uniform(1.4, 1.9)), (d.integer(16, 24), d.integer(6, 8), d.integer(8, 12))):
        s = t + x * np.arange(n)
        for y in s:
            m.burst(d, tr, float(y), duty * x, f["rate"] * duty * x, f["pieces"])
        regimes.append({"period_s": float(x), "start_s": float(s[0]), "end_s": float(s[-1] + duty * x)})
        t = s[-1] + x
    return tr, {"period_s": float(p), "regimes": regimes, "burst_width_s": duty * p, "n_cycles": 16, "params": {}}


def short_of(d, low=1.0, high=20.0):
    """A frame of short periods without header and summary."""
    f = m.frame(d, t_lo=low, t_hi=high)
    f["width"], f["bookends"] = min(f["width"], 0.4 * f["period"]), False
    return f


def train(d, start, n, period, jitter):
    return start + period * np.arange(n) + np.concatenate([[0.0], jitter * period * clipped(d, n - 1)])


def of_stretches(d, f, runs, periods):
    """Runs of bursts, each with its period; the longest one is the answer."""
    tr = m.Trace(f["ranks"])
    for x in np.concatenate(runs):
        m.burst(d, tr, float(x), f["width"], f["rate"] * f["width"] * (1 + 0.02 * d.r.normal()), f["pieces"])
    tr, truth = m.periodic_result(tr, f, runs[0], f["width"], periods[0])
    ends = [(p, float(s[0]), float(s[-1] + f["width"])) for p, s in zip(periods, runs)]
    ends.sort(key=lambda r: r[1] - r[2])
    truth["regimes"] = [{"period_s": float(p), "start_s": a, "end_s": b} for p, a, b in ends]
    return tr, dict(truth, period_s=float(ends[0][0]), n_cycles=sum(len(s) for s in runs))


def u_pauses(d):
    """Two or three stretches of one period with long pauses between them."""
    f, runs, t = short_of(d), [], 10.0
    jitter = d.choice([0.0, 0.01, 0.05, 0.1])
    for _ in range(d.integer(2, 3)):
        runs.append(train(d, t, d.integer(5, 15), f["period"], jitter))
        t = runs[-1][-1] + f["period"] * d.log(7, 80)
    return of_stretches(d, f, runs, [f["period"]] * len(runs))


def u_silence(d):
    """A train of bursts; long before or after it one access."""
    f, n = short_of(d), d.integer(8, 30)
    far = n * f["period"] * d.log(2, 60)
    before = d.chance(0.4)
    s = train(d, f["t0"] + far * before, n, f["period"], d.choice([0.0, 0.0, 0.02, 0.08]))
    tr, truth = of_stretches(d, f, [s], [f["period"]])
    at, w = (f["t0"] if before else s[-1] + far), f["width"] * d.log(0.1, 2)
    tr.add(at, at + w, f["rate"] * w * d.log(0.01, 2))
    return tr, truth


def u_gap_change(d):
    """Gaps that change by 3 to 30 % once."""
    f, jitter = short_of(d), d.choice([0.0, 0.0, 0.002, 0.005])
    p, q = f["period"], f["period"] * (1 + d.log(0.03, 0.3)) ** d.choice([-1, 1])
    a = train(d, f["t0"], d.integer(8, 20), p, jitter)
    return of_stretches(d, f, [a, train(d, a[-1] + q, d.integer(8, 20), q, jitter)], [p, q])


def u_seconds(d):
    """Starts rounded to whole seconds, durations exact."""
    f, n = short_of(d, 3.0, 40.0), d.integer(12, 60)
    p = round(f["period"] * 4) / 4 if d.chance(0.5) else f["period"]
    f["width"], f["ranks"], f["pieces"] = d.uniform(0.05, 0.8), 1, 1
    return of_stretches(d, f, [np.floor(f["t0"] + p * np.arange(n))], [p])


def u_full(d):
    """Phases that fill 90 to 98 % of their period."""
    f = short_of(d)
    f["width"] = f["period"] * d.uniform(0.9, 0.98)
    f["pieces"] = 1
    return of_stretches(d, f, [train(d, f["t0"], d.integer(8, 40), f["period"], d.choice([0.0, 0.005]))], [f["period"]])


# ---------------------------------------------------------------- negatives


def at_times(d, f, times, width, vary=0.3):
    tr = m.Trace(f["ranks"])
    for x in times:
        w = width * float(np.exp(vary * d.r.normal()))
        m.burst(d, tr, float(x), w, f["rate"] * w, wobble=f["wobble"])
    return tr


def u_neg_gamma(d):
    """A renewal process with gamma gaps, from clustered to somewhat more even than Poisson."""
    f, n = m.negative_frame(d), d.log_integer(8, 80)
    g = d.r.gamma(d.uniform(0.5, 2.0), size=n)
    t = f["t0"] + np.cumsum(g) / g.sum() * f["duration"]
    return m.negative(at_times(d, f, t, f["duration"] / n * d.log(0.01, 0.2), d.choice([0.0, 0.4])))


def u_neg_weibull(d):
    """A renewal process with Weibull gaps."""
    f, n = m.negative_frame(d), d.log_integer(8, 80)
    g = d.r.weibull(d.uniform(0.6, 1.5), size=n)
    w = g.mean() * d.log(0.02, 0.3)
    t = np.cumsum(g + w)
    scale = f["duration"] / t[-1]
    return m.negative(at_times(d, f, f["t0"] + t * scale, w * scale, 0.0))


def u_neg_clusters(d):
    """A Poisson process of parents, each with a Poisson number of bursts around it."""
    f, k = m.negative_frame(d), d.integer(4, 15)
    parents = d.r.uniform(size=k) * f["duration"]
    spread = f["duration"] / k * d.log(0.02, 0.3)
    t = np.concatenate([p + spread * d.r.normal(size=1 + d.r.poisson(3)) for p in parents])
    return m.negative(at_times(d, f, f["t0"] + 5 * spread + np.sort(t - t.min()), spread * d.log(0.02, 0.3)))


def u_neg_ripple(d):
    """One long burst whose rate ripples irregularly."""
    f = m.negative_frame(d)
    tr = m.Trace(f["ranks"])
    n = d.integer(60, 400)
    x = np.zeros(n)
    a = d.uniform(0.5, 0.95)
    for i in range(1, n):
        x[i] = a * x[i - 1] + d.r.normal()
    rate = np.maximum(1 + d.uniform(0.05, 0.4) * x / x.std(), 0.05)
    cuts = f["t0"] + d.log(10.0, 600.0) * np.concatenate([[0.0], np.cumsum(d.r.uniform(0.7, 1.3, size=n))]) / n
    for _ in range(min(f["ranks"], 8)):
        tr.add(cuts[:-1], cuts[1:], rate * np.diff(cuts) * f["rate"])
    return m.negative(tr)


def u_neg_levels(d):
    """A stream whose level changes to another one at random times."""
    f, n = m.negative_frame(d), d.integer(4, 40)
    tr = m.Trace(f["ranks"])
    cuts = f["t0"] + np.concatenate([[0.0], np.sort(d.r.uniform(size=n - 1)), [1.0]]) * f["duration"]
    for a, b in zip(cuts[:-1], cuts[1:]):
        m.constant_io(d, tr, a, b + 1e-3, f["rate"] * d.r.uniform(0.05, 1.0), 0.03)
    return m.negative(tr)


def u_neg_ramp(d):
    """Bursts that come faster and faster (or slower and slower) and grow."""
    f, n = m.negative_frame(d), d.integer(8, 30)
    t = np.linspace(0, 1, n) ** d.choice([0.4, 0.5, 2.0, 2.5]) * f["duration"]
    w = np.diff(t).min() * d.uniform(0.2, 0.7)
    return m.negative(at_times(d, f, f["t0"] + t, w, 0.2))


def u_neg_queue(d):
    """Random arrivals that wait for each other: bursts back to back when it is busy."""
    f, n = m.negative_frame(d), d.log_integer(15, 120)
    arrive = np.sort(d.r.uniform(size=n)) * f["duration"]
    w = f["duration"] / n * d.uniform(0.2, 0.8) * d.r.exponential(size=n)
    tr, free = m.Trace(f["ranks"]), 0.0
    for a, ww in zip(arrive, w):
        s = max(a, free)
        m.burst(d, tr, f["t0"] + s, ww + 1e-3, f["rate"] * ww + 1, ranks=d.choice([1, f["ranks"]]), wobble=0.02)
        free = s + ww
    return m.negative(tr)


def u_neg_aftershocks(d):
    """Each burst makes further ones more likely for a while."""
    f = m.negative_frame(d)
    times = list(np.sort(d.r.uniform(size=d.integer(4, 12))) * f["duration"])
    reach = f["duration"] * d.log(0.002, 0.03)
    for t in list(times):
        while d.chance(0.6) and len(times) < 100:
            t += reach * d.r.exponential()
            times.append(t)
    return m.negative(at_times(d, f, f["t0"] + np.sort(times), reach * d.log(0.05, 0.4)))


def u_neg_listing(d):
    """A short run of many small requests of one process, in groups of unequal size."""
    f = m.negative_frame(d)
    tr = m.Trace(1)
    t, unit = f["t0"], d.log(1e-4, 1e-2)
    for _ in range(d.integer(3, 12)):
        for _ in range(d.log_integer(1, 40)):
            w = unit * float(np.exp(0.5 * d.r.normal()))
            tr.add(t, t + w, float(d.choice([512.0, 4096.0, 65536.0])))
            t += w * (1 + d.r.exponential())
        t += unit * 50 * d.r.exponential()
    return m.negative(tr)


def u_neg_few(d):
    """Three to six bursts of unequal length at unequal distances, in requests."""
    f, n = m.negative_frame(d), d.integer(3, 6)
    tr = m.Trace(f["ranks"])
    while True:
        g = d.r.gamma(1.0, size=n) + 0.1
        if g[:-1].max() > 1.8 * g[:-1].min():
            break
    t = f["t0"]
    for x in g:
        w = 0.3 * float(np.exp(0.4 * d.r.normal()))
        m.burst(d, tr, t, w * 20, f["rate"] * w * 20, d.integer(1, 8), wobble=f["wobble"])
        t += 20 * (w + x)
    return m.negative(tr)


def u_neg_dead_time(d):
    """Exponential gaps, but never shorter than a part of the mean."""
    f, n = m.negative_frame(d), d.log_integer(10, 80)
    dead = d.uniform(0.1, 0.3)
    t = f["t0"] + f["duration"] / n * np.cumsum(dead + (1 - dead) * d.r.exponential(size=n))
    return m.negative(at_times(d, f, t, f["duration"] / n * dead * d.uniform(0.1, 0.8), 0.1))


def u_neg_brown(d):
    """Bandwidth that wanders widely, in even bins."""
    f, n = m.negative_frame(d), d.integer(100, 1000)
    x = np.cumsum(d.r.normal(size=n)) / np.sqrt(n)
    rate = np.exp(d.uniform(0.5, 2.0) * x)
    cuts = f["t0"] + f["duration"] * np.arange(n + 1) / n
    tr = m.Trace(f["ranks"])
    tr.add(cuts[:-1], cuts[1:], rate * np.diff(cuts) * f["rate"])
    return m.negative(tr)


def u_neg_tail(d):
    """A large burst and then ever rarer requests."""
    f, n = m.negative_frame(d), d.integer(8, 60)
    tr = m.Trace(f["ranks"])
    w = f["duration"] * d.uniform(0.02, 0.2)
    m.burst(d, tr, f["t0"], w, f["rate"] * w, d.integer(1, 5), wobble=f["wobble"])
    t = f["t0"] + w + f["duration"] * (np.exp(3 * np.sort(d.r.uniform(size=n))) - 1) / 20
    tr.add(t, t + 0.02 * w, 0.01 * f["rate"] * w)
    return m.negative(tr)


def u_neg_pairs(d):
    """Random bursts, each followed by another one after a time that varies."""
    f, n = m.negative_frame(d), d.integer(5, 25)
    a = np.sort(d.r.uniform(size=n)) * f["duration"]
    b = a + f["duration"] / n * d.uniform(0.1, 0.5) * np.exp(0.5 * d.r.normal(size=n))
    return m.negative(at_times(d, f, f["t0"] + np.sort(np.concatenate([a, b])), f["duration"] / n * d.log(0.01, 0.06)))


m.CLASSES = {k: v for k, v in globals().items() if k.startswith("u_")}

if __name__ == "__main__":
    m.main()
