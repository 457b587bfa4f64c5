#!/usr/bin/env python3
"""Kill a predictor again and again and compare what it says with what one says that is left alone.

    predict_kill.py IOPHASE [--kills 100] [--seed 1] [TRACE]

Without TRACE a CSV of bursts with two periods is made. The predictor is ended with SIGKILL after a random number of
lines and a random pause, and started again with the same state. Every line must be the one that the undisturbed
predictor printed with the same sequence number, but for the time at which it was printed; none may be missing, and the last must be
the same. Python 3 alone.
"""
import argparse
import json
import os
import random
import subprocess
import tempfile
import time


def make(path):
    with open(path, "w") as f:
        f.write("rank,op,size,start,end\n")
        t = 3.0
        for i in range(300):
            for k in range(40):
                f.write(f"{k % 8},write,1000000,{t + 0.01 * k:.6f},{t + 0.01 * k + 0.009:.6f}\n")
            t += 5.0 if i < 150 else 8.0


def answer(line):
    """The content of a line, without the time at which it was printed."""
    return {**json.loads(line), "emitted_unix_s": None}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("iophase")
    a.add_argument("trace", nargs="?")
    a.add_argument("--kills", type=int, default=100)
    a.add_argument("--seed", type=int, default=1)
    a = a.parse_args()
    draw = random.Random(a.seed)
    with tempfile.TemporaryDirectory() as folder:
        trace = a.trace or os.path.join(folder, "trace.csv")
        if not a.trace:
            make(trace)
        command = [a.iophase, "predict", trace, "--once", "--every", "message", "--queue", "2"]
        begun = time.time()
        whole = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        took = time.time() - begun
        print(f"undisturbed: {len(whole)} predictions in {took:.1f} s")
        command += ["--state", os.path.join(folder, "state.json")]
        said, repeated, done = [], 0, 0
        for kill in range(a.kills + 1):
            child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            lines = []
            if kill < a.kills:
                for _ in range(draw.randrange(0, 2 + 2 * len(whole) // a.kills)):
                    line = child.stdout.readline()
                    if not line:
                        break
                    lines.append(line)
                time.sleep(draw.random() * 0.05)
                child.kill()
            lines += child.stdout.readlines()
            child.wait()
            done += kill < a.kills
            for line in lines:
                if not line.endswith("\n"):
                    continue  # cut by the end of the process
                said_now = answer(line)
                n = said_now["sequence"]
                assert n <= len(said), f"predictions {len(said)} to {n - 1} are missing after kill {kill}"
                assert said_now == answer(whole[n]), f"prediction {n} differs after kill {kill}:\n{line}\n{whole[n]}"
                repeated += n < len(said)
                if n == len(said):
                    said.append(line)
        assert len(said) == len(whole), f"{len(said)} of {len(whole)} predictions"
        print(f"{done} kills: all {len(said)} predictions are the same, {repeated} were printed again")


if __name__ == "__main__":
    main()
