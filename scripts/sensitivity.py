#!/usr/bin/env python3
"""Measure how many answers change if a threshold is halved or doubled, and write that into the tables.

    sensitivity.py [--table NAME] [--online-every N] [--binary BINARY] FOLDER...   (folders of traces)
    sensitivity.py --counts COUNTS.json                                           (figures measured before)

Builds the example `sensitivity`, one binary for all values, unless BINARY is given, and runs it. In each table
(`thresholds! { ... }` in a file `thresholds.rs`) the last line of the comment above a row becomes "Half: A, double: B.", and
the words "Measured on ..." of the file is updated. Rows without an effect are listed. Python 3, standard library only.
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = {"formats": "src/formats/thresholds.rs", "period::chains": "src/period/chains/thresholds.rs", "online": "src/online/thresholds.rs",
         "pattern": "src/pattern/thresholds.rs", "classify": "src/classify/thresholds.rs"}
BUILD = ["cargo", "build", "--release", "--features", "sensitivity", "--example", "sensitivity"]
FIGURES = re.compile(r"^ *///? Half: \d+, double: \d+\.\n", re.M)


def measured(arguments):
    """The figures of a run of the example: table -> {"traces": n, "rows": {name: [half, double]}}."""
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    binary = os.path.join(target, "release/examples/sensitivity")
    if "--binary" in arguments:
        at = arguments.index("--binary")
        binary = arguments[at + 1]
        arguments = arguments[:at] + arguments[at + 2 :]
    else:
        subprocess.run(BUILD, cwd=ROOT, check=True)
    return json.loads(subprocess.run([binary, *arguments], check=True, stdout=subprocess.PIPE).stdout)


def write(table, result):
    """Puts the figures of one table into its file."""
    path = os.path.join(ROOT, FILES[table])
    with open(path) as file:
        text = FIGURES.sub("", file.read())
    for name, (half, double) in result["rows"].items():
        row = re.compile(rf"^    {name}: ", re.M)
        text, rows = row.subn(f"    /// Half: {half}, double: {double}.\n    {name}: ", text)
        if rows != 1:
            sys.exit(f"{path}: {rows} rows `{name}`")
        if half == double == 0:
            print(f"{table}: {name} changes nothing")
    text = re.sub(r"Measured on [^`;]*? by `scripts/sensitivity.py`(; rows without figures are not measured yet)?", f"Measured on {result['traces']} traces by `scripts/sensitivity.py`", text)
    with open(path, "w") as file:
        file.write(text)


def main():
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(__doc__)
    if arguments[0] == "--counts":
        with open(arguments[1]) as file:
            results = json.load(file)
    else:
        results = measured(arguments)
    for table, result in results.items():
        write(table, result)


main()
