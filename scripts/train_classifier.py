#!/usr/bin/env python3
"""Train the classifier of the default detector (src/period/chains/weights.json).

    train_classifier.py DUMP.json ... --out src/period/chains/weights.json [--hidden 24] [--ridge 0.0003] [--folds 2]
                   [--members 2] [--overlap POWER] [--without FEATURE ...] [--importance CLASS=FACTOR ...]

Each DUMP comes from `cargo run --release --features training --example hypotheses -- SUITE_DIR DUMP.json`. Needs numpy and scipy.

Objective, per search round of each case, hypotheses i, right ones R, w the overlap of their windows with the true one to the power
--overlap (0: 1 for all): maximise log(sum_R w e^z / (1 + sum_all e^z)); where none is right, log(1 / (1 + sum_all e^z)). z = bias + linear x + sum_h output_h tanh(hidden_h x + hidden_bias_h), x the
standardised features. The judge is the mean of several such networks that began elsewhere, which is a network again. The calibration (logit of the confidence = a + b pooled z) is fitted on folds that the weights
have not seen. See docs/confidence.md.
"""
import argparse
import json
import math
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from scipy.optimize import minimize

VERSION = 2
CLIP = 5.0
AGREE, CLOSE, WAVE_HANDICAP = 0.03, 0.5, 4.0  # as in classifier.rs
TOLERANCE = 0.05
HARDEST = 25


def iou(window, other):
    both = max(0.0, min(window[1], other[1]) - max(window[0], other[0]))
    return both / max(window[1] - window[0] + other[1] - other[0] - both, 1e-12)


def worths(hypotheses, period, case, power):
    """0 for a wrong period; for the right one the overlap of the window with the nearest one of the truth, to a power."""
    truth, same = case["truth"], lambda p: abs(p / period - 1) <= TOLERANCE
    held = [(g["start_s"], g["end_s"]) for g in truth["regimes"] if same(g["period_s"])]
    if len(held) == 1 and same(truth["period_s"]) and truth["windows"]:
        held = truth["windows"]
    held = [(a - case["origin"], b - case["origin"]) for a, b in held]
    return np.array([max(iou(h[1], w) for w in held) ** power if same(h[0]) else 0.0 for h in hypotheses])


class Data:
    """All rounds of all dumps: features of the hypotheses, one group per round."""

    def __init__(self, paths, power=0.0, without=()):
        x, log_period, worth, group, self.rounds = [], [], [], [], []
        self.names = None
        for path in paths:
            with open(path) as f:
                dump = json.load(f)
            if self.names not in (None, dump["features"]):
                sys.exit(f"{path}: other features than the files before")
            self.names = dump["features"]
            kept = [i for i, name in enumerate(self.names) if name not in without]
            for case in dump["cases"]:
                truth = case["truth"]
                for number, r in enumerate(case["rounds"]):
                    if not r["hypotheses"]:
                        continue
                    # a true period that earlier rounds have taken is not to be found again in the same place
                    left = []
                    for regime in truth["regimes"]:
                        t = regime["period_s"]
                        w = (regime["start_s"] - case["origin"], regime["end_s"] - case["origin"])
                        gone = any(
                            abs(p / t - 1) < TOLERANCE
                            and sum(max(0.0, min(w[1], b) - max(w[0], a)) for a, b in ws) > 0.5 * (w[1] - w[0])
                            for p, ws in r["taken"]
                        )
                        if not gone:
                            left.append((t, w, regime.get("nested", False)))
                    p = np.array([h[0] for h in r["hypotheses"]])
                    features = np.array([h[2] for h in r["hypotheses"]], np.float32)[:, kept]
                    ok = np.zeros(len(p))
                    for t, _, _ in left:
                        ok = np.maximum(ok, worths(r["hypotheses"], t, case, power))
                    # periods inside each other are found in one round: each competes with what is wrong and with none
                    goals = [(ok, np.ones(len(p), bool), "")]
                    if any(n for _, _, n in left):
                        each = [(worths(r["hypotheses"], t, case, power), n) for t, _, n in left]
                        goals = [(e, (e > 0) | (ok == 0), " inside" if n else "") for e, n in each]
                    for good, keep, suffix in goals:
                        if not keep.any():
                            continue
                        g = len(self.rounds)
                        self.rounds.append({"class": truth["class"] + suffix, "case": path + ":" + case["name"], "number": number, "periodic": bool(left)})
                        x.append(features[keep])
                        log_period.append(np.log(p[keep]))
                        worth.append(good[keep])
                        group.append(np.full(int(keep.sum()), g))
        self.names = [self.names[i] for i in kept]
        self.x = np.concatenate(x)
        self.x[~np.isfinite(self.x)] = 0
        self.log_period = np.concatenate(log_period)
        self.worth = np.concatenate(worth)
        self.right = np.array([w > 0 for w in self.worth])
        self.group = np.concatenate(group)
        self.wave = self.x[:, self.names.index("wave")] > 0.5
        self.start = np.searchsorted(self.group, np.arange(len(self.rounds)))

    def weights(self, importance):
        """Every class counts the same, or as `importance` has it; further rounds half as much."""
        keys = [(r["class"], r["number"] > 0) for r in self.rounds]
        count = {k: keys.count(k) for k in set(keys)}
        mean = len(keys) / len({k[0] for k in keys})
        return np.array([importance.get(k[0], 1.0) * mean / max(count[k], 0.3 * mean) * (0.5 if k[1] else 1.0) for k in keys])

    def hardest(self, z, most):
        """Only the `most` strongest hypotheses of each round: the others hardly weigh in the competition."""
        order = np.lexsort((-z, self.group))
        rank = np.empty(len(z), int)
        rank[order] = np.arange(len(z)) - self.start[self.group[order]]
        other = object.__new__(Data)
        keep = rank < most
        other.names, other.rounds = self.names, self.rounds
        other.x, other.log_period, other.worth, other.right, other.group = (
            v[keep] for v in (self.x, self.log_period, self.worth, self.right, self.group))
        other.start = np.searchsorted(other.group, np.arange(len(self.rounds)))
        return other

    def subset(self, rounds):
        """The given rounds as data of their own."""
        other = object.__new__(Data)
        other.names = self.names
        keep = np.isin(self.group, rounds)
        renumber = np.full(len(self.rounds), -1)
        renumber[rounds] = np.arange(len(rounds))
        other.rounds = [self.rounds[i] for i in rounds]
        other.x, other.log_period, other.worth, other.right, other.wave = (
            v[keep] for v in (self.x, self.log_period, self.worth, self.right, self.wave))
        other.group = renumber[self.group[keep]]
        other.start = np.searchsorted(other.group, np.arange(len(rounds)))
        return other


def fitted(data, weight, hidden, ridge, rounds, members):
    """The mean of networks trained on the data: first their linear part on everything, then all of each on the strongest
    hypotheses, from a start of its own."""
    linear = Network(len(data.names), 0)
    fun = linear.train(data.x, data, weight, ridge, 200)
    if not hidden:
        return linear, fun
    hard = data.hardest(linear.forward(linear.theta, data.x)[0], HARDEST)
    parts, funs = [], []
    for seed in range(1, members + 1):
        net = Network(len(data.names), hidden, seed)
        net.theta[:1 + net.f] = linear.theta[:1 + net.f]
        funs.append(net.train(hard.x, hard, weight, ridge, rounds))
        parts.append(net.parts(net.theta))
    bias, lin, u, c, v = zip(*parts)
    mean = Network(len(data.names), hidden * members)
    mean.theta = np.concatenate([[np.mean(bias)], np.mean(lin, axis=0), np.concatenate(u).ravel(), np.concatenate(c),
                                 np.concatenate(v) / members])
    return mean, float(np.mean(funs))


class Network:
    def __init__(self, features, hidden, seed=1):
        self.f, self.h = features, hidden
        r = np.random.RandomState(seed)
        self.theta = np.concatenate([[-5.0], np.zeros(features), 0.3 * r.normal(size=hidden * features) / math.sqrt(features),
                                     np.zeros(hidden), 0.1 * r.normal(size=hidden)])

    def parts(self, theta):
        f, h = self.f, self.h
        cut = np.cumsum([1, f, h * f, h])
        b, lin, u, c, v = np.split(theta, cut)
        return b[0], lin, u.reshape(h, f), c, v

    def forward(self, theta, x):
        b, lin, u, c, v = self.parts(theta)
        a = np.tanh(x @ u.T.astype(x.dtype) + c.astype(x.dtype))
        return b + x @ lin.astype(x.dtype) + a @ v.astype(x.dtype), a

    def loss(self, theta, x, data, weight, ridge):
        z, a = self.forward(theta, x)
        z = z.astype(float)
        g, start = data.group, data.start
        top = np.maximum(np.maximum.reduceat(z, start), 0.0)
        e = np.exp(z - top[g])
        total = np.add.reduceat(e, start) + np.exp(-top)
        er = data.worth * e
        some = np.add.reduceat(er, start)
        has = np.logical_or.reduceat(data.right, start)
        good = np.where(has, np.maximum(some, 1e-300), np.exp(-top))
        n = weight.sum()
        value = -(weight * (np.log(good) - np.log(total))).sum() / n
        dz = (e / total[g] - np.where(has[g], er / np.maximum(some, 1e-300)[g], 0.0)) * weight[g] / n
        dz = dz.astype(np.float32)
        b, lin, u, c, v = self.parts(theta)
        back = (dz[:, None] * v.astype(np.float32)) * (1 - a * a)
        grad = np.concatenate([[dz.sum()], x.T @ dz, (back.T @ x).ravel(), back.sum(0), a.T @ dz]).astype(float)
        penal = theta.copy()
        penal[0] = 0
        penal[1 + self.f + self.h * self.f:1 + self.f + self.h * self.f + self.h] *= 0.1
        return value + 0.5 * ridge * (penal @ theta), grad + ridge * penal

    def train(self, x, data, weight, ridge, rounds):
        r = minimize(self.loss, self.theta, args=(x, data, weight, ridge), jac=True, method="L-BFGS-B",
                     options={"maxiter": rounds, "maxfun": 2 * rounds})
        self.theta = r.x
        return r.fun


def picks(z, data):
    """The answer of every round: index of the winner and its pooled logit, as in classifier.rs."""
    out = np.zeros(len(data.rounds), int)
    pooled = np.zeros(len(data.rounds))
    ends = np.append(data.start[1:], len(z))
    for i, (a, b) in enumerate(zip(data.start, ends)):
        t, zz = data.log_period[a:b], z[a:b]
        near = np.abs(t[:, None] - t[None, :]) < AGREE
        top = zz.max()
        pool = top + np.log(np.maximum((near * np.exp(zz - top)).sum(1), 1e-300))
        best = np.where(pool > pool.max() - CLOSE, zz - WAVE_HANDICAP * data.wave[a:b], -np.inf).argmax()
        out[i], pooled[i] = a + best, pool[best]
    return out, pooled


def calibrate(pooled, right):
    """a, b of logit P(right) = a + b pooled by maximum likelihood, slightly held at (0, 1)."""

    def loss(p):
        z = p[0] + p[1] * pooled
        return np.logaddexp(0, np.where(right, -z, z)).sum() + 0.5 * (p[0] ** 2 + 4 * (p[1] - 1) ** 2)

    return minimize(loss, [0.0, 1.0]).x


def report(data, pick, conf, answer):
    classes = list(dict.fromkeys(r["class"] for r in data.rounds))
    print(f"{'class':18s} {'n':>4s} {'hold':>5s} {'best':>5s} {'ok':>5s} {'false':>5s}   further: {'n':>4s} {'ok':>5s} {'false':>5s}")
    has = np.logical_or.reduceat(data.right, data.start)
    rows = []
    for c in classes:
        cells = []
        for further in (False, True):
            k = np.array([i for i, r in enumerate(data.rounds) if r["class"] == c and (r["number"] > 0) == further], int)
            if len(k) == 0:
                cells.append(None)
                continue
            pos = np.array([data.rounds[i]["periodic"] for i in k])
            ok = data.right[pick[k]]
            said = conf[k] >= answer[int(further)]
            m = lambda x: f"{100 * x.mean():4.0f}%" if len(x) else "    -"
            cells.append((len(k), m(has[k][pos]), m(ok[pos]), m((ok & said)[pos]), m((~ok & said))))
        a, b = cells
        line = f"{c:18s} " + (f"{a[0]:4d} {a[1]:>5s} {a[2]:>5s} {a[3]:>5s} {a[4]:>5s}" if a else "")
        if b:
            line += f"            {b[0]:4d} {b[3]:>5s} {b[4]:>5s}"
        rows.append(line)
    print("\n".join(rows))
    first = np.array([r["number"] == 0 for r in data.rounds])
    ok = data.right[pick]
    for lo in np.arange(0.3, 1.0, 0.1):
        k = first & (conf >= lo) & (conf < lo + 0.1 + 1e-9 * (lo > 0.85))
        if k.any():
            print(f"confidence {conf[k].mean():.2f}  right {ok[k].mean():.2f}  n {k.sum()}")


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("dumps", nargs="+")
    ap.add_argument("--out")
    ap.add_argument("--hidden", type=int, default=24, help="units of each network")
    ap.add_argument("--members", type=int, default=2, help="networks")
    ap.add_argument("--ridge", type=float, default=0.0003)
    ap.add_argument("--folds", type=int, default=2)
    ap.add_argument("--rounds", type=int, default=1500)
    ap.add_argument("--importance", nargs="*", default=[], metavar="CLASS=FACTOR", help="classes that count more or less")
    ap.add_argument("--overlap", type=float, default=0.0, metavar="POWER", help="how much the windows of right hypotheses count")
    ap.add_argument("--without", nargs="*", default=[], metavar="FEATURE", help="features that are left out")
    ap.add_argument("--answer", type=float, nargs=2, default=(0.5, 0.4))
    ap.add_argument("--worst", type=int, default=0, help="list this many of the worst cases")
    a = ap.parse_args()
    data = Data(a.dumps, a.overlap, a.without)
    n = len(data.names)
    mean, scale = data.x.mean(0), np.maximum(data.x.std(0), 1e-3)
    data.x = np.clip((data.x - mean) / scale, -CLIP, CLIP).astype(np.float32)
    importance = dict((k, float(v)) for k, v in (i.split("=") for i in a.importance))
    weight = data.weights(importance)
    print(f"{len(data.rounds)} rounds, {len(data.x)} hypotheses, {n} features", file=sys.stderr)

    # out-of-fold picks; all rounds of a case stay in one fold
    case = np.unique([r["case"] for r in data.rounds], return_inverse=True)[1]
    fold = np.random.RandomState(7).permutation(case.max() + 1)[case] % a.folds
    pick = np.zeros(len(data.rounds), int)
    pooled = np.zeros(len(data.rounds))
    pool = ProcessPoolExecutor(max_workers=a.folds + 1, mp_context=multiprocessing.get_context("fork"))
    parts = [np.nonzero(fold != f)[0] for f in range(a.folds)]
    trained = [pool.submit(fitted, data.subset(p), weight[p], a.hidden, a.ridge, a.rounds, a.members) for p in parts]
    whole = pool.submit(fitted, data, weight, a.hidden, a.ridge, a.rounds, a.members) if a.out else None
    for f, inside in enumerate(parts):
        outside = np.nonzero(fold == f)[0]
        test = data.subset(outside)
        net, fun = trained[f].result()
        z = net.forward(net.theta, test.x)[0].astype(float)
        held = -net.loss(net.theta, test.x, test, weight[outside], 0.0)[0]
        print(f"fold {f}: objective {fun:.4f}, held-out log-likelihood {held:.4f}", file=sys.stderr)
        p, q = picks(z, test)
        offset = data.start[outside] - test.start
        pick[outside], pooled[outside] = p + offset, q
    right = data.right[pick]
    further = np.array([r["number"] > 0 for r in data.rounds])
    calibration, conf = [], np.zeros(len(right))
    for k in (~further, further):
        c = calibrate(pooled[k], right[k]) if k.any() else np.array([0.0, 1.0])
        calibration.append(c)
        conf[k] = 1 / (1 + np.exp(-(c[0] + c[1] * pooled[k])))
    print("calibration", [list(map(lambda v: round(float(v), 3), c)) for c in calibration])
    report(data, pick, conf, a.answer)
    if a.worst:
        bad = []
        for i, r in enumerate(data.rounds):
            said = conf[i] >= a.answer[int(r["number"] > 0)]
            if r["periodic"] and not (said and right[i]) or not r["periodic"] and said:
                bad.append((r["class"], r["case"], r["number"], conf[i], bool(right[i]), float(math.exp(data.log_period[pick[i]]))))
        for b in sorted(bad)[:a.worst]:
            print(b)
    if not a.out:
        return
    net, _ = whole.result()
    b, lin, u, c, v = net.parts(net.theta)
    num = lambda x: [float(f"{y:.6g}") for y in x]
    with open(a.out, "w") as f:
        rows = {
            "version": VERSION, "features": data.names, "mean": num(mean), "scale": num(scale), "clip": CLIP,
            "bias": float(f"{b:.6g}"), "linear": num(lin), "hidden": [num(r) for r in u], "hidden_bias": num(c), "output": num(v),
            "calibration": [num(k) for k in calibration], "answer": list(a.answer),
        }
        f.write("{\n" + ",\n".join(f'  "{k}": {json.dumps(r)}' for k, r in rows.items()) + "\n}\n")


if __name__ == "__main__":
    main()
