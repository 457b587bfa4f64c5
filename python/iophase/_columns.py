"""Data of a notebook as a table of Arrow: arrays, dicts, lists of dicts, Series, frames. Other packages are used if they are there."""

from __future__ import annotations

import datetime
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from numbers import Real
from typing import Any

from . import _iophase
from ._errors import FormatError, UsageError

#: Units of the times of NumPy that Arrow has, too.
UNITS = ("s", "ms", "us", "ns")
EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)
#: What is to be given instead of something that has no names.
AS_DICT = 'give a dict: {"start": ..., "end": ..., "bytes": ...} or {"time": ..., "rate": ...}'

#: Type; length, place of the first value, bits of those that are known, memory, parts: as `Table._of_buffers` takes them.
Packed = tuple[str, tuple[int, int, "bytes | None", list[bytes], list[Any]]]


def table_of(data: Any) -> Any:
    """An object with `__arrow_c_stream__` or `__arrow_c_array__` for data in memory; None for what is none."""
    if isinstance(data, (str, bytes, bytearray, memoryview, _iophase.Trace)):
        return None
    if isinstance(data, Mapping):
        return _table(data)
    if isinstance(data, (list, tuple)):
        return _of_list(data)
    if hasattr(data, "reset_index"):
        return _of_pandas(data)
    if getattr(getattr(data, "dtype", None), "names", None):
        return _table({name: data[name] for name in data.dtype.names})
    if not hasattr(data, "columns"):
        if hasattr(data, "to_frame"):
            return data.to_frame(data.name or "rate")
        if hasattr(data, "__array__") and not hasattr(data, "column_names"):
            return _table({getattr(data, "name", None) or "rate": data})
    return data if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__") else None


def _of_list(data: Sequence[Any]) -> Any:
    if data and all(isinstance(row, Mapping) for row in data):
        names = dict.fromkeys(name for row in data for name in row)
        return _table({name: [row.get(name) for row in data] for name in names})
    if data and all(isinstance(x, Real) for x in data):
        return _table({"rate": data})
    return None


def _of_pandas(data: Any) -> Any:
    """A frame or Series; its index is a column if it has a name, or holds times or real numbers."""
    if not hasattr(data, "columns"):
        data = data.to_frame("rate" if data.name is None else data.name)
    names = [name for name in data.index.names if name is not None]
    if names and not set(names) & set(data.columns):
        data = data.reset_index()
    elif not names and data.index.dtype.kind in "mMf":
        data = data.rename_axis("time").reset_index()
    return _table({name: data[name] for name in data.columns})


def _table(columns: Mapping[Any, Any]) -> _iophase.Table:
    """A table of columns; a text or number alone is that of all rows."""
    packed = {name: _packed(str(name), v) for name, v in columns.items() if not isinstance(v, (str, Real))}
    lengths = {name: parts[0] for name, (_, parts) in packed.items()}
    if len(set(lengths.values())) != 1:
        found = ", ".join(f"{name} has {n} values" for name, n in lengths.items()) or "no columns"
        raise _refused(UsageError, found, "columns of one length", AS_DICT)
    n = next(iter(lengths.values()))
    packed = {name: packed[name] if name in packed else _packed(str(name), [v] * n) for name, v in columns.items()}
    return _iophase.Table._of_buffers([(str(name), of, True, parts) for name, (of, parts) in packed.items()])


def _packed(name: str, values: Any) -> Packed:
    """A column as the memory of an array of Arrow."""
    if hasattr(values, "__array__") and (numpy := _numpy()) is not None:
        if getattr(getattr(values, "dtype", None), "tz", None) is not None:
            values = values.dt.tz_convert(None)
        packed = _of_array(numpy, name, numpy.asarray(values))
        if packed is not None:
            return packed
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(values, method):
            values = getattr(values, method)()
            break
    if not isinstance(values, Iterable):
        raise _refused(UsageError, f"column {name} is {type(values).__name__}", "an array or a list", AS_DICT)
    return _of_values(name, list(values))


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _of_array(numpy: Any, name: str, values: Any) -> Packed | None:
    """A column of an array of NumPy; None for objects and text."""
    if values.ndim != 1:
        raise _refused(UsageError, f"column {name} has {values.ndim} dimensions", "one", AS_DICT)
    kind, known = values.dtype.kind, None
    if kind in "mM":
        unit, count = numpy.datetime_data(values.dtype)
        unit = unit if unit in UNITS and count == 1 else "s"
        values = values.astype(f"{kind}8[{unit}]")
        if numpy.isnat(values).any():
            known = numpy.packbits(~numpy.isnat(values), bitorder="little").tobytes()
        values = values.view("i8")
        of, code = f"{'timestamp' if kind == 'M' else 'duration'}[{unit}]", "<i8"
    elif kind in "fiub":
        of, code = {"f": ("float64", "<f8"), "i": ("int64", "<i8")}.get(kind, ("uint64", "<u8"))
    else:
        return None
    return of, (len(values), 0, known, [numpy.ascontiguousarray(values, dtype=code).tobytes()], [])


def _of_values(name: str, values: list[Any]) -> Packed:
    """A column of a list."""
    there = [_is_known(x) for x in values]
    kinds = {type(x) for x, known in zip(values, there) if known}

    def numbers(of: str, code: str, number: Any) -> Packed:
        memory = array(code, [number(x) if known else 0 for x, known in zip(values, there)]).tobytes()
        return of, (len(values), 0, _bits(there), [memory], [])

    def all_are(kind: type) -> bool:
        return all(issubclass(k, kind) for k in kinds)

    try:
        if all(hasattr(k, "__index__") for k in kinds):
            return numbers("int64", "q", int)
        if all_are(datetime.datetime):
            return numbers("timestamp[us]", "q", lambda x: (_naive(x) - EPOCH) // MICROSECOND)
        if all_are(datetime.timedelta):
            return numbers("duration[us]", "q", lambda x: x // MICROSECOND)
        if all_are(str):
            texts = [x.encode() if known else b"" for x, known in zip(values, there)]
            ends = array("q", accumulate(map(len, texts), initial=0)).tobytes()
            return "large_utf8", (len(values), 0, _bits(there), [ends, b"".join(texts)], [])
        if not any(issubclass(k, (str, bytes)) for k in kinds):
            return numbers("float64", "d", float)
    except (TypeError, ValueError, OverflowError):
        pass
    first = type(next(x for x, known in zip(values, there) if known))
    i = next((i for i, x in enumerate(values) if there[i] and not isinstance(x, first)), 0)
    found = f"{name} is {values[i]!r}"[:80]
    raise _refused(FormatError, found, "numbers, texts, datetimes or durations, of one type in a column", None, f"record {i}")


def _is_known(value: Any) -> bool:
    """False for None, NaN, NaT and the like: none of them is equal to itself."""
    try:
        return value is not None and bool(value == value)
    except (TypeError, ValueError):
        return False


def _naive(time: datetime.datetime) -> datetime.datetime:
    """The same moment in UTC; a time without a zone is in UTC."""
    return time if time.tzinfo is None else time.astimezone(datetime.timezone.utc).replace(tzinfo=None)


def _bits(there: list[bool]) -> bytes | None:
    """The bits of the values that are known, the first the lowest; None if all are."""
    if all(there):
        return None
    bits = int("".join("1" if known else "0" for known in reversed(there)), 2)
    return bits.to_bytes((len(there) + 7) // 8, "little")


def _refused(kind: type[Any], found: str, expected: str, remedy: str | None, place: str | None = None) -> Exception:
    text = (f"{place}: " if place else "") + f"{found}; expected {expected}" + (f"; {remedy}" if remedy else "")
    error: Exception = kind(text, None, place, found, expected, remedy)
    return error
