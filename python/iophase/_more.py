"""Functions without a command of the same arguments: many logs, tables in, synthetic jobs, running jobs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from . import _iophase
from ._base import CLASSES
from ._columns import table_of
from ._commands import SPECS, analyze
from ._core import Progress, _Told, arguments, as_input, warn
from ._iophase import Trace

if TYPE_CHECKING:
    from ._answers import Prediction, Report
    from ._iophase import Table


def analyze_many(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    threads: int | None = None,
    on_error: Literal["row", "skip", "raise"] = "row",
    progress: Progress = None,
    **keywords: Any,
) -> Table:
    """Analyses many logs side by side; gives a table with one row for each log and mode.

    Args:
        paths: A file or folder, or several, each a trace.
        threads: Number of threads; None: one per core.
        on_error: What is done with a log that cannot be read: `row` gives it a row whose `error` says why, `skip` leaves it out,
            `raise` raises the error.
        progress: True for a line on standard error, or a function of the logs that are done and of all.
        **keywords: Those of `analyze` that say how traces are read and analysed.

    Returns:
        Columns path, job, mode, bytes, io_time_s, period_s, confidence, bursts, idle_s, error and others, those of the table
        `signals` of `iophase fleet`. Times of bursts are seconds since 1970.

    >>> import iophase as iop
    >>> table = iop.analyze_many(["data/stable.darshan", "data/aperiodic.darshan"])
    >>> table["verdict"].to_list()
    ['periodic', 'irregular']
    """
    each: Iterable[str | os.PathLike[str]] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    all_paths = [os.fsdecode(p) for p in each]
    given = arguments({"threads": threads, **keywords}, *SPECS["analyze"])
    with _Told(progress) as tell:
        return _iophase.many(all_paths, given, on_error, tell)


def detect(start: Any, end: Any, bytes: Any, **keywords: Any) -> Report:
    """The period of bursts, requests or phases in memory; what moves may be any amount.

    Args:
        start: Starts, an array or list of seconds on any clock, or of datetimes.
        end: Their ends.
        bytes: What they move, in any order.
        **keywords: Those of `analyze`, such as `method` and `min_period`.

    Returns:
        The report of `analyze`, with one signal, that of the writes; `primary` is None if it has no period.

    >>> import iophase as iop
    >>> start = [12.5 * k for k in range(20)]
    >>> iop.detect(start, [t + 2 for t in start], [1e9] * 20).primary.period.period_s
    12.5
    """
    return analyze({"start": start, "end": end, "bytes": bytes}, **{"mode": "write", "no_patterns": True, **keywords})


def from_arrow(data: Any, *, ranks: int | None = None, name: str = "table") -> Trace:
    """A trace of data in memory: a dict of columns, a list of dicts, a Series, a frame or table of pandas, polars, DuckDB, pyarrow
    or anything with `__arrow_c_stream__`. Names of columns may be in any case.

    Args:
        data: Spans or samples. Spans: start_s or start, end_s or end (or duration), size or bytes (or a rate); if known op (read, write,
            open, close, seek, sync, other; else write), rank, file and offset. Samples: t_s or time, and a rate or several whose names
            say read or write. Times are seconds, datetimes or durations; those without a zone are in UTC.
        ranks: Number of processes; None counts those that have rows.
        name: Name of the trace in answers and errors.

    Raises:
        FormatError: A column is missing or of a wrong type, or a value is impossible; says which and where.

    >>> import iophase as iop
    >>> rows = iop.open("data/stable.darshan").requests()
    >>> iop.analyze(iop.from_arrow(rows, ranks=8)).primary.period.dominant.cycles
    14.0
    """
    table = table_of(data)
    return _iophase.of_arrow(as_input(data) if table is None else table, name, ranks)


def generate(job: str, *, seed: int = 0, **parameters: Any) -> Trace:
    """A synthetic trace whose truth is known.

    Args:
        job: `checkpoint`, `ior`, `dlio`, ...: as `iophase generate --help` lists them.
        seed: Seed of the random numbers; the same seed gives the same trace.
        **parameters: Those of the job, as `iophase generate JOB --help` lists them.

    Returns:
        The trace; its `truth` has the periods, bursts and patterns that the generator executed. `convert` writes it to a file.

    >>> import iophase as iop
    >>> trace = iop.generate("checkpoint", period=12)
    >>> [p.period_s for p in trace.truth.periods]
    [12.0]
    """
    return _iophase.generate_rows([job, *arguments({"seed": seed, **parameters}, {"seed": 0})])


def schema(name: str = "report") -> str:
    """The JSON Schema of an answer: report, info, patterns, classes, dfg, findings, comparison, truth, prediction.

    >>> import iophase as iop, json
    >>> json.loads(iop.schema("report"))["title"]
    'iophase.report.v1'
    """
    return _iophase.schema(name)


class Predictor:
    """Follows a job while it runs: fed with its transfers, it says when the next burst is due.

    Args:
        window: Part of the past that counts: `none` (all), `last-K` periods, `hits` (the last three, as FTIO's frequency hits),
            `fixed:SECONDSs`, `fixed:BYTES`, or `change` (since the last change).
        change: Detector of changes: none, adwin, cusum, page-hinkley, k-sigma, bayesian.
        every: When to predict: `message` (each call of `feed`), `burst`, or seconds of the trace's clock.
        mode: `auto` (writes or reads, whichever move more bytes), `write`, `read`, or `all`.
        min_period: Shortest period in seconds; None: the rhythm of requests inside a burst is not reported.

    >>> import iophase as iop
    >>> p = iop.Predictor()
    >>> for k in range(8):
    ...     burst = {"op": "write", "size": 2**20, "start_s": 10.0 * k, "end_s": 10.0 * k + 1}
    ...     [last] = p.feed([burst])
    >>> last.periodic, round(last.period_s, 6)
    (True, 10.0)
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        window: str = "change",
        *,
        change: str = "bayesian",
        every: str = "message",
        mode: Literal["auto", "write", "read", "all"] = "auto",
        min_period: float | None = None,
    ) -> None:
        self._native = _iophase.Predictor(window, change, str(every), mode, min_period)

    def feed(self, data: Any, *, job: str | None = None, ranks: int | None = None) -> list[Prediction]:
        """Takes transfers: a list of dicts with op, size, start_s and if known end_s and rank; a `Trace`; or other data as for
        `from_arrow`. Gives the predictions that are due.

        Args:
            data: The transfers, in any order, times on the trace's own clock.
            job: Name of the job, where one predictor follows several.
            ranks: Number of ranks, if it is known.
        """
        if isinstance(data, list) and not data:
            data = {"start": [], "bytes": []}
        rows = as_input(data)
        if isinstance(rows, (str, tuple)):
            rows = _iophase.open(rows, [], None)
            warn(rows._warnings, rows.path)
        lines = self._native.feed(rows, job, ranks)
        return [CLASSES["Prediction"]._made(line, None, line) for line in lines]  # type: ignore[attr-defined]

    def __copy__(self) -> Predictor:
        make, state = self._native.__reduce__()
        other = type(self).__new__(type(self))
        other._native = make(*state)
        return other

    def save(self, path: str | os.PathLike[str]) -> None:
        """Stores the state in a file, which is whole at every moment."""
        self._native.save(os.fsdecode(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Predictor:
        """The predictor of a stored state, which goes on as if nothing had happened."""
        predictor = cls.__new__(cls)
        predictor._native = _iophase.Predictor.load(os.fsdecode(path))
        return predictor
