"""Compares our Fourier fit with SciPy's curve_fit (dogbox, same start, 10 components) on the signals of real traces.

    cargo run --release --features internals --example fit_traces -- 4000 TRACE... > signals.jsonl
    python3 scripts/fit_compare.py signals.jsonl

Prints the mean square errors and processor times of each signal and, last, how often ours is at or below, how often it
takes at most a tenth of the time, and the least ratio of the times. Signals are scaled to a largest value of one before SciPy sees them, so that its tolerances mean the same for all.
"""

import json
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # else the processor time is that of idle threads, too

import numpy as np
from scipy.optimize import curve_fit

from fit_oracle import COMPONENTS, model, start_of


def main():
    rows = []
    for line in open(sys.argv[1]):
        case = json.loads(line)
        x = np.array(case["samples"])
        scale = np.abs(x).max()
        if len(x) <= 3 * COMPONENTS + 1 or scale == 0:
            continue
        y = x / scale
        t = np.arange(len(y), dtype=float)
        start = start_of(y)
        begun = time.process_time()
        try:
            fitted, _ = curve_fit(model, t, y, p0=start, method="dogbox")
        except RuntimeError:
            fitted = start
        seconds = time.process_time() - begun
        theirs = min(float(np.mean((y - model(t, *p)) ** 2)) for p in (start, fitted))
        ours = case["mse_fit"] / scale**2
        good = ours <= theirs * (1 + 1e-9) + 1e-15
        rows.append((good, seconds / max(case["seconds"], 1e-9)))
        mark = "" if good else "  WORSE"
        print(
            f"{case['path'][-50:]:50s} {case['mode']:5s} N {len(y):5d} start {case['mse_dft'] / scale**2:.4e} ours {ours:.6e} "
            f"dogbox {theirs:.6e}  {case['seconds'] * 1e3:7.2f} ms against {seconds * 1e3:9.1f} ms{mark}",
            flush=True,
        )
    ratios = [r for _, r in rows]
    print(
        f"{len(rows)} signals: ours at or below on {sum(g for g, _ in rows)}; "
        f"in at most a tenth of the time on {sum(r >= 10 for r in ratios)}; times faster: least {min(ratios):.1f}, median {np.median(ratios):.1f}"
    )


if __name__ == "__main__":
    main()
