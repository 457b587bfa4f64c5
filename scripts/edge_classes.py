#!/usr/bin/env python3
"""Kinds of traces at the edge of "periodic": bursts between a clock and chance, and periods near each other.

    edge_classes.py --seed 100 --out DIR [--per-class 14] [--classes ...]      output as make_suite.py's

The truth follows the definition in docs/concepts.md: a renewal process counts as periodic if the coefficient of variation of its
gaps, that of the process and not of the sample, is below 0.48, bursts on a clock if their onsets spread by less around it.
Classes are named for the range of that number, so that importance and figures can be given for each. Draws on
make_suite.py like more_classes.py. Needs numpy.
"""
import numpy as np

from more_classes import grid, m, setup

EDGE = 0.48  # `regular` in src/period/chains/thresholds.rs
LAWS = ["gamma", "uniform", "lognormal", "weibull", "normal", "dead_time"]


def weibull_shape(cv):
    """Shape of the Weibull distribution with this coefficient of variation, by bisection."""
    from math import gamma

    lo, hi = 0.5, 40.0
    for _ in range(60):
        k = 0.5 * (lo + hi)
        found = (gamma(1 + 2 / k) / gamma(1 + 1 / k) ** 2 - 1) ** 0.5
        lo, hi = (k, hi) if found > cv else (lo, k)
    return lo


def gaps_of(d, law, cv, n):
    """Gaps of mean 1."""
    from math import gamma

    if law == "uniform" and cv > 3 ** -0.5 or law == "normal" and cv > 0.35:
        law = "gamma"  # beyond that they would be negative
    if law == "gamma":
        return d.r.gamma(cv ** -2, size=n) * cv ** 2
    if law == "uniform":
        return 1 + 3 ** 0.5 * cv * d.r.uniform(-1, 1, size=n)
    if law == "lognormal":
        s2 = np.log1p(cv * cv)
        return np.exp(np.sqrt(s2) * d.r.normal(size=n) - 0.5 * s2)
    if law == "weibull":
        k = weibull_shape(cv)
        return d.r.weibull(k, size=n) / gamma(1 + 1 / k)
    if law == "dead_time":
        return 1 - cv + cv * d.r.exponential(size=n)
    return np.clip(1 + cv * d.r.normal(size=n), 0.05, None)


def renewal(low, high, cycles=(5, 80)):
    """Each burst waits for the one before; coefficient of variation of the gaps from `low` to `high`."""

    def make(d):
        cv, law = d.uniform(low, high), d.choice(LAWS)
        f = setup(d, n=d.log_integer(*cycles))
        f["bookends"] = False
        n, p = f["n"], f["period"]
        g = gaps_of(d, law, cv, n - 1)
        # a burst is over before the next one begins
        f["width"] = min(f["width"], 0.5 * p * float(np.quantile(g, 0.1)), d.log(0.02, 0.5) * p)
        g = np.maximum(p * g, 1.2 * f["width"])
        vary = d.choice([0.0, 0.0, 0.2, 0.5])
        w = np.minimum(f["width"] * np.exp(vary * d.r.normal(size=n)), 0.9 * np.append(g, p))
        s = f["t0"] + np.concatenate([[0.0], np.cumsum(g)])
        tr, s, w = m.regular(d, f, starts=s, widths=w)
        params = {"law": law, "cv": cv, "observed_cv": float(g.std() / g.mean()), "width": float(f["width"] / p)}
        if cv > EDGE:
            tr, truth = m.negative(tr, **params)
            truth["n_cycles"] = n
            return tr, truth
        return m.periodic_result(tr, f, s, w, float(g.mean()), params)

    return make


def late(low, high):
    """A clock whose bursts are late by a random time, with a standard deviation of `low` to `high` periods."""

    def make(d):
        sd, law = d.uniform(low, high), d.choice(["normal", "gamma", "uniform"])
        f = setup(d, n=d.log_integer(6, 80))
        f["bookends"] = False
        n, p = f["n"], f["period"]
        f["width"] = min(f["width"], 0.2 * p)
        x = {"normal": d.r.normal(size=n), "gamma": d.r.gamma(2.0, size=n) / 2 ** 0.5,
             "uniform": 3 ** 0.5 * d.r.uniform(-1, 1, size=n)}[law]
        s = np.sort(grid(f) + p * (sd * x + 3 * sd))
        for i in range(1, n):
            s[i] = max(s[i], s[i - 1] + 1.05 * f["width"])
        tr, s, w = m.regular(d, f, starts=s)
        params = {"law": law, "sd": sd}
        if sd > EDGE:
            tr, truth = m.negative(tr, **params)
            truth["n_cycles"] = n
            return tr, truth
        return m.periodic_result(tr, f, s, w, p, params)

    return make


def e_few(d):
    """Three to six bursts whose gaps differ by half and more, in bursts of like size."""
    return renewal(0.15, 0.9, (3, 6))(d)


def e_wander(d):
    """Gaps that wander: the period itself is a slow random walk of 10 to 30 % beside a little jitter."""
    f = setup(d, min_cycles=10, max_cycles=80)
    n, p = f["n"], f["period"]
    steps = np.cumsum(d.r.normal(size=n - 1)) / np.sqrt(n)
    g = p * np.exp(d.uniform(0.1, 0.3) * steps) * (1 + d.uniform(0.0, 0.1) * np.clip(d.r.normal(size=n - 1), -2.5, 2.5))
    f["width"] = min(f["width"], 0.5 * float(g.min()))
    s = f["t0"] + np.concatenate([[0.0], np.cumsum(g)])
    tr, s, w = m.regular(d, f, starts=s)
    return m.periodic_result(tr, f, s, w, float(g.mean()), {"observed_cv": float(g.std() / g.mean())})


def e_giant(d):
    """One or two writes of another kind that hold most of the bytes, before or after bursts on a clock: initial state, result."""
    f = setup(d, min_cycles=8, t_hi=60.0)
    f["bookends"] = False
    n, p = f["n"], f["period"]
    f["width"] = min(f["width"], 0.4 * p)
    jitter = d.choice([0.0, 0.0, 0.03]) * np.clip(d.r.normal(size=n), -2.5, 2.5)
    kinds = d.choice([["before"], ["before"], ["after"], ["before", "after"]])
    length = [p * d.log(1.0, 12 * n ** 0.5) for _ in kinds]
    if "before" in kinds:
        f["t0"] += length[0] + p * d.uniform(0.3, 3.0)
    s = f["t0"] + p * (np.arange(n) + jitter)
    tr, s, w = m.regular(d, f, starts=s)
    for kind, x in zip(kinds, length):
        at = s[0] - x - p * d.uniform(0.2, 0.3) if kind == "before" else s[-1] + w[-1] + p * d.uniform(0.3, 3.0)
        m.burst(d, tr, float(at), x, f["rate"] * x * d.uniform(0.5, 1.0), d.integer(1, 60))
    return m.periodic_result(tr, f, s, w, p, {"length": [float(x / p) for x in length]})


def near(members):
    """Writers of their own clocks whose periods differ by 4 to 35 %."""

    def make(d):
        f = setup(d, min_cycles=14, max_cycles=60, t_lo=2.0)
        f["bookends"] = False
        k, p = members, f["period"]
        ratios = np.cumprod([1.0] + [d.uniform(1.04, 1.35 if members == 2 else 1.2) for _ in range(k - 1)])
        end = f["t0"] + p * f["n"]
        tr, regimes = m.Trace(f["ranks"]), []
        width = min(f["width"], d.uniform(0.01, 0.12) * p)
        for r in ratios:
            t, x = p * r, d.uniform(0, 1) * p * r
            s = np.arange(f["t0"] + x, end - width, t)
            w, size = width * d.uniform(0.5, 1.0), d.log(0.3, 1.0)
            jitter = d.choice([0.0, 0.0, 0.01])
            for y in s + jitter * t * np.clip(d.r.normal(size=len(s)), -2.5, 2.5):
                m.burst(d, tr, float(y), w, f["rate"] * w * size, 1)
            moved = len(s) * w * size
            regimes.append((moved, {"period_s": float(t), "start_s": float(s[0]), "end_s": float(s[-1] + w)}))
        regimes = [r for _, r in sorted(regimes, key=lambda r: -r[0])]
        # several are to be found; which of them moves the most bytes hardly matters
        truth = {"period_s": regimes[0]["period_s"], "regimes": regimes, "burst_width_s": width, "n_cycles": f["n"],
                 "params": {"ratios": [float(r) for r in ratios]}}
        return tr, truth

    return make


m.CLASSES = {
    "e_cv20_30": renewal(0.2, 0.3),
    "e_cv30_40": renewal(0.3, 0.4),
    "e_cv40_48": renewal(0.4, EDGE),
    "e_cv48_55": renewal(EDGE, 0.55),
    "e_cv55_65": renewal(0.55, 0.65),
    "e_cv65_80": renewal(0.65, 0.8),
    "e_late20_40": late(0.2, 0.4),
    "e_late40_48": late(0.4, EDGE),
    "e_late48_60": late(EDGE, 0.6),
    "e_few": e_few,
    "e_wander": e_wander,
    "e_giant": e_giant,
    "e_near2": near(2),
    "e_near3": near(3),
}

if __name__ == "__main__":
    m.main()
