#!/usr/bin/env python3
"""Writes the filtered signals and responses that the Butterworth tests compare with.

Usage: filter_oracle.py  (from the root of the crate; needs numpy and SciPy)
Writes tests/data/transform/butterworth.json.
"""

import json

import numpy as np
import scipy
from scipy import signal


def main():
    rng = np.random.default_rng(7)
    t = np.arange(90)
    x = np.round(5.0 * (t % 11 < 3) + 0.02 * t + rng.normal(0, 0.5, t.size), 3)
    rate = 10.0
    cases = []
    for order in range(1, 11):
        for kind, cutoff in (("lowpass", [0.7]), ("highpass", [1.3]), ("bandpass", [0.6, 2.1]), ("lowpass", [4.2])):
            sos = signal.butter(order, cutoff if len(cutoff) > 1 else cutoff[0], kind, fs=rate, output="sos")
            frequencies = [0.05, 0.6, 1.0, 2.5, 4.9]
            _, response = signal.sosfreqz(sos, worN=frequencies, fs=rate)
            cases.append(
                {
                    "kind": kind,
                    "order": order,
                    "cutoff_hz": cutoff,
                    "frequencies_hz": frequencies,
                    "response": [[v.real, v.imag] for v in response],
                    "filtered": signal.sosfilt(sos, x).tolist(),
                    "zero_phase": signal.sosfiltfilt(sos, x).tolist(),
                }
            )
    with open("tests/data/transform/butterworth.json", "w") as out:
        data = {"source": f"SciPy {scipy.__version__}", "rate_hz": rate, "signal": x.tolist(), "cases": cases}
        json.dump(data, out, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
