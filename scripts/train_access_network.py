#!/usr/bin/env python3
"""Train the network that judges a few accesses (src/classify/network/weights.json).

    cargo run --release --example access_windows -- windows.csv 300000 1
    cargo run --release --example access_windows -- unseen.csv 50000 2
    train_access_network.py windows.csv --test unseen.csv --out src/classify/network/weights.json

One layer of tanh units, three heads with a softmax each: sequentiality with `change`, read/write mix, size. Cross entropy, Adam,
batches of 512, cosine learning-rate decay. Windows with a `change` do not train the head of sizes. Only the head of sequentiality is
stored: the other two are further tasks for the hidden layer. Needs numpy.
"""
import argparse
import csv
import json
import sys

import numpy as np

WALKS = ["sequential", "strided-1d", "strided-kd", "variably-strided", "non-sequential", "change"]
HEADS = {"walk": 6, "mix": 3, "size": 5}


def load(path):
    with open(path) as f:
        names = next(csv.reader(f))
        rows = list(csv.reader(f))
    features = names[: -len(HEADS)]
    x = np.array([[float(v) for v in r[: len(features)]] for r in rows])
    y = {"walk": np.array([WALKS.index(r[-3]) for r in rows]), "mix": np.array([int(r[-2]) for r in rows]),
         "size": np.array([int(r[-1]) for r in rows])}
    return features, x, y


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def forward(w, x):
    h = np.tanh(x @ w["hidden"].T + w["hidden_bias"])
    return h, {k: softmax(h @ w[k].T + w[k + "_bias"]) for k in HEADS}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("windows")
    p.add_argument("--test")
    p.add_argument("--out", required=True)
    p.add_argument("--hidden", type=int, default=40)
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    rng = np.random.default_rng(a.seed)
    features, x, y = load(a.windows)
    mean, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 0.05)
    x = (x - mean) / scale
    n, d = x.shape
    w = {"hidden": rng.normal(0, 1 / np.sqrt(d), (a.hidden, d)), "hidden_bias": np.zeros(a.hidden)}
    for k, c in HEADS.items():
        w[k], w[k + "_bias"] = rng.normal(0, 1 / np.sqrt(a.hidden), (c, a.hidden)), np.zeros(c)
    m = {k: np.zeros_like(v) for k, v in w.items()}
    v = {k: np.zeros_like(u) for k, u in w.items()}
    batch, t = 512, 0
    steps = a.epochs * (n // batch)
    for epoch in range(a.epochs):
        order = rng.permutation(n)
        for i in range(n // batch):
            j = order[i * batch:(i + 1) * batch]
            h, out = forward(w, x[j])
            g, gh = {}, 0
            for k in HEADS:
                delta = out[k].copy()
                delta[np.arange(len(j)), y[k][j]] -= 1
                if k == "size":
                    delta[y["walk"][j] == WALKS.index("change")] = 0
                delta /= len(j)
                g[k], g[k + "_bias"] = delta.T @ h, delta.sum(axis=0)
                gh = gh + delta @ w[k]
            gh = gh * (1 - h * h)
            g["hidden"], g["hidden_bias"] = gh.T @ x[j], gh.sum(axis=0)
            t += 1
            rate = 0.004 * 0.5 * (1 + np.cos(np.pi * t / steps)) + 1e-5
            for k in w:
                m[k] = 0.9 * m[k] + 0.1 * g[k]
                v[k] = 0.999 * v[k] + 0.001 * g[k] ** 2
                w[k] -= rate * (m[k] / (1 - 0.9**t)) / (np.sqrt(v[k] / (1 - 0.999**t)) + 1e-8)
        if epoch % 10 == 9:
            _, out = forward(w, x[:20000])
            print(epoch + 1, {k: round(float((out[k].argmax(1) == y[k][:20000]).mean()), 4) for k in HEADS}, file=sys.stderr)
    if a.test:
        _, tx, ty = load(a.test)
        _, out = forward(w, (tx - mean) / scale)
        right = {k: float((out[k].argmax(1) == ty[k])[(ty["walk"] != 5) | (k != "size")].mean()) for k in HEADS}
        print("windows not trained on:", {k: round(r, 4) for k, r in right.items()})
        table = np.zeros((6, 6), int)
        np.add.at(table, (ty["walk"], out["walk"].argmax(1)), 1)
        for name, row in zip(WALKS, table):
            print(f"  {name:18}", row)
    digits = lambda u: [float(f"{z:.6g}") for z in u] if u.ndim == 1 else [digits(r) for r in u]
    weights = {"features": features, "mean": digits(mean), "scale": digits(scale)}
    weights |= {k: digits(w[k]) for k in ["hidden", "hidden_bias", "walk", "walk_bias"]}
    with open(a.out, "w") as f:
        json.dump(weights, f, separators=(",", ":"))
        f.write("\n")


if __name__ == "__main__":
    main()
