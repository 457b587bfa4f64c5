#!/usr/bin/env python3
"""Write one large periodic trace in any of the text formats, for timing.

    make_text_trace.py --requests 1000000 --out big.csv     [--ranks 256] [--period 20] [--duration 1000] [--origin 0]

The end of --out chooses the format: .csv, .jsonl (records), .tmio.json, .tmio.jsonl, .radar.txt. Every request moves 1 MiB; all
lie in bursts of 30 % of the period; one in five is a read, but in TMIO all are writes. Nothing beyond Python 3 is needed; the
same arguments give the same bytes.
"""
import argparse
import random
import sys

SIZE = 1 << 20


def requests(a):
    """Rank, operation, offset, start, end; ordered by start."""
    rng = random.Random(a.seed)
    bursts = max(int(a.duration / a.period), 1)
    for i in range(a.requests):
        burst, within = divmod(i * bursts, a.requests)
        start = burst * a.period + 0.3 * a.period * within / a.requests
        end = start + 1e-3 * (1 + rng.random())
        yield i % a.ranks, "read" if i % 5 == 0 else "write", i // a.ranks * SIZE, a.origin + start, a.origin + end


def write_csv(a, f):
    f.write("rank,op,file,offset,size,start,end\n")
    for rank, op, offset, s, e in requests(a):
        f.write(f"{rank},{op},/scratch/out.{rank},{offset},{SIZE},{s:.6f},{e:.6f}\n")


def write_records(a, f):
    for rank, op, offset, s, e in requests(a):
        f.write(
            f'{{"rank":{rank},"op":"{op}","file":"/scratch/out.{rank}","offset":{offset},"size":{SIZE},'
            f'"start":{s:.6f},"end":{e:.6f}}}\n'
        )


def tmio_section(a, f):
    f.write(
        f'"write_sync":{{"total_bytes": {a.requests * SIZE:.2e},"max_bytes_per_rank": 0.00e+00,'
        f'"total_io_ops": {a.requests},"number_of_ranks": {a.ranks},"bandwidth": {{'
    )
    series = (("b_rank_avr", lambda s, e: SIZE / (e - s)), ("t_rank_s", lambda s, e: s), ("t_rank_e", lambda s, e: e))
    for i, (name, value) in enumerate(series):
        f.write(f'{"," if i else ""}"{name}": [')
        for k, (_, _, _, s, e) in enumerate(requests(a)):
            f.write(f'{", " if k else ""}{value(round(s, 6), round(e, 6)):.6f}')
        f.write("]")
    f.write("}}")


def write_tmio(a, f):
    f.write("{\n\t")
    tmio_section(a, f)
    f.write("\n}\n")


def write_tmio_lines(a, f):
    f.write("\t{")
    tmio_section(a, f)
    f.write("}\n")


def write_radar(a, f):
    rows = list(requests(a))
    f.write(f"HEADER\n/scratch/out.h5 {a.ranks} {a.requests * SIZE}\n")
    for rank in range(a.ranks):
        mine = rows[rank :: a.ranks]
        f.write(f"PROCESS {rank} {len(mine)}\n")
        for _, op, offset, s, e in mine:
            f.write(f"1 ADIO_{op.capitalize()} {s:.6f} {e:.6f} 1\n{offset} {SIZE}\n")


# The longer endings first.
WRITERS = {
    ".tmio.jsonl": write_tmio_lines,
    ".tmio.json": write_tmio,
    ".radar.txt": write_radar,
    ".jsonl": write_records,
    ".csv": write_csv,
}


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--requests", type=int, required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("--ranks", type=int, default=256)
    ap.add_argument("--period", type=float, default=20.0)
    ap.add_argument("--duration", type=float, default=1000.0)
    ap.add_argument("--origin", type=float, default=0.0, help="added to every time, e.g. an epoch stamp")
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    for ending, write in WRITERS.items():
        if a.out.endswith(ending):
            with open(a.out, "w") as f:
                write(a, f)
            return
    sys.exit("make_text_trace.py: --out must end in " + ", ".join(WRITERS))


if __name__ == "__main__":
    main()
