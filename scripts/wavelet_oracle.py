#!/usr/bin/env python3
"""Writes the wavelet filters and the expected coefficients that the tests compare with.

Usage: wavelet_oracle.py  (from the root of the crate; needs numpy and PyWavelets)
Writes src/transform/wavelet/coefficients.rs and tests/data/transform/wavelet.json.
"""

import json
from fractions import Fraction

import numpy as np
import pywt

NAMES = (
    ["haar"]
    + [f"db{i}" for i in range(2, 11)]
    + [f"sym{i}" for i in range(2, 11)]
    + [f"coif{i}" for i in range(1, 6)]
)


def polished(taps):
    """Newton's method on the defining equations of a filter with L/2 vanishing moments, residuals in exact arithmetic.

    PyWavelets' symlets are rounded to about 12 digits; reconstruction would be no better than that."""
    length = len(taps)
    half = length // 2
    taps = [Fraction(t) for t in taps]
    # Powers of a centred and scaled index keep the Jacobian tame.
    place = [Fraction(2 * k - length + 1, length) for k in range(length)]
    for _ in range(30):
        residual, jacobian = [], []
        for shift in range(0, length, 2):
            residual.append(sum(taps[k] * taps[k + shift] for k in range(length - shift)) - (shift == 0))
            row = [Fraction(0)] * length
            for k in range(length - shift):
                row[k] += taps[k + shift]
                row[k + shift] += taps[k]
            jacobian.append(row)
        for moment in range(half):
            row = [(-1) ** k * place[k] ** moment for k in range(length)]
            residual.append(sum(r * t for r, t in zip(row, taps)))
            jacobian.append(row)
        step = np.linalg.lstsq(np.array(jacobian, float), np.array(residual, float), rcond=None)[0]
        taps = [t - Fraction(s) for t, s in zip(taps, step)]
        # Keep the fractions short: 2^-120 is far below a double's digits.
        taps = [Fraction(round(t * 2**120), 2**120) for t in taps]
        if max(abs(float(r)) for r in residual) < 1e-25:
            break
    return [float(t) for t in taps]


def scaling(name):
    taps = list(pywt.Wavelet(name).rec_lo)
    if name.startswith("sym"):
        better = polished(taps)
        assert max(abs(a - b) for a, b in zip(better, taps)) < 1e-9
        return better
    return taps


def write_filters():
    with open("src/transform/wavelet/coefficients.rs", "w") as out:
        out.write(
            "//! Scaling filters, as written by `scripts/wavelet_oracle.py`.\n//!\n"
            "//! The numbers are those of PyWavelets (`Wavelet.rec_lo`), after Daubechies, *Ten Lectures on Wavelets* (1992); the\n"
            "//! symlets, which it gives to 12 digits, are refined to full precision by Newton's method on the equations that define\n"
            "//! them (orthonormal even shifts, L/2 vanishing moments).\n\n"
            "use std::f64::consts::FRAC_1_SQRT_2;\n\n"
            "/// Scaling filter of the Haar wavelet.\n"
            "pub(super) const HAAR: &[f64] = &[FRAC_1_SQRT_2; 2];\n\n"
            "/// Name and scaling filter h of every wavelet: Σ h = √2, Σ h² = 1.\n"
            "#[rustfmt::skip]\n"
            "pub(super) const FILTERS: &[(&str, &[f64])] = &[\n"
            '    ("haar", HAAR),\n'
        )
        for name in NAMES[1:]:
            taps = [repr(t) for t in scaling(name)]
            out.write(f'    ("{name}", &[\n')
            for i in range(0, len(taps), 4):
                out.write("        " + ", ".join(taps[i : i + 4]) + ",\n")
            out.write("    ]),\n")
        out.write("];\n")


def signal(n, seed):
    """Bursts on a slope, with noise; rounded so that the file stays small and exact."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    x = 3.0 * (t % 7 < 2) + 0.01 * t + rng.normal(0, 0.3, n)
    return [float(v) for v in np.round(x, 3)]


def main():
    write_filters()
    cases = []
    plan = [(n, "haar", mode, None) for n in (2, 3, 16, 37) for mode in ("symmetric", "periodic", "zero")]
    plan += [(n, name, mode, None) for name in ("db2", "db4", "sym5", "coif1") for n in (31, 64) for mode in ("symmetric", "periodic", "zero")]
    plan += [(n, name, "symmetric", 1) for name in ("db10", "sym10", "coif5", "db7") for n in (5, 50)]
    for seed, (n, name, mode, level) in enumerate(plan):
        x = signal(n, seed)
        if level is None:
            level = max(pywt.dwt_max_level(n, pywt.Wavelet(name)), 1)
        parts = pywt.wavedec(x, name, mode=mode, level=level)
        full = []
        for j in range(len(parts)):
            only = [p if i == j else np.zeros_like(p) for i, p in enumerate(parts)]
            full.append(pywt.waverec(only, name, mode=mode)[:n])
        cases.append(
            {
                "wavelet": name,
                "boundary": mode,
                "level": level,
                "max_level": pywt.dwt_max_level(n, pywt.Wavelet(name)),
                "signal": x,
                "coefficients": [p.tolist() for p in parts],
                "components": [f.tolist() for f in full],
            }
        )
    with open("tests/data/transform/wavelet.json", "w") as out:
        json.dump({"source": f"PyWavelets {pywt.__version__}", "cases": cases}, out, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
