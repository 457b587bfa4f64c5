"""Tables as objects of other packages, which are imported when they are asked for."""

from __future__ import annotations

import importlib
from typing import Any


def _package(name: str, least: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise ImportError(f"this needs {name}: pip install '{name}>={least}'", name=name) from e


class _Memory:
    """Memory of a column, which lives as long as this does."""

    __slots__ = ("__array_interface__", "column")

    def __init__(self, column: Any) -> None:
        self.__array_interface__ = column._memory
        self.column = column


def to_numpy(column: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    numpy = _package("numpy", "1.23")
    if column.type in ("uint8", "uint32", "uint64", "int64", "float64"):
        # a buffer of no values may have no address
        values = numpy.asarray(_Memory(column)) if len(column) else numpy.array([], column._memory["typestr"])
        unknown = column._unknown()
        if unknown is not None:
            values = values.astype("float64")
            values[numpy.array(unknown)] = numpy.nan
    else:
        whole = column.type == "boolean" and not column.null_count
        values = numpy.array(column.to_list(), dtype=bool if whole else object)
    if dtype is not None:
        values = values.astype(dtype, copy=False)
    return values.copy() if copy else values


def _to_series(pandas: Any, column: Any) -> Any:
    numpy = _package("numpy", "1.23")
    parts = column._dictionary()
    unknown = column._unknown()
    if parts is not None:
        keys, names = parts
        codes = numpy.asarray(_Memory(keys)).astype("int64") if len(keys) else numpy.array([], "int64")
        if unknown is not None:
            codes[numpy.array(unknown)] = -1
        return pandas.Categorical.from_codes(codes, categories=names.to_list())
    if column.type == "boolean":
        return pandas.array(column.to_list(), dtype="boolean" if unknown else "bool")
    if column.type.endswith("utf8"):
        return pandas.array(column.to_list(), dtype="str" if pandas.__version__ >= "3" else "object")
    if unknown is None or column.type == "float64":
        return to_numpy(column)
    # whole numbers stay whole where some are unknown
    return pandas.arrays.IntegerArray(numpy.array(numpy.asarray(_Memory(column))), numpy.array(unknown))


def to_pandas(table: Any) -> Any:
    pandas = _package("pandas", "1.5")
    return pandas.DataFrame({name: _to_series(pandas, table[name]) for name in table.columns}, copy=False)


def to_polars(table: Any) -> Any:
    return _package("polars", "1.3").DataFrame(table)


def to_pyarrow(table: Any) -> Any:
    return _package("pyarrow", "15").table(table)
