#!/usr/bin/env python3
"""Feed a predictor requests without end and watch its memory.

    predict_soak.py IOPHASE [--requests 1e8] [--seconds 600]

Writes CSV records into its standard input until the number or the time is reached, and prints the resident memory as
it goes. Fails if the memory of the last tenth is more than 10 % above that of the second. Python 3 alone; Linux.
"""
import argparse
import subprocess
import sys
import time


def resident(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(l.split()[1]) for l in f if l.startswith("VmRSS")) / 1024


def main():
    a = argparse.ArgumentParser()
    a.add_argument("iophase")
    a.add_argument("--requests", type=float, default=1e8)
    a.add_argument("--seconds", type=float, default=600)
    a = a.parse_args()
    child = subprocess.Popen([a.iophase, "predict", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    child.stdin.write(b"rank,op,size,start,end\n")
    per_burst, memory, written, begun, burst = 5000, [], 0, time.time(), 0
    shape = [(k % 64, 1e-3 * k, 1e-3 * k + 9e-4) for k in range(per_burst)]
    while written < a.requests and time.time() - begun < a.seconds:
        t = 30.0 * burst
        child.stdin.write("".join(f"{r},write,1048576,{t + s:.4f},{t + e:.4f}\n" for r, s, e in shape).encode())
        written += per_burst
        burst += 1
        if burst % 200 == 0:
            memory.append(resident(child.pid))
            if burst % 2000 == 0:
                print(f"{written:.3g} requests, {time.time() - begun:.0f} s, {memory[-1]:.1f} MiB", flush=True)
    memory.append(resident(child.pid))
    child.stdin.close()
    child.wait()
    tenth = max(1, len(memory) // 10)
    early, late = max(memory[tenth : 2 * tenth] or memory), max(memory[-tenth:])
    print(f"{written:.4g} requests in {time.time() - begun:.0f} s; {early:.1f} MiB in the second tenth, {late:.1f} MiB in the last")
    sys.exit(late > 1.1 * early)


if __name__ == "__main__":
    main()
