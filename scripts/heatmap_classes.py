#!/usr/bin/env python3
"""Heat maps, as Darshan records them, to train and check the classifier of the default detector on.

    heatmap_classes.py --seed 100 --out DIR [--per-class 14] [--classes ...]      output as make_suite.py's

Bytes in bins of one width instead of requests; bins of up to a third of the period. Draws on make_suite.py like
more_classes.py. Needs numpy.
"""
import numpy as np

from more_classes import clipped, grid, m, random_bursts, setup


def bins_of(tr, width, t0):
    """The trace as a heat map sees it: bytes per bin of one width."""
    s, e, v = tr.arrays()
    n = int(np.ceil((e.max() - t0) / width)) + 1
    edges = t0 + width * np.arange(n + 1)
    order = np.argsort(s)
    t = np.concatenate([s, e])
    r = np.concatenate([v / (e - s), -v / (e - s)])
    order = np.argsort(t)
    t, r = t[order], np.cumsum(r[order])
    total = np.concatenate([[0.0], np.cumsum(r[:-1] * np.diff(t))])
    bytes_ = np.diff(np.interp(edges, t, total))
    out = m.Trace(tr.ranks)
    k = np.nonzero(bytes_ > 1.0)[0]
    # a heat map of several ranks: the same bins, bytes spread unevenly
    out.add(edges[k], edges[k + 1], bytes_[k])
    return out


def y_heatmap(d):
    """Bins of a tenth to a third of the period."""
    f = setup(d, max_cycles=60)
    p, n = f["period"], f["n"]
    f["width"] = min(f["width"], d.choice([0.2, 0.45]) * p)
    sig = d.choice([0.0, 0.0, 0.03, 0.08])
    s = grid(f) + sig * p * clipped(d, n)
    f["bookends"] = d.chance(0.3)
    tr, s, w = m.regular(d, f, starts=s, scale=np.exp(d.choice([0.02, 0.4]) * clipped(d, n)))
    width = p * d.uniform(0.1, 0.34)
    t0 = s[0] - width * d.uniform(0, 1) - (p if f["bookends"] else 0)
    tr2 = bins_of(tr, width, t0)
    tr2, r = m.periodic_result(tr2, f, s, w, p if sig == 0 else float((s[-1] - s[0]) / (n - 1)), {"bin_s": width, "sigma": sig})
    return tr2, r


def y_binned(d):
    """A kind of the accuracy suite as a heat map shows it."""
    name = d.choice(["clean", "jitter_05", "jitter_10", "burst_length", "amplitude", "noise", "drift", "two_periods",
                     "period_change", "period_change", "partial", "few_cycles"])
    tr, r = m.CLASSICS[name](d)
    width = r["period_s"] * d.uniform(0.05, 0.15 if name == "few_cycles" else 0.3)
    t0 = tr.arrays()[0].min() - width * d.uniform(0, 1)
    # what bins cannot show is not to be found
    r["regimes"] = [x for x in r["regimes"] if x["period_s"] >= 3 * width]
    r["params"] = {"of": name, "bin_s": width}
    return bins_of(tr, width, t0), r


def y_bin_regimes(d):
    """Two periods, one after the other or interlaced, in a heat map."""
    tr, r = m.CLASSICS[d.choice(["period_change", "period_change", "two_periods"])](d)
    width = min(x["period_s"] for x in r["regimes"]) / d.uniform(3.2, 12.0)
    return bins_of(tr, width, tr.arrays()[0].min() - width * d.uniform(0, 1)), r


def y_own_phases(d):
    """Each rank keeps the period with a phase of its own, anywhere in it; requests or a heat map."""
    f = setup(d, min_ranks=4)
    f["ranks"] = min(f["ranks"], 16)
    p, n = f["period"], f["n"]
    w = min(f["width"], d.log(0.01, 0.3) * p)
    phase = d.r.uniform(0, p, size=f["ranks"])
    phase -= phase.min()
    tr = m.Trace(f["ranks"])
    stray = d.choice([0.0, 0.002, 0.01]) * p
    for x in grid(f):
        a = x + phase + stray * clipped(d, f["ranks"])
        tr.add(a, a + w * d.r.uniform(0.9, 1.0, size=f["ranks"]), f["rate"] / f["ranks"] * w)
    s = grid(f)
    if d.chance(0.5):
        width = p * d.choice([0.1, 0.125, 0.2, d.uniform(0.05, 0.2)])
        tr = bins_of(tr, width, s[0] - width * d.uniform(0, 1))
    return m.periodic_result(tr, f, s, np.full(n, phase.max() + w), p)


# ---------------------------------------------------------------- negatives


def y_neg_bins(d):
    """Random bursts in a heat map."""
    n = d.log_integer(6, 50)
    f, tr = random_bursts(d, n, d.r.exponential(1.0, size=n), d.log(0.05, 0.3))
    width = f["duration"] / n * d.uniform(0.1, 0.4)
    return m.negative(bins_of(tr, width, f["t0"] - width * d.uniform(0, 1)), bin_s=width)


def y_neg_binned(d):
    """An aperiodic kind of the accuracy suite as a heat map shows it."""
    name = d.choice(["neg_poisson", "neg_exponential", "neg_random_walk", "neg_constant", "neg_ramp", "neg_single", "neg_two_bursts"])
    tr, _ = m.CLASSICS[name](d)
    s, e, _ = tr.arrays()
    width = (e.max() - s.min()) / d.log(40, 400)
    return m.negative(bins_of(tr, width, s.min() - width * d.uniform(0, 1)), of=name, bin_s=width)


m.CLASSES = {k: v for k, v in globals().items() if k.startswith("y_")}

if __name__ == "__main__":
    m.main()
