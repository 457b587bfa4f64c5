# Made by scripts/generate.py from the options of the command line. Do not edit.

"""Functions with the arguments of a command of the program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from ._core import Page, Progress, Source
from ._iophase import Trace

if TYPE_CHECKING:
    from ._answers import Classes, Comparison, Dfg, Findings, Info, Patterns, Report

#: Defaults of the keywords of a command, and those that take several values.
SPECS: dict[str, tuple[dict[str, Any], frozenset[str]]] = {
    'analyze': ({'format': 'auto', 'layer': 'auto', 'metric': None, 'max_memory': '4GiB', 'pattern': None, 'pattern_file': None, 'io_names': None, 'bytes_arg': None, 'columns': None, 'kind': None, 'unit': None, 'time_unit': None, 'stamp': None, 'sep': None, 'time_step': None, 'threads': None, 'mode': 'auto', 'ranks': None, 'files': None, 'all_files': False, 'from_': None, 'until': None, 'sampling_rate': 'auto', 'sampling': 'bin', 'method': 'auto', 'detector': 'auto', 'tolerance': 0.8, 'components': 0, 'fourier_fit': False, 'filter': 'none', 'cutoff': None, 'order': 4, 'wavelet': 'haar', 'level': 'auto', 'min_period': 'auto', 'scores': False, 'no_patterns': False}, frozenset(['pattern', 'cutoff'])),
    'info': ({'format': 'auto', 'layer': 'auto', 'metric': None, 'max_memory': '4GiB', 'pattern': None, 'pattern_file': None, 'io_names': None, 'bytes_arg': None, 'columns': None, 'kind': None, 'unit': None, 'time_unit': None, 'stamp': None, 'sep': None, 'time_step': None, 'threads': None}, frozenset(['pattern'])),
    'findings': ({'format': 'auto', 'layer': 'auto', 'metric': None, 'max_memory': '4GiB', 'pattern': None, 'pattern_file': None, 'io_names': None, 'bytes_arg': None, 'columns': None, 'kind': None, 'unit': None, 'time_unit': None, 'stamp': None, 'sep': None, 'time_step': None, 'threads': None, 'config': None, 'set': None, 'mtbf': None, 'only': None, 'ignore': None, 'stripe': '1MiB', 'all_remedies': False}, frozenset(['pattern', 'set', 'only', 'ignore'])),
    'patterns': ({'format': 'auto', 'layer': 'auto', 'metric': None, 'max_memory': '4GiB', 'pattern': None, 'pattern_file': None, 'io_names': None, 'bytes_arg': None, 'columns': None, 'kind': None, 'unit': None, 'time_unit': None, 'stamp': None, 'sep': None, 'time_step': None, 'threads': None, 'mode': 'auto', 'ranks': None, 'files': None, 'all_files': False, 'from_': None, 'until': None, 'window': 64, 'max_age': None, 'next': 0, 'verify': False}, frozenset(['pattern'])),
    'classify': ({'format': 'auto', 'layer': 'auto', 'metric': None, 'max_memory': '4GiB', 'pattern': None, 'pattern_file': None, 'io_names': None, 'bytes_arg': None, 'columns': None, 'kind': None, 'unit': None, 'time_unit': None, 'stamp': None, 'sep': None, 'time_step': None, 'threads': None, 'mode': 'auto', 'ranks': None, 'files': None, 'all_files': False, 'from_': None, 'until': None, 'window': 10, 'stripe': '1MiB', 'classifier': 'auto', 'model': None}, frozenset(['pattern'])),
    'dfg': ({'format': 'auto', 'layer': 'auto', 'metric': None, 'max_memory': '4GiB', 'pattern': None, 'pattern_file': None, 'io_names': None, 'bytes_arg': None, 'columns': None, 'kind': None, 'unit': None, 'time_unit': None, 'stamp': None, 'sep': None, 'time_step': None, 'threads': None, 'map': '{call}:{path}', 'path_levels': 2, 'alias': None, 'match': None, 'calls': None, 'events': 'path', 'all_files': False, 'by': 'file', 'from_': None, 'until': None, 'green': None, 'red': None, 'max_nodes': None}, frozenset(['pattern', 'alias', 'calls', 'green', 'red'])),
    'compare': ({'format': 'auto', 'layer': 'auto', 'metric': None, 'max_memory': '4GiB', 'pattern': None, 'pattern_file': None, 'io_names': None, 'bytes_arg': None, 'columns': None, 'kind': None, 'unit': None, 'time_unit': None, 'stamp': None, 'sep': None, 'time_step': None, 'match': 'rank', 'config': None, 'threads': None}, frozenset(['pattern'])),
    'report': ({'format': 'auto', 'layer': 'auto', 'metric': None, 'max_memory': '4GiB', 'pattern': None, 'pattern_file': None, 'io_names': None, 'bytes_arg': None, 'columns': None, 'kind': None, 'unit': None, 'time_unit': None, 'sep': None, 'time_step': None, 'threads': None, 'mode': 'auto', 'ranks': None, 'files': None, 'all_files': False, 'from_': None, 'until': None, 'min_period': 'auto', 'config': None, 'set': None, 'mtbf': None, 'only': None, 'ignore': None, 'stripe': '1MiB', 'all_remedies': False, 'max_size': 1000000, 'redact': False, 'with_user': False, 'stamp': None, 'row_stamp': None}, frozenset(['pattern', 'set', 'only', 'ignore'])),
    'convert': ({'to': None, 'format': 'auto', 'layer': 'auto', 'metric': None, 'max_memory': '4GiB', 'pattern': None, 'pattern_file': None, 'io_names': None, 'bytes_arg': None, 'columns': None, 'kind': None, 'unit': None, 'time_unit': None, 'stamp': None, 'sep': None, 'time_step': None, 'mode': 'auto', 'ranks': None, 'files': None, 'from_': None, 'until': None, 'input_order': False, 'threads': None}, frozenset(['pattern'])),
}

def analyze(
    source: Source,
    *,
    format: str = 'auto',
    layer: Literal['auto', 'posix', 'mpiio', 'stdio'] = 'auto',
    metric: str | None = None,
    max_memory: int | float | str = '4GiB',
    pattern: str | Sequence[str] | None = None,
    pattern_file: str | os.PathLike[str] | None = None,
    io_names: str | None = None,
    bytes_arg: str | None = None,
    columns: str | None = None,
    kind: Literal['rate', 'bytes', 'cumulative'] | None = None,
    unit: Literal['B', 'kB', 'KiB', 'MB', 'MiB', 'sector'] | None = None,
    time_unit: Literal['s', 'ms', 'us', 'ns'] | None = None,
    stamp: Literal['end', 'start'] | None = None,
    sep: str | None = None,
    time_step: float | None = None,
    threads: int | None = None,
    mode: Literal['auto', 'write', 'read', 'all', 'write_sync', 'read_sync', 'write_async', 'read_async'] = 'auto',
    ranks: str | Sequence[int] | None = None,
    files: str | None = None,
    all_files: bool = False,
    from_: float | None = None,
    until: float | None = None,
    sampling_rate: float | str = 'auto',
    sampling: Literal['bin', 'point'] = 'bin',
    method: Literal['auto', 'dft', 'dwt', 'stft', 'cwt', 'autocorrelation'] = 'auto',
    detector: Literal['auto', 'z-score', 'dbscan', 'isolation-forest', 'lof', 'peaks'] = 'auto',
    tolerance: float = 0.8,
    components: int = 0,
    fourier_fit: bool = False,
    filter: Literal['none', 'lowpass', 'highpass', 'bandpass'] = 'none',
    cutoff: float | Sequence[float] | None = None,
    order: int = 4,
    wavelet: str = 'haar',
    level: float | str = 'auto',
    min_period: float | str = 'auto',
    scores: bool = False,
    no_patterns: bool = False,
    progress: Progress = None,
) -> Report:
    """Period of the I/O, when it holds, bursts, and the next burst.

    Args:
        source: A path, the content of a file, an open file, a Trace, or data in memory as for `from_arrow`.
        format: Format of the traces [default: by content].
        layer: Layer to read from a log with several layers: `auto` (The layer with the most detail), `posix` (POSIX
            calls), `mpiio` (MPI-IO calls), `stdio` (C library streams).
        metric: Metric to read from a Metric Proxy trace; `*` and `?` are wildcards [default: the byte counter that
            grows most].
        max_memory: Memory limit per input, for rows, signal samples, content that cannot be streamed, and 1 KiB per
            pair of rank and file.
        pattern: Regular expression that reads any text by named groups: start, end, time, duration, size, rate, op,
            rank, file, offset; may be repeated, the first match wins.
        pattern_file: TOML or JSON file of patterns, units, constants and translations, or of FTIO's maps `pattern` and
            `translate`.
        io_names: Chrome traces: names of the events that are I/O, e.g. '*DataLoader*,write=save_*' [default: those
            named read or write].
        bytes_arg: Chrome traces: event argument that holds the bytes [default: ret, bytes, size, count, nbytes or
            length].
        columns: Columns of a table with a time series, e.g. time=when,write=out.
        kind: Meaning of the values [default: that of the tool if known, else rate]: `rate` (Amount per second), `bytes`
            (Amount in the interval), `cumulative` (A counter that only grows).
        unit: Unit of the values [default: that of the tool if known, else B]: `B` (Bytes), `kB` (1000 bytes), `KiB`
            (1024 bytes), `MB` (1,000,000 bytes), `MiB` (1,048,576 bytes), `sector` (512 bytes).
        time_unit: Unit of times that are numbers [default: by their size]: `s` (Seconds), `ms` (Milliseconds), `us`
            (Microseconds), `ns` (Nanoseconds).
        stamp: Whether a row's time marks the end or the start of its interval [default: that of the tool if known, else
            end]: `end` (The row describes the interval before its time), `start` (The row describes the interval after
            its time).
        sep: Character between fields, `tab`, or `space` for runs of blanks [default: the most frequent of , ; tab in
            the header].
        time_step: Interval between rows that have no time, in seconds [default: 1].
        threads: Number of threads, at most 1024 [default: one per core].
        mode: Transfers to analyse; auto: writes and reads: `auto` (Writes and reads; two signals in `analyze` and
            `report`), `write` (Writes), `read` (Reads), `all` (Writes and reads; one signal), `write_sync` (Blocking
            writes), `read_sync` (Blocking reads), `write_async` (Non-blocking writes), `read_async` (Non-blocking
            reads).
        ranks: Keep only these ranks, e.g. 0-3,7.
        files: Keep only files whose name matches.
        all_files: Also keep pipes, sockets, terminals, /proc, /sys, /dev, /etc and shared libraries.
        from_: Start of the time window, on the trace's clock.
        until: End of the time window.
        sampling_rate: Sampling rate of the signal in Hz, or auto.
        sampling: How the bandwidth is sampled: `bin` (Exact mean of each bin), `point` (Value at the sample point).
        method: Method that finds the period; auto: the most accurate: `auto` (Chains of bursts in the time domain: the
            most accurate), `dft` (Power spectrum), `dwt` (Power spectrum of the signal smoothed by wavelets), `stft`
            (Power spectra of a sliding window: the period over time), `cwt` (Continuous wavelet transform),
            `autocorrelation` (Autocorrelation).
        detector: Outlier detector for the spectrum: `auto` (The one that suits the method), `z-score` (Standard
            deviations from the mean power), `dbscan` (Points without neighbours), `isolation-forest` (Points that
            random splits isolate early), `lof` (Points with a lower local density than their neighbours), `peaks`
            (Local maxima).
        tolerance: Lowest score of a candidate period, as a share of the best score.
        components: Number of cosines in the reconstruction.
        fourier_fit: Refine the cosines of -n by least squares; 10 cosines without -n.
        filter: Butterworth filter, applied forwards and backwards before the analysis; method auto then uses
            autocorrelation: `none` (No filter), `lowpass` (Keep frequencies below the cut-off), `highpass` (Keep
            frequencies above the cut-off), `bandpass` (Keep frequencies between two cut-offs).
        cutoff: Cut-off frequency of the filter in Hz; two for bandpass.
        order: Order of the filter.
        wavelet: Wavelet of the DWT: haar, db2..db10, sym2..sym10, coif1..coif5.
        level: Level of the DWT; auto: chosen from the period.
        min_period: Shortest period to report, in seconds.
        scores: Add further scores of periodicity: spectral flatness and entropy, recurrence, correlation with the
            cosine.
        no_patterns: Skip the access patterns.
        progress: True for a line on standard error, or a function of the bytes done and to do.

    >>> import iophase as iop
    >>> report = iop.analyze("data/stable.darshan", mode="write")
    >>> report.primary.period.dominant.cycles
    14.0
    >>> report.signal("write").bandwidth().columns
    ['t_s', 'bytes_per_s']
    """
    keywords: dict[str, Any] = {"format": format, "layer": layer, "metric": metric, "max_memory": max_memory, "pattern": pattern, "pattern_file": pattern_file, "io_names": io_names, "bytes_arg": bytes_arg, "columns": columns, "kind": kind, "unit": unit, "time_unit": time_unit, "stamp": stamp, "sep": sep, "time_step": time_step, "threads": threads, "mode": mode, "ranks": ranks, "files": files, "all_files": all_files, "from_": from_, "until": until, "sampling_rate": sampling_rate, "sampling": sampling, "method": method, "detector": detector, "tolerance": tolerance, "components": components, "fourier_fit": fourier_fit, "filter": filter, "cutoff": cutoff, "order": order, "wavelet": wavelet, "level": level, "min_period": min_period, "scores": scores, "no_patterns": no_patterns, "progress": progress}
    answer: Report = _core.one("analyze", "Report", source, keywords, SPECS["analyze"])
    return answer


def open(
    source: Source,
    *,
    format: str = 'auto',
    layer: Literal['auto', 'posix', 'mpiio', 'stdio'] = 'auto',
    metric: str | None = None,
    max_memory: int | float | str = '4GiB',
    pattern: str | Sequence[str] | None = None,
    pattern_file: str | os.PathLike[str] | None = None,
    io_names: str | None = None,
    bytes_arg: str | None = None,
    columns: str | None = None,
    kind: Literal['rate', 'bytes', 'cumulative'] | None = None,
    unit: Literal['B', 'kB', 'KiB', 'MB', 'MiB', 'sector'] | None = None,
    time_unit: Literal['s', 'ms', 'us', 'ns'] | None = None,
    stamp: Literal['end', 'start'] | None = None,
    sep: str | None = None,
    time_step: float | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Trace:
    """Reads a trace once; all other functions take what it gives.

    Args:
        source: A path, the content of a file, an open file, a Trace, or data in memory as for `from_arrow`.
        format: Format of the traces [default: by content].
        layer: Layer to read from a log with several layers: `auto` (The layer with the most detail), `posix` (POSIX
            calls), `mpiio` (MPI-IO calls), `stdio` (C library streams).
        metric: Metric to read from a Metric Proxy trace; `*` and `?` are wildcards [default: the byte counter that
            grows most].
        max_memory: Memory limit per input, for rows, signal samples, content that cannot be streamed, and 1 KiB per
            pair of rank and file.
        pattern: Regular expression that reads any text by named groups: start, end, time, duration, size, rate, op,
            rank, file, offset; may be repeated, the first match wins.
        pattern_file: TOML or JSON file of patterns, units, constants and translations, or of FTIO's maps `pattern` and
            `translate`.
        io_names: Chrome traces: names of the events that are I/O, e.g. '*DataLoader*,write=save_*' [default: those
            named read or write].
        bytes_arg: Chrome traces: event argument that holds the bytes [default: ret, bytes, size, count, nbytes or
            length].
        columns: Columns of a table with a time series, e.g. time=when,write=out.
        kind: Meaning of the values [default: that of the tool if known, else rate]: `rate` (Amount per second), `bytes`
            (Amount in the interval), `cumulative` (A counter that only grows).
        unit: Unit of the values [default: that of the tool if known, else B]: `B` (Bytes), `kB` (1000 bytes), `KiB`
            (1024 bytes), `MB` (1,000,000 bytes), `MiB` (1,048,576 bytes), `sector` (512 bytes).
        time_unit: Unit of times that are numbers [default: by their size]: `s` (Seconds), `ms` (Milliseconds), `us`
            (Microseconds), `ns` (Nanoseconds).
        stamp: Whether a row's time marks the end or the start of its interval [default: that of the tool if known, else
            end]: `end` (The row describes the interval before its time), `start` (The row describes the interval after
            its time).
        sep: Character between fields, `tab`, or `space` for runs of blanks [default: the most frequent of , ; tab in
            the header].
        time_step: Interval between rows that have no time, in seconds [default: 1].
        threads: Number of threads, at most 1024 [default: one per core].
        progress: True for a line on standard error, or a function of the bytes done and to do.

    >>> import iophase as iop
    >>> trace = iop.open("data/stable.darshan")
    >>> trace.requests().num_rows
    1792
    >>> trace.info.version
    '3.41'
    """
    keywords: dict[str, Any] = {"format": format, "layer": layer, "metric": metric, "max_memory": max_memory, "pattern": pattern, "pattern_file": pattern_file, "io_names": io_names, "bytes_arg": bytes_arg, "columns": columns, "kind": kind, "unit": unit, "time_unit": time_unit, "stamp": stamp, "sep": sep, "time_step": time_step, "threads": threads, "progress": progress}
    answer: Trace = _core.opened(source, keywords, SPECS["info"])
    return answer


def info(
    source: Source,
    *,
    format: str = 'auto',
    layer: Literal['auto', 'posix', 'mpiio', 'stdio'] = 'auto',
    metric: str | None = None,
    max_memory: int | float | str = '4GiB',
    pattern: str | Sequence[str] | None = None,
    pattern_file: str | os.PathLike[str] | None = None,
    io_names: str | None = None,
    bytes_arg: str | None = None,
    columns: str | None = None,
    kind: Literal['rate', 'bytes', 'cumulative'] | None = None,
    unit: Literal['B', 'kB', 'KiB', 'MB', 'MiB', 'sector'] | None = None,
    time_unit: Literal['s', 'ms', 'us', 'ns'] | None = None,
    stamp: Literal['end', 'start'] | None = None,
    sep: str | None = None,
    time_step: float | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Info:
    """Contents of a trace: format, job, ranks, files, operations, bytes, time span.

    Args:
        source: A path, the content of a file, an open file, a Trace, or data in memory as for `from_arrow`.
        format: Format of the traces [default: by content].
        layer: Layer to read from a log with several layers: `auto` (The layer with the most detail), `posix` (POSIX
            calls), `mpiio` (MPI-IO calls), `stdio` (C library streams).
        metric: Metric to read from a Metric Proxy trace; `*` and `?` are wildcards [default: the byte counter that
            grows most].
        max_memory: Memory limit per input, for rows, signal samples, content that cannot be streamed, and 1 KiB per
            pair of rank and file.
        pattern: Regular expression that reads any text by named groups: start, end, time, duration, size, rate, op,
            rank, file, offset; may be repeated, the first match wins.
        pattern_file: TOML or JSON file of patterns, units, constants and translations, or of FTIO's maps `pattern` and
            `translate`.
        io_names: Chrome traces: names of the events that are I/O, e.g. '*DataLoader*,write=save_*' [default: those
            named read or write].
        bytes_arg: Chrome traces: event argument that holds the bytes [default: ret, bytes, size, count, nbytes or
            length].
        columns: Columns of a table with a time series, e.g. time=when,write=out.
        kind: Meaning of the values [default: that of the tool if known, else rate]: `rate` (Amount per second), `bytes`
            (Amount in the interval), `cumulative` (A counter that only grows).
        unit: Unit of the values [default: that of the tool if known, else B]: `B` (Bytes), `kB` (1000 bytes), `KiB`
            (1024 bytes), `MB` (1,000,000 bytes), `MiB` (1,048,576 bytes), `sector` (512 bytes).
        time_unit: Unit of times that are numbers [default: by their size]: `s` (Seconds), `ms` (Milliseconds), `us`
            (Microseconds), `ns` (Nanoseconds).
        stamp: Whether a row's time marks the end or the start of its interval [default: that of the tool if known, else
            end]: `end` (The row describes the interval before its time), `start` (The row describes the interval after
            its time).
        sep: Character between fields, `tab`, or `space` for runs of blanks [default: the most frequent of , ; tab in
            the header].
        time_step: Interval between rows that have no time, in seconds [default: 1].
        threads: Number of threads, at most 1024 [default: one per core].
        progress: True for a line on standard error, or a function of the bytes done and to do.

    >>> import iophase as iop
    >>> iop.info("data/stable.darshan").job.ranks
    8
    """
    keywords: dict[str, Any] = {"format": format, "layer": layer, "metric": metric, "max_memory": max_memory, "pattern": pattern, "pattern_file": pattern_file, "io_names": io_names, "bytes_arg": bytes_arg, "columns": columns, "kind": kind, "unit": unit, "time_unit": time_unit, "stamp": stamp, "sep": sep, "time_step": time_step, "threads": threads, "progress": progress}
    answer: Info = _core.one("info", "Info", source, keywords, SPECS["info"])
    return answer


def findings(
    source: Source,
    *,
    format: str = 'auto',
    layer: Literal['auto', 'posix', 'mpiio', 'stdio'] = 'auto',
    metric: str | None = None,
    max_memory: int | float | str = '4GiB',
    pattern: str | Sequence[str] | None = None,
    pattern_file: str | os.PathLike[str] | None = None,
    io_names: str | None = None,
    bytes_arg: str | None = None,
    columns: str | None = None,
    kind: Literal['rate', 'bytes', 'cumulative'] | None = None,
    unit: Literal['B', 'kB', 'KiB', 'MB', 'MiB', 'sector'] | None = None,
    time_unit: Literal['s', 'ms', 'us', 'ns'] | None = None,
    stamp: Literal['end', 'start'] | None = None,
    sep: str | None = None,
    time_step: float | None = None,
    threads: int | None = None,
    config: str | os.PathLike[str] | None = None,
    set: str | Sequence[str] | None = None,
    mtbf: int | float | str | None = None,
    only: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    stripe: int | float | str = '1MiB',
    all_remedies: bool = False,
    progress: Progress = None,
) -> Findings:
    """Problems of the I/O: evidence, time lost, settings that help.

    Args:
        source: A path, the content of a file, an open file, a Trace, or data in memory as for `from_arrow`.
        format: Format of the traces [default: by content].
        layer: Layer to read from a log with several layers: `auto` (The layer with the most detail), `posix` (POSIX
            calls), `mpiio` (MPI-IO calls), `stdio` (C library streams).
        metric: Metric to read from a Metric Proxy trace; `*` and `?` are wildcards [default: the byte counter that
            grows most].
        max_memory: Memory limit per input, for rows, signal samples, content that cannot be streamed, and 1 KiB per
            pair of rank and file.
        pattern: Regular expression that reads any text by named groups: start, end, time, duration, size, rate, op,
            rank, file, offset; may be repeated, the first match wins.
        pattern_file: TOML or JSON file of patterns, units, constants and translations, or of FTIO's maps `pattern` and
            `translate`.
        io_names: Chrome traces: names of the events that are I/O, e.g. '*DataLoader*,write=save_*' [default: those
            named read or write].
        bytes_arg: Chrome traces: event argument that holds the bytes [default: ret, bytes, size, count, nbytes or
            length].
        columns: Columns of a table with a time series, e.g. time=when,write=out.
        kind: Meaning of the values [default: that of the tool if known, else rate]: `rate` (Amount per second), `bytes`
            (Amount in the interval), `cumulative` (A counter that only grows).
        unit: Unit of the values [default: that of the tool if known, else B]: `B` (Bytes), `kB` (1000 bytes), `KiB`
            (1024 bytes), `MB` (1,000,000 bytes), `MiB` (1,048,576 bytes), `sector` (512 bytes).
        time_unit: Unit of times that are numbers [default: by their size]: `s` (Seconds), `ms` (Milliseconds), `us`
            (Microseconds), `ns` (Nanoseconds).
        stamp: Whether a row's time marks the end or the start of its interval [default: that of the tool if known, else
            end]: `end` (The row describes the interval before its time), `start` (The row describes the interval after
            its time).
        sep: Character between fields, `tab`, or `space` for runs of blanks [default: the most frequent of , ; tab in
            the header].
        time_step: Interval between rows that have no time, in seconds [default: 1].
        threads: Number of threads, at most 1024 [default: one per core].
        config: TOML file: thresholds in [CODE], e.g. [IOP-POSIX-002]; the machine in [system] and [[mount]].
        set: Set a threshold, e.g. IOP-POSIX-002.share=0.2.
        mtbf: Mean time between failures of the job, e.g. 24h, by which to judge the checkpoint interval.
        only: Look for these findings only, e.g. IOP-POSIX-002,IOP-RANK-001.
        ignore: Do not look for these findings.
        stripe: Stripe unit of files whose layout is not recorded; shorter requests count as small.
        all_remedies: Also show remedies for file systems and libraries that are not in the trace.
        progress: True for a line on standard error, or a function of the bytes done and to do.

    >>> import iophase as iop
    >>> found = iop.findings("data/stable.darshan")
    >>> "IOP-POSIX-002" in [f.code for f in found.findings]
    True
    """
    keywords: dict[str, Any] = {"format": format, "layer": layer, "metric": metric, "max_memory": max_memory, "pattern": pattern, "pattern_file": pattern_file, "io_names": io_names, "bytes_arg": bytes_arg, "columns": columns, "kind": kind, "unit": unit, "time_unit": time_unit, "stamp": stamp, "sep": sep, "time_step": time_step, "threads": threads, "config": config, "set": set, "mtbf": mtbf, "only": only, "ignore": ignore, "stripe": stripe, "all_remedies": all_remedies, "progress": progress}
    answer: Findings = _core.one("findings", "Findings", source, keywords, SPECS["findings"])
    return answer


def patterns(
    source: Source,
    *,
    format: str = 'auto',
    layer: Literal['auto', 'posix', 'mpiio', 'stdio'] = 'auto',
    metric: str | None = None,
    max_memory: int | float | str = '4GiB',
    pattern: str | Sequence[str] | None = None,
    pattern_file: str | os.PathLike[str] | None = None,
    io_names: str | None = None,
    bytes_arg: str | None = None,
    columns: str | None = None,
    kind: Literal['rate', 'bytes', 'cumulative'] | None = None,
    unit: Literal['B', 'kB', 'KiB', 'MB', 'MiB', 'sector'] | None = None,
    time_unit: Literal['s', 'ms', 'us', 'ns'] | None = None,
    stamp: Literal['end', 'start'] | None = None,
    sep: str | None = None,
    time_step: float | None = None,
    threads: int | None = None,
    mode: Literal['auto', 'write', 'read', 'all', 'write_sync', 'read_sync', 'write_async', 'read_async'] = 'auto',
    ranks: str | Sequence[int] | None = None,
    files: str | None = None,
    all_files: bool = False,
    from_: float | None = None,
    until: float | None = None,
    window: int = 64,
    max_age: int | float | str | None = None,
    next: int = 0,
    verify: bool = False,
    progress: Progress = None,
) -> Patterns:
    """Access patterns, each with its period.

    Args:
        source: A path, the content of a file, an open file, a Trace, or data in memory as for `from_arrow`.
        format: Format of the traces [default: by content].
        layer: Layer to read from a log with several layers: `auto` (The layer with the most detail), `posix` (POSIX
            calls), `mpiio` (MPI-IO calls), `stdio` (C library streams).
        metric: Metric to read from a Metric Proxy trace; `*` and `?` are wildcards [default: the byte counter that
            grows most].
        max_memory: Memory limit per input, for rows, signal samples, content that cannot be streamed, and 1 KiB per
            pair of rank and file.
        pattern: Regular expression that reads any text by named groups: start, end, time, duration, size, rate, op,
            rank, file, offset; may be repeated, the first match wins.
        pattern_file: TOML or JSON file of patterns, units, constants and translations, or of FTIO's maps `pattern` and
            `translate`.
        io_names: Chrome traces: names of the events that are I/O, e.g. '*DataLoader*,write=save_*' [default: those
            named read or write].
        bytes_arg: Chrome traces: event argument that holds the bytes [default: ret, bytes, size, count, nbytes or
            length].
        columns: Columns of a table with a time series, e.g. time=when,write=out.
        kind: Meaning of the values [default: that of the tool if known, else rate]: `rate` (Amount per second), `bytes`
            (Amount in the interval), `cumulative` (A counter that only grows).
        unit: Unit of the values [default: that of the tool if known, else B]: `B` (Bytes), `kB` (1000 bytes), `KiB`
            (1024 bytes), `MB` (1,000,000 bytes), `MiB` (1,048,576 bytes), `sector` (512 bytes).
        time_unit: Unit of times that are numbers [default: by their size]: `s` (Seconds), `ms` (Milliseconds), `us`
            (Microseconds), `ns` (Nanoseconds).
        stamp: Whether a row's time marks the end or the start of its interval [default: that of the tool if known, else
            end]: `end` (The row describes the interval before its time), `start` (The row describes the interval after
            its time).
        sep: Character between fields, `tab`, or `space` for runs of blanks [default: the most frequent of , ; tab in
            the header].
        time_step: Interval between rows that have no time, in seconds [default: 1].
        threads: Number of threads, at most 1024 [default: one per core].
        mode: Transfers to analyse; auto: writes and reads: `auto` (Writes and reads; two signals in `analyze` and
            `report`), `write` (Writes), `read` (Reads), `all` (Writes and reads; one signal), `write_sync` (Blocking
            writes), `read_sync` (Blocking reads), `write_async` (Non-blocking writes), `read_async` (Non-blocking
            reads).
        ranks: Keep only these ranks, e.g. 0-3,7.
        files: Keep only files whose name matches.
        all_files: Also keep pipes, sockets, terminals, /proc, /sys, /dev, /etc and shared libraries.
        from_: Start of the time window, on the trace's clock.
        until: End of the time window.
        window: Search for interleaved patterns once N accesses of one size are unmatched (then at 2N, ...).
        max_age: How long an access may wait for a pattern: a number of accesses of the same rank, file and operation,
            or seconds such as 10s.
        next: Print the next N accesses of each pattern.
        verify: Check that the patterns and the unmatched accesses reproduce every access.
        progress: True for a line on standard error, or a function of the bytes done and to do.

    >>> import iophase as iop
    >>> found = iop.patterns("data/stable.darshan", next=3)
    >>> found.coverage.matched == found.coverage.records
    True
    """
    keywords: dict[str, Any] = {"format": format, "layer": layer, "metric": metric, "max_memory": max_memory, "pattern": pattern, "pattern_file": pattern_file, "io_names": io_names, "bytes_arg": bytes_arg, "columns": columns, "kind": kind, "unit": unit, "time_unit": time_unit, "stamp": stamp, "sep": sep, "time_step": time_step, "threads": threads, "mode": mode, "ranks": ranks, "files": files, "all_files": all_files, "from_": from_, "until": until, "window": window, "max_age": max_age, "next": next, "verify": verify, "progress": progress}
    answer: Patterns = _core.one("patterns", "Patterns", source, keywords, SPECS["patterns"])
    return answer


def classify(
    source: Source,
    *,
    format: str = 'auto',
    layer: Literal['auto', 'posix', 'mpiio', 'stdio'] = 'auto',
    metric: str | None = None,
    max_memory: int | float | str = '4GiB',
    pattern: str | Sequence[str] | None = None,
    pattern_file: str | os.PathLike[str] | None = None,
    io_names: str | None = None,
    bytes_arg: str | None = None,
    columns: str | None = None,
    kind: Literal['rate', 'bytes', 'cumulative'] | None = None,
    unit: Literal['B', 'kB', 'KiB', 'MB', 'MiB', 'sector'] | None = None,
    time_unit: Literal['s', 'ms', 'us', 'ns'] | None = None,
    stamp: Literal['end', 'start'] | None = None,
    sep: str | None = None,
    time_step: float | None = None,
    threads: int | None = None,
    mode: Literal['auto', 'write', 'read', 'all', 'write_sync', 'read_sync', 'write_async', 'read_async'] = 'auto',
    ranks: str | Sequence[int] | None = None,
    files: str | None = None,
    all_files: bool = False,
    from_: float | None = None,
    until: float | None = None,
    window: int = 10,
    stripe: int | float | str = '1MiB',
    classifier: Literal['auto', 'rules', 'network', 'markov'] = 'auto',
    model: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Classes:
    """How the job accesses each file, and which settings suit that.

    Args:
        source: A path, the content of a file, an open file, a Trace, or data in memory as for `from_arrow`.
        format: Format of the traces [default: by content].
        layer: Layer to read from a log with several layers: `auto` (The layer with the most detail), `posix` (POSIX
            calls), `mpiio` (MPI-IO calls), `stdio` (C library streams).
        metric: Metric to read from a Metric Proxy trace; `*` and `?` are wildcards [default: the byte counter that
            grows most].
        max_memory: Memory limit per input, for rows, signal samples, content that cannot be streamed, and 1 KiB per
            pair of rank and file.
        pattern: Regular expression that reads any text by named groups: start, end, time, duration, size, rate, op,
            rank, file, offset; may be repeated, the first match wins.
        pattern_file: TOML or JSON file of patterns, units, constants and translations, or of FTIO's maps `pattern` and
            `translate`.
        io_names: Chrome traces: names of the events that are I/O, e.g. '*DataLoader*,write=save_*' [default: those
            named read or write].
        bytes_arg: Chrome traces: event argument that holds the bytes [default: ret, bytes, size, count, nbytes or
            length].
        columns: Columns of a table with a time series, e.g. time=when,write=out.
        kind: Meaning of the values [default: that of the tool if known, else rate]: `rate` (Amount per second), `bytes`
            (Amount in the interval), `cumulative` (A counter that only grows).
        unit: Unit of the values [default: that of the tool if known, else B]: `B` (Bytes), `kB` (1000 bytes), `KiB`
            (1024 bytes), `MB` (1,000,000 bytes), `MiB` (1,048,576 bytes), `sector` (512 bytes).
        time_unit: Unit of times that are numbers [default: by their size]: `s` (Seconds), `ms` (Milliseconds), `us`
            (Microseconds), `ns` (Nanoseconds).
        stamp: Whether a row's time marks the end or the start of its interval [default: that of the tool if known, else
            end]: `end` (The row describes the interval before its time), `start` (The row describes the interval after
            its time).
        sep: Character between fields, `tab`, or `space` for runs of blanks [default: the most frequent of , ; tab in
            the header].
        time_step: Interval between rows that have no time, in seconds [default: 1].
        threads: Number of threads, at most 1024 [default: one per core].
        mode: Transfers to analyse; auto: writes and reads: `auto` (Writes and reads; two signals in `analyze` and
            `report`), `write` (Writes), `read` (Reads), `all` (Writes and reads; one signal), `write_sync` (Blocking
            writes), `read_sync` (Blocking reads), `write_async` (Non-blocking writes), `read_async` (Non-blocking
            reads).
        ranks: Keep only these ranks, e.g. 0-3,7.
        files: Keep only files whose name matches.
        all_files: Also keep pipes, sockets, terminals, /proc, /sys, /dev, /etc and shared libraries.
        from_: Start of the time window, on the trace's clock.
        until: End of the time window.
        window: Number of accesses to look ahead after one that breaks the pattern.
        stripe: Stripe unit of files whose layout is not recorded, e.g. 4MiB; shorter requests count as small.
        classifier: Basis of the classes: rules, network or markov: `auto` (Rules; where they find no order, the model
            of --model, else the network), `rules` (Rules only), `network` (Network only), `markov` (Model of --model
            only).
        model: Model from --train on earlier runs; predicts the classes of a file before it is accessed.
        progress: True for a line on standard error, or a function of the bytes done and to do.

    >>> import iophase as iop
    >>> classes = iop.classify("data/stable.darshan")
    >>> len(classes.files)
    14
    """
    keywords: dict[str, Any] = {"format": format, "layer": layer, "metric": metric, "max_memory": max_memory, "pattern": pattern, "pattern_file": pattern_file, "io_names": io_names, "bytes_arg": bytes_arg, "columns": columns, "kind": kind, "unit": unit, "time_unit": time_unit, "stamp": stamp, "sep": sep, "time_step": time_step, "threads": threads, "mode": mode, "ranks": ranks, "files": files, "all_files": all_files, "from_": from_, "until": until, "window": window, "stripe": stripe, "classifier": classifier, "model": model, "progress": progress}
    answer: Classes = _core.one("classify", "Classes", source, keywords, SPECS["classify"])
    return answer


def dfg(
    source: Source | Sequence[Source],
    *,
    format: str = 'auto',
    layer: Literal['auto', 'posix', 'mpiio', 'stdio'] = 'auto',
    metric: str | None = None,
    max_memory: int | float | str = '4GiB',
    pattern: str | Sequence[str] | None = None,
    pattern_file: str | os.PathLike[str] | None = None,
    io_names: str | None = None,
    bytes_arg: str | None = None,
    columns: str | None = None,
    kind: Literal['rate', 'bytes', 'cumulative'] | None = None,
    unit: Literal['B', 'kB', 'KiB', 'MB', 'MiB', 'sector'] | None = None,
    time_unit: Literal['s', 'ms', 'us', 'ns'] | None = None,
    stamp: Literal['end', 'start'] | None = None,
    sep: str | None = None,
    time_step: float | None = None,
    threads: int | None = None,
    map: str = '{call}:{path}',
    path_levels: int = 2,
    alias: str | Sequence[str] | None = None,
    match: str | None = None,
    calls: str | Sequence[str] | None = None,
    events: Literal['path', 'all'] = 'path',
    all_files: bool = False,
    by: Literal['file', 'pid'] = 'file',
    from_: float | None = None,
    until: float | None = None,
    green: str | Sequence[str] | None = None,
    red: str | Sequence[str] | None = None,
    max_nodes: int | None = None,
    progress: Progress = None,
) -> Dfg:
    """Directly-follows graph of one trace or several: order and cost of activities, and differences between two sets of
    cases.

    Args:
        source: A path, the content of a file, an open file, a Trace, or data in memory as for `from_arrow`.
        format: Format of the traces [default: by content].
        layer: Layer to read from a log with several layers: `auto` (The layer with the most detail), `posix` (POSIX
            calls), `mpiio` (MPI-IO calls), `stdio` (C library streams).
        metric: Metric to read from a Metric Proxy trace; `*` and `?` are wildcards [default: the byte counter that
            grows most].
        max_memory: Memory limit per input, for rows, signal samples, content that cannot be streamed, and 1 KiB per
            pair of rank and file.
        pattern: Regular expression that reads any text by named groups: start, end, time, duration, size, rate, op,
            rank, file, offset; may be repeated, the first match wins.
        pattern_file: TOML or JSON file of patterns, units, constants and translations, or of FTIO's maps `pattern` and
            `translate`.
        io_names: Chrome traces: names of the events that are I/O, e.g. '*DataLoader*,write=save_*' [default: those
            named read or write].
        bytes_arg: Chrome traces: event argument that holds the bytes [default: ret, bytes, size, count, nbytes or
            length].
        columns: Columns of a table with a time series, e.g. time=when,write=out.
        kind: Meaning of the values [default: that of the tool if known, else rate]: `rate` (Amount per second), `bytes`
            (Amount in the interval), `cumulative` (A counter that only grows).
        unit: Unit of the values [default: that of the tool if known, else B]: `B` (Bytes), `kB` (1000 bytes), `KiB`
            (1024 bytes), `MB` (1,000,000 bytes), `MiB` (1,048,576 bytes), `sector` (512 bytes).
        time_unit: Unit of times that are numbers [default: by their size]: `s` (Seconds), `ms` (Milliseconds), `us`
            (Microseconds), `ns` (Nanoseconds).
        stamp: Whether a row's time marks the end or the start of its interval [default: that of the tool if known, else
            end]: `end` (The row describes the interval before its time), `start` (The row describes the interval after
            its time).
        sep: Character between fields, `tab`, or `space` for runs of blanks [default: the most frequent of , ; tab in
            the header].
        time_step: Interval between rows that have no time, in seconds [default: 1].
        threads: Number of threads, at most 1024 [default: one per core].
        map: Template of activity names, with the fields {call} {path} {path:3} {path:all} {dir} {file} {ext} {cid}
            {host} {rank}.
        path_levels: Number of levels in {path} and {dir}.
        alias: Short name for a path prefix; may be repeated.
        match: Only calls whose path matches, as recorded or with aliases.
        calls: Only these calls; `*` stands for any text, `?` for any one character.
        events: Calls in the graph: those with a path, or all: `path` (Calls with a path, a pipe, a socket, ...), `all`
            (Every call).
        all_files: Also calls on pipes, sockets, terminals, /proc, /sys, /dev, /etc and shared libraries.
        by: One case per trace file (or rank), or per process: `file` (A trace file, or a rank), `pid` (A process).
        from_: Only calls that start at or after this time.
        until: Only calls that start before this time.
        green: First group: cases (trace files or ranks) whose name, command, file or input matches; without --red, all
            others are the second group.
        red: Second group; the first is drawn in blue and the second in orange, which colour-blind readers can
            distinguish.
        max_nodes: Draw at most this many activities, the heaviest [default: 40, fewer if the graph gets wider than a
            page].
        progress: True for a line on standard error, or a function of the bytes done and to do.

    >>> import iophase as iop
    >>> graph = iop.dfg("data/stable.strace", match="^/scratch")
    >>> graph.svg()[:4]
    '<svg'
    """
    keywords: dict[str, Any] = {"format": format, "layer": layer, "metric": metric, "max_memory": max_memory, "pattern": pattern, "pattern_file": pattern_file, "io_names": io_names, "bytes_arg": bytes_arg, "columns": columns, "kind": kind, "unit": unit, "time_unit": time_unit, "stamp": stamp, "sep": sep, "time_step": time_step, "threads": threads, "map": map, "path_levels": path_levels, "alias": alias, "match": match, "calls": calls, "events": events, "all_files": all_files, "by": by, "from_": from_, "until": until, "green": green, "red": red, "max_nodes": max_nodes, "progress": progress}
    answer: Dfg = _core.one("dfg", "Dfg", source, keywords, SPECS["dfg"])
    return answer


def compare(
    before: Source | Sequence[Source],
    after: Source | Sequence[Source],
    *,
    format: str = 'auto',
    layer: Literal['auto', 'posix', 'mpiio', 'stdio'] = 'auto',
    metric: str | None = None,
    max_memory: int | float | str = '4GiB',
    pattern: str | Sequence[str] | None = None,
    pattern_file: str | os.PathLike[str] | None = None,
    io_names: str | None = None,
    bytes_arg: str | None = None,
    columns: str | None = None,
    kind: Literal['rate', 'bytes', 'cumulative'] | None = None,
    unit: Literal['B', 'kB', 'KiB', 'MB', 'MiB', 'sector'] | None = None,
    time_unit: Literal['s', 'ms', 'us', 'ns'] | None = None,
    stamp: Literal['end', 'start'] | None = None,
    sep: str | None = None,
    time_step: float | None = None,
    match: Literal['rank', 'size', 'time'] = 'rank',
    config: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Comparison:
    """Differences between two runs, or two sets of runs, and their causes.

    Args:
        before: A run before, or several.
        after: A run after, or several.
        format: Format of the traces [default: by content].
        layer: Layer to read from a log with several layers: `auto` (The layer with the most detail), `posix` (POSIX
            calls), `mpiio` (MPI-IO calls), `stdio` (C library streams).
        metric: Metric to read from a Metric Proxy trace; `*` and `?` are wildcards [default: the byte counter that
            grows most].
        max_memory: Memory limit per input, for rows, signal samples, content that cannot be streamed, and 1 KiB per
            pair of rank and file.
        pattern: Regular expression that reads any text by named groups: start, end, time, duration, size, rate, op,
            rank, file, offset; may be repeated, the first match wins.
        pattern_file: TOML or JSON file of patterns, units, constants and translations, or of FTIO's maps `pattern` and
            `translate`.
        io_names: Chrome traces: names of the events that are I/O, e.g. '*DataLoader*,write=save_*' [default: those
            named read or write].
        bytes_arg: Chrome traces: event argument that holds the bytes [default: ret, bytes, size, count, nbytes or
            length].
        columns: Columns of a table with a time series, e.g. time=when,write=out.
        kind: Meaning of the values [default: that of the tool if known, else rate]: `rate` (Amount per second), `bytes`
            (Amount in the interval), `cumulative` (A counter that only grows).
        unit: Unit of the values [default: that of the tool if known, else B]: `B` (Bytes), `kB` (1000 bytes), `KiB`
            (1024 bytes), `MB` (1,000,000 bytes), `MiB` (1,048,576 bytes), `sector` (512 bytes).
        time_unit: Unit of times that are numbers [default: by their size]: `s` (Seconds), `ms` (Milliseconds), `us`
            (Microseconds), `ns` (Nanoseconds).
        stamp: Whether a row's time marks the end or the start of its interval [default: that of the tool if known, else
            end]: `end` (The row describes the interval before its time), `start` (The row describes the interval after
            its time).
        sep: Character between fields, `tab`, or `space` for runs of blanks [default: the most frequent of , ; tab in
            the header].
        time_step: Interval between rows that have no time, in seconds [default: 1].
        match: How the picture pairs the ranks of the two runs: `rank` (By rank number), `size` (By the order of their
            bytes), `time` (By the order of their time in I/O).
        config: TOML file. [compare]: thresholds of the comparison; [CODE], e.g. [IOP-POSIX-002]: thresholds of a
            finding; [system] and [[mount]]: the machine.
        threads: Number of threads, at most 1024 [default: one per core].
        progress: True for a line on standard error, or a function of the bytes done and to do.

    >>> import iophase as iop
    >>> iop.compare("data/stable.darshan", "data/stable.darshan").verdict
    'same'
    """
    keywords: dict[str, Any] = {"format": format, "layer": layer, "metric": metric, "max_memory": max_memory, "pattern": pattern, "pattern_file": pattern_file, "io_names": io_names, "bytes_arg": bytes_arg, "columns": columns, "kind": kind, "unit": unit, "time_unit": time_unit, "stamp": stamp, "sep": sep, "time_step": time_step, "match": match, "config": config, "threads": threads, "progress": progress}
    answer: Comparison = _core.comparison(before, after, keywords, SPECS["compare"])
    return answer


def report(
    source: Source | Sequence[Source],
    output: str | os.PathLike[str] | None = None,
    *,
    format: str = 'auto',
    layer: Literal['auto', 'posix', 'mpiio', 'stdio'] = 'auto',
    metric: str | None = None,
    max_memory: int | float | str = '4GiB',
    pattern: str | Sequence[str] | None = None,
    pattern_file: str | os.PathLike[str] | None = None,
    io_names: str | None = None,
    bytes_arg: str | None = None,
    columns: str | None = None,
    kind: Literal['rate', 'bytes', 'cumulative'] | None = None,
    unit: Literal['B', 'kB', 'KiB', 'MB', 'MiB', 'sector'] | None = None,
    time_unit: Literal['s', 'ms', 'us', 'ns'] | None = None,
    sep: str | None = None,
    time_step: float | None = None,
    threads: int | None = None,
    mode: Literal['auto', 'write', 'read', 'all', 'write_sync', 'read_sync', 'write_async', 'read_async'] = 'auto',
    ranks: str | Sequence[int] | None = None,
    files: str | None = None,
    all_files: bool = False,
    from_: float | None = None,
    until: float | None = None,
    min_period: float | str = 'auto',
    config: str | os.PathLike[str] | None = None,
    set: str | Sequence[str] | None = None,
    mtbf: int | float | str | None = None,
    only: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    stripe: int | float | str = '1MiB',
    all_remedies: bool = False,
    max_size: int | float | str = 1000000,
    redact: bool = False,
    with_user: bool = False,
    stamp: str | None = None,
    row_stamp: Literal['end', 'start'] | None = None,
    progress: Progress = None,
) -> Page:
    """All answers on a trace as one HTML page, which is written to `output` if that is given; of two traces also their
    comparison.

    Args:
        source: A path, the content of a file, an open file, a Trace, or data in memory as for `from_arrow`.
        output: Path of the file.
        format: Format of the traces [default: by content].
        layer: Layer to read from a log with several layers: `auto` (The layer with the most detail), `posix` (POSIX
            calls), `mpiio` (MPI-IO calls), `stdio` (C library streams).
        metric: Metric to read from a Metric Proxy trace; `*` and `?` are wildcards [default: the byte counter that
            grows most].
        max_memory: Memory limit per input, for rows, signal samples, content that cannot be streamed, and 1 KiB per
            pair of rank and file.
        pattern: Regular expression that reads any text by named groups: start, end, time, duration, size, rate, op,
            rank, file, offset; may be repeated, the first match wins.
        pattern_file: TOML or JSON file of patterns, units, constants and translations, or of FTIO's maps `pattern` and
            `translate`.
        io_names: Chrome traces: names of the events that are I/O, e.g. '*DataLoader*,write=save_*' [default: those
            named read or write].
        bytes_arg: Chrome traces: event argument that holds the bytes [default: ret, bytes, size, count, nbytes or
            length].
        columns: Columns of a table with a time series, e.g. time=when,write=out.
        kind: Meaning of the values [default: that of the tool if known, else rate]: `rate` (Amount per second), `bytes`
            (Amount in the interval), `cumulative` (A counter that only grows).
        unit: Unit of the values [default: that of the tool if known, else B]: `B` (Bytes), `kB` (1000 bytes), `KiB`
            (1024 bytes), `MB` (1,000,000 bytes), `MiB` (1,048,576 bytes), `sector` (512 bytes).
        time_unit: Unit of times that are numbers [default: by their size]: `s` (Seconds), `ms` (Milliseconds), `us`
            (Microseconds), `ns` (Nanoseconds).
        sep: Character between fields, `tab`, or `space` for runs of blanks [default: the most frequent of , ; tab in
            the header].
        time_step: Interval between rows that have no time, in seconds [default: 1].
        threads: Number of threads, at most 1024 [default: one per core].
        mode: Transfers to analyse; auto: writes and reads: `auto` (Writes and reads; two signals in `analyze` and
            `report`), `write` (Writes), `read` (Reads), `all` (Writes and reads; one signal), `write_sync` (Blocking
            writes), `read_sync` (Blocking reads), `write_async` (Non-blocking writes), `read_async` (Non-blocking
            reads).
        ranks: Keep only these ranks, e.g. 0-3,7.
        files: Keep only files whose name matches.
        all_files: Also keep pipes, sockets, terminals, /proc, /sys, /dev, /etc and shared libraries.
        from_: Start of the time window, on the trace's clock.
        until: End of the time window.
        min_period: Shortest period to report, in seconds.
        config: TOML file: thresholds in [CODE], e.g. [IOP-POSIX-002]; the machine in [system] and [[mount]].
        set: Set a threshold, e.g. IOP-POSIX-002.share=0.2.
        mtbf: Mean time between failures of the job, e.g. 24h, by which to judge the checkpoint interval.
        only: Look for these findings only, e.g. IOP-POSIX-002,IOP-RANK-001.
        ignore: Do not look for these findings.
        stripe: Stripe unit of files whose layout is not recorded; shorter requests count as small.
        all_remedies: Also show remedies for file systems and libraries that are not in the trace.
        max_size: Largest size of a page; lists and pictures are cut to fit.
        redact: Replace names of hosts and files by codes, leave out user and job id, cut the command to its program.
        with_user: Show the user id.
        stamp: Show this text, such as a date, beside the version of the program.
        row_stamp: Whether a row's time marks the end or the start of its interval [default: that of the tool if known,
            else end]: `end` (The row describes the interval before its time), `start` (The row describes the interval
            after its time).
        progress: True for a line on standard error, or a function of the bytes done and to do.

    >>> import iophase as iop
    >>> page = iop.report("data/stable.darshan")
    >>> page[:15]
    '<!DOCTYPE html>'
    """
    keywords: dict[str, Any] = {"format": format, "layer": layer, "metric": metric, "max_memory": max_memory, "pattern": pattern, "pattern_file": pattern_file, "io_names": io_names, "bytes_arg": bytes_arg, "columns": columns, "kind": kind, "unit": unit, "time_unit": time_unit, "sep": sep, "time_step": time_step, "threads": threads, "mode": mode, "ranks": ranks, "files": files, "all_files": all_files, "from_": from_, "until": until, "min_period": min_period, "config": config, "set": set, "mtbf": mtbf, "only": only, "ignore": ignore, "stripe": stripe, "all_remedies": all_remedies, "max_size": max_size, "redact": redact, "with_user": with_user, "stamp": stamp, "row_stamp": row_stamp, "progress": progress}
    answer: Page = _core.page(source, output, keywords, SPECS["report"])
    return answer


def convert(
    source: Source,
    output: str | os.PathLike[str],
    *,
    to: Literal['csv', 'jsonl', 'radar', 'tmio', 'msgpack', 'strace'] | None = None,
    format: str = 'auto',
    layer: Literal['auto', 'posix', 'mpiio', 'stdio'] = 'auto',
    metric: str | None = None,
    max_memory: int | float | str = '4GiB',
    pattern: str | Sequence[str] | None = None,
    pattern_file: str | os.PathLike[str] | None = None,
    io_names: str | None = None,
    bytes_arg: str | None = None,
    columns: str | None = None,
    kind: Literal['rate', 'bytes', 'cumulative'] | None = None,
    unit: Literal['B', 'kB', 'KiB', 'MB', 'MiB', 'sector'] | None = None,
    time_unit: Literal['s', 'ms', 'us', 'ns'] | None = None,
    stamp: Literal['end', 'start'] | None = None,
    sep: str | None = None,
    time_step: float | None = None,
    mode: Literal['auto', 'write', 'read', 'all', 'write_sync', 'read_sync', 'write_async', 'read_async'] = 'auto',
    ranks: str | Sequence[int] | None = None,
    files: str | None = None,
    from_: float | None = None,
    until: float | None = None,
    input_order: bool = False,
    threads: int | None = None,
    progress: Progress = None,
) -> int:
    """Writes a trace in another format, by the ending of `output` or as `to` says; gives the number of rows.

    Args:
        source: A path, the content of a file, an open file, a Trace, or data in memory as for `from_arrow`.
        output: Path of the file.
        to: Format to write [default: by the ending of the output].
        format: Format of the traces [default: by content].
        layer: Layer to read from a log with several layers: `auto` (The layer with the most detail), `posix` (POSIX
            calls), `mpiio` (MPI-IO calls), `stdio` (C library streams).
        metric: Metric to read from a Metric Proxy trace; `*` and `?` are wildcards [default: the byte counter that
            grows most].
        max_memory: Memory limit per input, for rows, signal samples, content that cannot be streamed, and 1 KiB per
            pair of rank and file.
        pattern: Regular expression that reads any text by named groups: start, end, time, duration, size, rate, op,
            rank, file, offset; may be repeated, the first match wins.
        pattern_file: TOML or JSON file of patterns, units, constants and translations, or of FTIO's maps `pattern` and
            `translate`.
        io_names: Chrome traces: names of the events that are I/O, e.g. '*DataLoader*,write=save_*' [default: those
            named read or write].
        bytes_arg: Chrome traces: event argument that holds the bytes [default: ret, bytes, size, count, nbytes or
            length].
        columns: Columns of a table with a time series, e.g. time=when,write=out.
        kind: Meaning of the values [default: that of the tool if known, else rate]: `rate` (Amount per second), `bytes`
            (Amount in the interval), `cumulative` (A counter that only grows).
        unit: Unit of the values [default: that of the tool if known, else B]: `B` (Bytes), `kB` (1000 bytes), `KiB`
            (1024 bytes), `MB` (1,000,000 bytes), `MiB` (1,048,576 bytes), `sector` (512 bytes).
        time_unit: Unit of times that are numbers [default: by their size]: `s` (Seconds), `ms` (Milliseconds), `us`
            (Microseconds), `ns` (Nanoseconds).
        stamp: Whether a row's time marks the end or the start of its interval [default: that of the tool if known, else
            end]: `end` (The row describes the interval before its time), `start` (The row describes the interval after
            its time).
        sep: Character between fields, `tab`, or `space` for runs of blanks [default: the most frequent of , ; tab in
            the header].
        time_step: Interval between rows that have no time, in seconds [default: 1].
        mode: Transfers to keep; auto: writes and reads: `auto` (Writes and reads; two signals in `analyze` and
            `report`), `write` (Writes), `read` (Reads), `all` (Writes and reads; one signal), `write_sync` (Blocking
            writes), `read_sync` (Blocking reads), `write_async` (Non-blocking writes), `read_async` (Non-blocking
            reads).
        ranks: Keep only these ranks, e.g. 0-3,7.
        files: Keep only files whose name matches.
        from_: Keep only transfers that start at or after this time.
        until: Keep only transfers that start before this time.
        input_order: Keep the order of the input instead of sorting records by their start.
        threads: Number of threads, at most 1024 [default: one per core].
        progress: True for a line on standard error, or a function of the bytes done and to do.

    >>> import iophase as iop, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     iop.convert("data/stable.darshan", os.path.join(folder, "stable.csv"))
    1792
    """
    keywords: dict[str, Any] = {"to": to, "format": format, "layer": layer, "metric": metric, "max_memory": max_memory, "pattern": pattern, "pattern_file": pattern_file, "io_names": io_names, "bytes_arg": bytes_arg, "columns": columns, "kind": kind, "unit": unit, "time_unit": time_unit, "stamp": stamp, "sep": sep, "time_step": time_step, "mode": mode, "ranks": ranks, "files": files, "from_": from_, "until": until, "input_order": input_order, "threads": threads, "progress": progress}
    answer: int = _core.converted(source, output, keywords, SPECS["convert"])
    return answer
