#!/usr/bin/env python3
"""Draw how often answers are right against their confidence (docs/pictures/reliability.svg).

    reliability_svg.py OUT.svg RESULTS.json SUITE_DIR [RESULTS.json SUITE_DIR ...]

RESULTS come from `cargo run --release --features internals --example detect_suite -- SUITE_DIR RESULTS.json` on suites of traces with known truth, never
trained on. Right: within 5 % of a true period of the case. Bars are intervals of 95 % (Wilson). Python 3 alone.
"""
import json
import math
import os
import sys

EDGES = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0 + 1e-9]
SIZE, LEFT, TOP = 300, 56, 16


def answers(results, suite):
    with open(results) as f:
        found = json.load(f)
    with open(os.path.join(suite, "suite.json")) as f:
        cases = json.load(f)["cases"]
    for name, answer in found.items():
        period = answer["period_s"]
        if period is not None:
            right = any(abs(period / t - 1) <= 0.05 for t in cases[name]["periods"]) and cases[name]["periodic"]
            yield answer["confidence"], right


def wilson(k, n, z=1.96):
    p, d = k / n, 1 + z * z / n
    middle, half = (p + z * z / (2 * n)) / d, z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d
    return middle - half, middle + half


def main():
    out, rest = sys.argv[1], sys.argv[2:]
    points = [a for r, s in zip(rest[::2], rest[1::2]) for a in answers(r, s)]
    x = lambda v: LEFT + SIZE * v
    y = lambda v: TOP + SIZE * (1 - v)
    width, height = LEFT + SIZE + 16, TOP + SIZE + 46
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12" fill="#333">',
        f"<title>Share of {len(points)} answers that are right, by their confidence</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for v in (0, 0.2, 0.4, 0.6, 0.8, 1):
        svg.append(f'<path d="M{x(v):.1f} {y(0)}V{y(1)}M{x(0)} {y(v):.1f}H{x(1)}" stroke="#ddd"/>')
        svg.append(f'<text x="{x(v):.1f}" y="{y(0) + 16}" text-anchor="middle">{v:g}</text>')
        svg.append(f'<text x="{x(0) - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{v:g}</text>')
    svg.append(f'<path d="M{x(0)} {y(0)}L{x(1)} {y(1)}" stroke="#888" stroke-dasharray="4 3"/>')
    for low, high in zip(EDGES, EDGES[1:]):
        part = [(c, r) for c, r in points if low <= c < high]
        if not part:
            continue
        n, right = len(part), sum(r for _, r in part)
        c = sum(c for c, _ in part) / n
        a, b = wilson(right, n)
        svg.append(f'<path d="M{x(c):.1f} {y(a):.1f}V{y(b):.1f}" stroke="#2166ac" stroke-width="1.5"/>')
        svg.append(f'<circle cx="{x(c):.1f}" cy="{y(right / n):.1f}" r="4" fill="#2166ac"><title>{n} answers</title></circle>')
        print(f"{c:.3f} right {right / n:.3f} of {n}")
    svg.append(f'<text x="{x(0.5)}" y="{y(0) + 36}" text-anchor="middle">confidence</text>')
    svg.append(f'<text transform="translate(14 {y(0.5)}) rotate(-90)" text-anchor="middle">share that is right</text>')
    with open(out, "w") as f:
        f.write("\n".join(svg) + "\n</svg>\n")


if __name__ == "__main__":
    main()
