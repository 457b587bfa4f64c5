#!/usr/bin/env python3
"""Writes a large strace log with known totals, for timing: make_strace.py OUT [--calls N] [--processes P] [--ttt].

Each process writes checkpoints: opens a file, writes blocks with pwrite64 (or write), some seeks and reads, closes it.
Every 16th call is cut in two by a line of another process, as `strace -f` does.
"""

import argparse


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("out")
    p.add_argument("--calls", type=int, default=3_000_000)
    p.add_argument("--processes", type=int, default=4)
    p.add_argument("--ttt", action="store_true")
    a = p.parse_args()
    pids = [20_000 + i for i in range(a.processes)]
    data = '"' + "a" * 32 + '"...'
    binary = '"' + r"\1\0\0\0\377A\"\\" * 4 + '"...'
    position = [0] * a.processes
    blocks = [0] * a.processes
    is_open = [False] * a.processes
    pending = None
    clock = 1_795_000_000_000_000 if a.ttt else 3_600_000_000

    def stamp():
        nonlocal clock
        clock += 7
        s, us = divmod(clock, 1_000_000)
        if a.ttt:
            return f"{s}.{us:06}"
        return f"{s // 3600 % 24:02}:{s // 60 % 60:02}:{s % 60:02}.{us:06}"

    with open(a.out, "w", buffering=1 << 20) as f:
        done = 0
        while done < a.calls:
            i = done % a.processes
            pid, n = pids[i], blocks[i]
            path = f"/scratch/project/run.0042/output/checkpoint.{n // 512:05}.rank{i:04}.dat"
            if not is_open[i]:
                call = f'openat(AT_FDCWD</scratch/project>, "{path}", O_RDWR|O_CREAT|O_TRUNC, 0644) = 7<{path}>'
                is_open[i], position[i] = True, 0
            elif n % 512 == 511:
                call = f"close(7<{path}>)      = 0"
                is_open[i] = False
                blocks[i] += 1
            elif n % 64 == 63:
                call = f"lseek(7<{path}>, {position[i]}, SEEK_SET) = {position[i]}"
                blocks[i] += 1
            elif n % 4 == 3:
                call = f"read(7<{path}>, {binary}, 4096) = 4096"
                position[i] += 4096
                blocks[i] += 1
            elif n % 2:
                call = f"write(7<{path}>, {data}, 65536) = 65536"
                position[i] += 65536
                blocks[i] += 1
            else:
                call = f"pwrite64(7<{path}>, {data}, 65536, {n % 512 * 65536}) = 65536"
                blocks[i] += 1
            done += 1
            if pending is None and done % 16 == 0 and a.processes > 1 and ", " in call:
                head, rest = call.split(", ", 1)
                name = call.split("(", 1)[0]
                f.write(f"{pid} {stamp()} {head},  <unfinished ...>\n")
                pending = (pid, name, rest)
                continue
            f.write(f"{pid} {stamp()} {call} <0.000023>\n")
            if pending is not None:
                f.write(f"{pending[0]} {stamp()} <... {pending[1]} resumed>{pending[2]} <0.000031>\n")
                pending = None


if __name__ == "__main__":
    main()
