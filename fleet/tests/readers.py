#!/usr/bin/env python3
"""Counts the rows of every table with the readers that are installed. usage: readers.py FLEET. Ends with 77 if there is none."""
import json, os, sys

fleet = sys.argv[1]
batches = json.load(open(os.path.join(fleet, "_snapshot.json")))["batches"]
tables = {}
for b in batches:
    for name, parts in b["parts"].items():
        for path, rows in parts:
            t = tables.setdefault(name, [[], 0])
            t[0].append(os.path.join(fleet, path))
            t[1] += rows
readers = {}
try:
    import duckdb
    readers["duckdb"] = lambda files: duckdb.sql(f"select * from read_parquet({files!r}, union_by_name=true)").fetchall()
except ImportError:
    pass
try:
    import polars
    readers["polars"] = lambda files: polars.concat([polars.read_parquet(f, hive_partitioning=False) for f in files]).rows()
except ImportError:
    pass
try:
    import pandas
    import pyarrow  # noqa: F401  reads Parquet for pandas
    readers["pandas"] = lambda files: pandas.concat([pandas.read_parquet(f, partitioning=None) for f in files]).values.tolist()
except ImportError:
    pass
if not readers:
    print("none of duckdb, polars, pandas with pyarrow is installed")
    sys.exit(77)
wrong = 0
for reader, read in readers.items():
    for name, (files, rows) in tables.items():
        got = len(read(files))
        if got != rows:
            print(f"{reader}: {name} has {got} rows instead of {rows}")
            wrong += 1
print("read by", ", ".join(readers))
sys.exit(1 if wrong else 0)
