"""Makes tests/data/transform/fourier_fit.json: burst trains, and what SciPy's curve_fit makes of them.

SciPy starts from the strongest components of the DFT, with amplitude, frequency and phase of each and the mean as
parameters, no bounds, method "dogbox", all else by default. Written are the signal, the mean square error of the start
and of the fit; printed, also the processor time of the fit. Needs numpy and scipy (figures stored: numpy 2.4.6, scipy 1.17.1).
"""

import json
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.optimize import curve_fit

COMPONENTS = 10
TARGET = "tests/data/transform/fourier_fit.json"


def burst_train(rng, samples, period, duty, jitter, noise):
    """Bursts of random height around 1, `duty` of a period long, moved by `jitter` of a period, over noise."""
    x = np.zeros(samples)
    start = rng.uniform(0, period)
    while start < samples:
        first = max(0, int(round(start + rng.normal(0, jitter * period))))
        x[first : first + max(1, int(round(duty * period)))] += rng.uniform(0.8, 1.2)
        start += period
    return np.round(np.abs(x + rng.normal(0, noise, samples)), 4)


def start_of(x):
    """Mean and strongest components of the DFT: amplitudes, frequencies (per sample) and phases."""
    n = len(x)
    spectrum = np.fft.rfft(x)
    weight = np.full(len(spectrum), 2.0)
    if n % 2 == 0:
        weight[-1] = 1.0
    energy = weight * np.abs(spectrum) ** 2
    energy[0] = -1
    bins = np.argsort(-energy, kind="stable")[:COMPONENTS]
    cosines = np.stack([weight[bins] * np.abs(spectrum[bins]) / n, bins / n, np.angle(spectrum[bins])], axis=1)
    return np.concatenate([[spectrum[0].real / n], cosines.ravel()])


def model(t, mean, *cosines):
    total = np.full(len(t), mean)
    for a, f, phi in zip(cosines[0::3], cosines[1::3], cosines[2::3]):
        total += a * np.cos(2 * np.pi * f * t + phi)
    return total


def main():
    rng = np.random.default_rng(20261121)
    cases = []
    shapes = [
        # samples, period in samples, duty, jitter, noise
        (200, 18.3, 0.3, 0.0, 0.05),
        (200, 31.7, 0.5, 0.05, 0.1),
        (373, 24.6, 0.2, 0.02, 0.05),
        (500, 41.9, 0.4, 0.1, 0.2),
        (800, 97.3, 0.15, 0.0, 0.02),
        (1000, 61.2, 0.25, 0.03, 0.1),
        (1501, 250.4, 0.5, 0.05, 0.3),
        (2000, 133.7, 0.1, 0.02, 0.05),
        (2000, 18.9, 0.4, 0.2, 0.5),
        (2000, 400.6, 0.3, 0.0, 0.0),
    ]
    for shape in shapes:
        x = burst_train(rng, *shape)
        t = np.arange(len(x), dtype=float)
        start = start_of(x)
        begun = time.process_time()
        try:
            fitted, _ = curve_fit(model, t, x, p0=start, method="dogbox")
        except RuntimeError:
            fitted = start
        seconds = time.process_time() - begun
        errors = [float(np.mean((x - model(t, *p)) ** 2)) for p in (start, fitted)]
        print(f"N {len(x):5d}  start {errors[0]:.6e}  dogbox {errors[1]:.6e}  {seconds * 1e3:9.1f} ms")
        cases.append({"signal": x.tolist(), "dft_mse": errors[0], "dogbox_mse": errors[1]})
    with open(TARGET, "w") as file:
        json.dump({"components": COMPONENTS, "cases": cases}, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
