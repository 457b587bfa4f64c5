#!/usr/bin/env python3
"""Counts the rows of every table with the readers of Delta tables that are installed.

usage: readers.py FLEET EXPECTED     EXPECTED: lines "table,rows" as the program counts. Ends with 77 without the package deltalake.
"""
import csv, os, sys

try:
    from deltalake import DeltaTable
except ImportError as e:
    print(e)
    sys.exit(77)

fleet, expected = sys.argv[1:]


def files(table):
    return DeltaTable(os.path.join(fleet, table)).file_uris()


readers = {"deltalake": lambda table: DeltaTable(os.path.join(fleet, table)).count()}
try:
    import polars
    readers["polars"] = lambda table: polars.scan_delta(os.path.join(fleet, table)).collect().height
except ImportError:
    pass
try:
    import duckdb
    # its own reader of Delta tables is an extension that not every machine can load
    readers["duckdb"] = lambda table: duckdb.sql(f"select * from read_parquet({files(table)!r})").fetchdf().shape[0] if files(table) else 0
except ImportError:
    pass
try:
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401
    readers["pandas"] = lambda table: len(DeltaTable(os.path.join(fleet, table)).to_pandas())
except ImportError:
    pass
wrong = 0
for table, rows in csv.reader(open(expected)):
    for reader, count in readers.items():
        got = count(table)
        if got != int(rows):
            print(f"{reader}: {table} has {got} rows instead of {rows}")
            wrong += 1
print("read by", ", ".join(readers))
sys.exit(1 if wrong else 0)
