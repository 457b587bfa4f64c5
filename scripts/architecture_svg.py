#!/usr/bin/env python3
"""Writes docs/pictures/architecture.svg: the rooms of the code by floor, and the way of one trace through them.

    python3 scripts/architecture_svg.py

The names of the formats are those of the registry in src/formats/probe.rs.
"""

import re
from html import escape

TARGET = "docs/pictures/architecture.svg"
WIDTH, TOP, FLOOR, GAP = 1200, 64, 84, 16
LEFT, COLUMN = 236, 190
INK, FAINT, LINE, WAY = "#282828", "#5a6470", "#b8c2cc", "#d55e00"

# Room: floor from below, first column, columns, name, what it does in one or two lines, station on the way (0 = none).
ROOMS = [
    (1, 0, 2, "record", ["rows in columns, batches, Trace"], 2),
    (1, 2, 1, "nest", ["loop nests of", "accesses"], 0),
    (1, 3, 2, "transform", ["DFT, wavelets, filters, fits"], 0),
    (2, 0, 1, "formats", ["bytes on disk to rows,", "and rows to bytes"], 1),
    (2, 1, 1, "workload", ["synthetic traces", "with known truth"], 0),
    (3, 0, 1, "signal", ["bandwidth over time"], 3),
    (4, 0, 1, "period", ["periods, confidence,", "validity, next burst"], 4),
    (4, 1, 1, "pattern", ["loop nests that", "describe the accesses"], 4),
    (2, 2, 2, "facts", ["calls, bytes and times by file,", "rank and layer; time in I/O"], 0),
    (5, 2, 1, "dfg", ["directly-follows", "graphs"], 0),
    (5, 3, 1, "classify", ["access classes,", "advice"], 0),
    (5, 4, 1, "online", ["running jobs:", "predictions"], 0),
    (6, 0, 4, "analysis", ["the pipeline: one Options, one Report"], 5),
    (7, 1, 4, "findings", ["what is wrong, what it costs, what to do"], 0),
    (8, 1, 4, "compare", ["two sets of runs: verdict, reasons, statistics"], 0),
    (9, 0, 5, "render", ["text, JSON, SVG, DOT, HTML page, terminal view"], 6),
    (10, 0, 4, "answers", ["all answers on a trace, each made once"], 0),
    (11, 0, 2, "cli  (the program)", ["arguments to calls, exit codes"], 0),
    (11, 2, 3, "serve  (feature)", ["HTTP interface and live page"], 0),
]
FLOORS = 11
HEIGHT = TOP + FLOORS * FLOOR + 90


def top(floor):
    return TOP + (FLOORS - floor) * FLOOR


def box(floor, column, columns):
    """x, y, width, height."""
    return LEFT + column * COLUMN, top(floor) + GAP / 2, columns * COLUMN - 20, FLOOR - GAP


def text(x, y, words, size=17, fill=INK, anchor="start", weight="normal"):
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{escape(words)}</text>'
    )


def arrow(points, color, dash=""):
    line = " ".join(f"{x:g},{y:g}" for x, y in points)
    style = f' stroke-dasharray="{dash}"' if dash else ""
    head = "way" if color == WAY else "side"
    return f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="3" marker-end="url(#{head})"{style}/>'


def marker(name, color):
    return (
        f'<marker id="{name}" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="5" markerHeight="5" orient="auto">'
        f'<path d="M0,0 L10,5 L0,10 z" fill="{color}"/></marker>'
    )


def room(floor, column, columns, name, lines, station):
    x, y, w, h = box(floor, column, columns)
    out = [f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="6" fill="#ffffff" stroke="{LINE}" stroke-width="2"/>']
    first = y + h / 2 + (6 if not lines else 6 - 10 * len(lines))
    out.append(text(x + 12, first, name, 19, weight="bold"))
    out += [text(x + 12, first + 20 * (i + 1), line, 15, FAINT) for i, line in enumerate(lines)]
    if station:
        out.append(f'<circle cx="{x + w - 15:g}" cy="{y + 15:g}" r="11" fill="{WAY}"/>')
        out.append(text(x + w - 15, y + 20, str(station), 15, "#ffffff", "middle", "bold"))
    return out


def side(column, floor, upper):
    """A dashed arrow from the line of rows on floor 3 up to a room, and one from there to the analysis."""
    x = LEFT + column * COLUMN + (COLUMN - 20) / 2
    _, y, _, h = box(floor, column, 1)
    rows = top(3) + FLOOR / 2
    return [arrow([(x, rows), (x, y + h + 2)], "#8795a3", "7 5"), arrow([(x, y), (x, upper + 2)], "#8795a3", "7 5")]


def way():
    out, x = [], LEFT + (COLUMN - 20) / 2
    for lower, higher in [(2, 3), (3, 4), (4, 6), (6, 9)]:
        y_from = box(lower, 0, 1)[1]
        _, y, _, h = box(higher, 0, 1)
        out.append(arrow([(x, y_from), (x, y + h + 2)], WAY))
    below = box(6, 0, 5)[1] + box(6, 0, 5)[3]
    rows = top(3) + FLOOR / 2
    start = LEFT + COLUMN - 20 + 10
    last = LEFT + 4 * COLUMN + (COLUMN - 20) / 2
    out.append(f'<polyline points="{start - 40:g},{box(2, 0, 1)[1]:g} {start - 40:g},{top(3) + FLOOR - 2:g} {start:g},{top(3) + FLOOR - 2:g} '
               f'{start:g},{rows:g} {last:g},{rows:g}" fill="none" stroke="#8795a3" stroke-width="3" stroke-dasharray="7 5"/>')
    out.append(text(LEFT + 2 * COLUMN + 4, rows + 22, "rows", 16, FAINT))
    for column, floor in [(1, 4), (2, 5), (3, 5)]:
        out += side(column, floor, below)
    x = LEFT + 4 * COLUMN + (COLUMN - 20) / 2
    _, y, _, h = box(5, 4, 1)
    out.append(arrow([(x, rows), (x, y + h + 2)], "#8795a3", "7 5"))
    _, y, _, h = box(2, 0, 1)
    out.append(arrow([(176, y + h / 2), (LEFT - 4, y + h / 2)], WAY))
    out.append(f'<path d="M70,{y + 2:g} h70 l26,26 v{h - 30:g} h-96 z" fill="#fff4ec" stroke="{WAY}" stroke-width="2"/>')
    out.append(text(118, y + h / 2 + 6, "trace", 17, anchor="middle"))
    _, y, _, h = box(9, 0, 5)
    out.append(arrow([(LEFT, y + h / 2), (184, y + h / 2)], WAY))
    out += [text(112, y + h / 2 - 6, "text, JSON,", 17, anchor="middle"), text(112, y + h / 2 + 16, "pictures", 17, anchor="middle")]
    return out


def formats():
    """The names of the formats, in the order in which they are probed."""
    with open("src/formats/probe.rs", encoding="utf-8") as file:
        registry = re.search(r"pub const ALL:.*?= &\[(.*?)\];", file.read(), re.S)
    names = []
    for folder in re.findall(r"&(\w+)::", registry.group(1)):
        with open(f"src/formats/{folder}/mod.rs", encoding="utf-8") as file:
            names.append(re.search(r'fn name\(&self\).*?"([\w-]+)"', file.read(), re.S).group(1))
    return names


def main():
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif">',
        f"<defs>{marker('way', WAY)}{marker('side', '#8795a3')}</defs>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        text(24, 38, "The rooms of iophase, and the way of one trace", 24, weight="bold"),
    ]
    for floor in range(1, FLOORS + 1):
        shade = "#f3f5f7" if floor % 2 else "#e9edf0"
        out.append(f'<rect x="16" y="{top(floor):g}" width="{WIDTH - 32}" height="{FLOOR}" fill="{shade}"/>')
        out.append(text(28, top(floor) + FLOOR / 2 + 6, str(floor), 17, FAINT))
    for r in ROOMS:
        out += room(*r)
    out += way()
    out.append(text(24, HEIGHT - 22, f"Formats that are read: {', '.join(formats())}.", 17, FAINT))
    out.append(text(24, HEIGHT - 50, "A room uses rooms on lower floors only. Orange: iophase analyze. Dashed: rows for patterns, classes, graphs and predictions.", 17, FAINT))
    out.append("</svg>")
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
