#!/usr/bin/env python3
"""Writes burst trains and the error that SciPy's curve_fit reaches on them, which the Fourier fit is compared with.

Usage: fit_oracle.py  (from the root of the crate; needs numpy and SciPy; some minutes)
Writes tests/data/transform/fourier_fit.json and prints a table with times (the least of three runs, except where one
takes more than two seconds).
"""

import json
import time

import numpy as np
import scipy
from scipy.optimize import curve_fit, least_squares

COMPONENTS = 10
# Samples, period, share of the period that a burst lasts, noise, jitter of the period.
PLAN = [
    (200, 18.2, 0.30, 5, 0.02),
    (185, 18.01, 0.40, 10, 0.05),
    (300, 23.7, 0.20, 5, 0.0),
    (500, 31.3, 0.50, 20, 0.02),
    (700, 47.9, 0.25, 10, 0.05),
    (1000, 83.1, 0.30, 10, 0.0),
    (1500, 61.7, 0.15, 30, 0.1),
    (2000, 133.3, 0.30, 10, 0.01),
    (400, 40.0, 0.50, 0, 0.0),
]


def bursts(samples, period, duty, noise, jitter, seed):
    rng = np.random.default_rng(seed)
    x = np.zeros(samples)
    t = rng.uniform(0, period)
    while t < samples:
        x[int(t) : int(min(samples, t + duty * period))] += 200 * rng.uniform(0.8, 1.2)
        t += period * (1 + jitter * rng.normal())
    return np.round(np.abs(x + noise * rng.normal(size=samples)), 2)


def model(t, *p):
    p = np.asarray(p)
    return p[0] + (p[1::3, None] * np.cos(2 * np.pi * p[2::3, None] * t + p[3::3, None])).sum(0)


def start(x):
    """The mean and the strongest bins of the DFT: amplitude, frequency, phase."""
    n = len(x)
    spectrum = np.fft.rfft(x) / n
    amplitude = 2 * abs(spectrum)
    amplitude[0] = 0
    if n % 2 == 0:
        amplitude[-1] /= 2
    p = [spectrum[0].real]
    for k in np.argsort(-amplitude)[:COMPONENTS]:
        p += [amplitude[k], k / n, np.angle(spectrum[k])]
    return p


def main():
    cases = []
    print("samples   dft mse   scipy mse   seconds")
    for seed, plan in enumerate(PLAN):
        x = bursts(*plan, seed)
        t = np.arange(len(x), dtype=float)
        p0 = start(x)
        seconds, note = np.inf, ""
        for _ in range(3):
            before = time.perf_counter()
            try:
                p, _ = curve_fit(model, t, x, p0=p0, method="dogbox")
            except RuntimeError:
                note = "no convergence"
            seconds = min(seconds, time.perf_counter() - before)
            if seconds > 2:
                break
        if note:
            # What it had reached when it gave up.
            p = least_squares(lambda q: model(t, *q) - x, p0, method="dogbox", max_nfev=100 * len(p0)).x
        dft = np.mean((x - model(t, *p0)) ** 2)
        reached = np.mean((x - model(t, *p)) ** 2)
        print(f"{len(x):7} {dft:9.3f} {reached:11.3f} {seconds:9.4f} {note}", flush=True)
        cases.append({"signal": x.tolist(), "dft": dft, "curve_fit": reached})
    with open("tests/data/transform/fourier_fit.json", "w") as out:
        data = {"source": f"SciPy {scipy.__version__}, curve_fit, dogbox", "components": COMPONENTS, "cases": cases}
        json.dump(data, out, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
