#!/usr/bin/env python3
"""Prints, as JSON, what the reference library says of Darshan logs: `darshan_oracle.py ROOT LOG... > reference.json`.

Needs the PyPI package `darshan` (3.5.0). Names in the output are relative to ROOT. Logs that it cannot open, and modules that it
cannot read, are named under `failed`. Known mistakes of the library (floating-point counters of old POSIX versions, POSIX
version 1 records in the other byte order, partial flags in the other byte order) are left to the reader of the figures: they
touch none of the numbers printed here but the POSIX totals of big-endian version 1 logs.
"""

import json
import sys
from pathlib import Path

import darshan.backend.cffi_backend as backend
import numpy as np

CALLS = {
    "POSIX": (["POSIX_READS"], ["POSIX_WRITES"]),
    "MPI-IO": (
        ["MPIIO_INDEP_READS", "MPIIO_COLL_READS", "MPIIO_SPLIT_READS", "MPIIO_NB_READS"],
        ["MPIIO_INDEP_WRITES", "MPIIO_COLL_WRITES", "MPIIO_SPLIT_WRITES", "MPIIO_NB_WRITES"],
    ),
    "STDIO": (["STDIO_READS"], ["STDIO_WRITES"]),
}


def records(log, module, **options):
    while (record := backend.log_get_record(log, module, **options)) is not None:
        yield record


def counters(log, module):
    names = backend.counter_names(module)
    sums = dict.fromkeys(names, 0)
    count = 0
    for r in records(log, module, dtype="numpy"):
        count += 1
        for name, value in zip(names, r["counters"]):
            sums[name] += max(int(value), 0)
    prefix = names[0].split("_")[0]
    reads, writes = CALLS[module]
    return {
        "records": count,
        "reads": sum(sums[n] for n in reads),
        "writes": sum(sums[n] for n in writes),
        "bytes_read": sums[f"{prefix}_BYTES_READ"],
        "bytes_written": sums[f"{prefix}_BYTES_WRITTEN"],
    }


def segments(log, module):
    total = {"records": 0, "reads": 0, "writes": 0, "bytes_read": 0, "bytes_written": 0, "first_s": None, "last_s": None}
    for r in records(log, module, dtype="dict"):
        total["records"] += 1
        for kind, calls, moved in (("read_segments", "reads", "bytes_read"), ("write_segments", "writes", "bytes_written")):
            for s in r[kind]:
                total[calls] += 1
                total[moved] += s["length"]
                first, last = total["first_s"], total["last_s"]
                total["first_s"] = s["start_time"] if first is None else min(first, s["start_time"])
                total["last_s"] = s["end_time"] if last is None else max(last, s["end_time"])
    return total


def heatmaps(log, names):
    layers = {}
    for r in records(log, "HEATMAP"):
        name = names.get(r["id"], "heatmap:?").split(":")[1].lower()
        total = layers.setdefault(name, {"records": 0, "bins": 0, "bin_s": r["bin_width_seconds"], "bytes_read": 0, "bytes_written": 0})
        total["records"] += 1
        total["bins"] = max(total["bins"], int(r["nbins"]))
        total["bytes_read"] += int(np.sum(r["read_bins"], dtype=object))
        total["bytes_written"] += int(np.sum(r["write_bins"], dtype=object))
    return layers


def describe(path):
    log = backend.log_open(str(path))
    try:
        job = backend.log_get_job(log)
        names = backend.log_get_name_records(log)
        modules = backend.log_get_modules(log)
        out = {
            "job": {
                "id": job["jobid"],
                "ranks": job["nprocs"],
                "start": [job["start_time_sec"], job["start_time_nsec"]],
                "end": [job["end_time_sec"], job["end_time_nsec"]],
                "run_time_s": job["run_time"],
                "lib_ver": job["metadata"].get("lib_ver"),
            },
            "executable": backend.log_get_exe(log),
            "names": len(names),
            "modules": {n: {"version": m["ver"], "partial": bool(m["partial_flag"])} for n, m in sorted(modules.items())},
        }
        failed = []
        jobs = [(n, n, lambda n=n: counters(log, n)) for n in CALLS]
        jobs += [(n, n, lambda n=n: segments(log, n)) for n in ("DXT_POSIX", "DXT_MPIIO")]
        jobs += [("HEATMAP", "HEATMAP", lambda: heatmaps(log, names))]
        for module, key, figures in jobs:
            if module in modules:
                try:
                    out[key] = figures()
                except Exception:
                    failed.append(module)
        if failed:
            out["failed"] = failed
        return out
    finally:
        backend.log_close(log)


def main():
    root = Path(sys.argv[1])
    out = {}
    for path in sorted(map(Path, sys.argv[2:])):
        try:
            out[str(path.relative_to(root))] = describe(path)
        except Exception as e:
            out[str(path.relative_to(root))] = {"failed": ["open"], "error": type(e).__name__}
    print("{")
    print(",\n".join(f"{json.dumps(k)}:{json.dumps(v, separators=(',', ':'))}" for k, v in out.items()))
    print("}")


if __name__ == "__main__":
    main()
