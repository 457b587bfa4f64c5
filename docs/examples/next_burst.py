#!/usr/bin/env python3
"""Follows `iophase predict` and prints when the next burst of I/O of a job is due.

    next_burst.py SOURCE [OPTION...]      SOURCE and options as `iophase predict` takes them

Prints one line per prediction: time of the trace, set of IO-Sets, next burst. A scheduler replaces the print by its own action.
Needs Python 3 only; IOPHASE names the program if it is not on the PATH.
"""

import json
import math
import os
import subprocess
import sys


def follow(arguments):
    """Yields the predictions as they come; a line that is not JSON is an error."""
    program = os.environ.get("IOPHASE", "iophase")
    with subprocess.Popen([program, "predict", *arguments], stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            yield json.loads(line)
    if child.returncode != 0:
        sys.exit(child.returncode)


def messages(p):
    if p["change_point"]:
        since = p.get("change_s")
        yield "behaviour changed" + ("" if since is None else f" at {since:.2f} s") + ": plans made before are void"
    time_s = p["characteristic_time_s"]
    io_set = "" if time_s is None else f"set {round(math.log10(time_s))}, "
    if not p["periodic"]:
        yield io_set + "no period holds now"
        return
    wait = p["next_start_s"] - p["now_s"]
    text = f"{io_set}next burst at {p['next_start_s']:.2f} s (in {wait:.2f} s)"
    if p["bytes"] is not None:
        text += f", {p['bytes'] / 1e6:.1f} MB"
    yield text + f", {100 * p['confidence']:.0f} % sure"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for prediction in follow(sys.argv[1:]):
        for text in messages(prediction):
            print(f"{prediction['now_s']:10.2f} s  {text}", flush=True)


if __name__ == "__main__":
    main()
