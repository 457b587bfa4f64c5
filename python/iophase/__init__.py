"""I/O traces of parallel jobs: periods, next bursts, access patterns, findings, and their rows as tables.

>>> import iophase as iop
>>> report = iop.analyze("data/stable.darshan")
>>> round(report.primary.period.period_s, 3)
2.0

Every function takes a path, the content of a file, an open file, a `Trace`, or data in memory: arrays, a dict, a list of dicts, a frame.
Keywords are the long options of the command `iophase`, with the same defaults. Times are seconds on the trace's own clock, sizes bytes.
"""

from . import _answers as _answers
from ._answers import (
    Classes as Classes,
    Comparison as Comparison,
    Dfg as Dfg,
    Findings as Findings,
    Info as Info,
    Patterns as Patterns,
    Prediction as Prediction,
    Report as Report,
    Truth as Truth,
)
from ._commands import (
    analyze as analyze,
    classify as classify,
    compare as compare,
    convert as convert,
    dfg as dfg,
    findings as findings,
    info as info,
    open as open,
    patterns as patterns,
    report as report,
)
from ._core import Page as Page
from ._errors import (
    EmptyError as EmptyError,
    Error as Error,
    FormatError as FormatError,
    LimitError as LimitError,
    OutputError as OutputError,
    TraceWarning as TraceWarning,
    UsageError as UsageError,
)
from ._figure import Figure as Figure, Heat as Heat
from ._iophase import __VERSION__ as __version__
from ._iophase import Column as Column, Table as Table, Trace as Trace
from ._more import (
    Predictor as Predictor,
    analyze_many as analyze_many,
    detect as detect,
    from_arrow as from_arrow,
    generate as generate,
    schema as schema,
)

__all__ = [
    "Classes",
    "Column",
    "Comparison",
    "Dfg",
    "EmptyError",
    "Error",
    "Figure",
    "Findings",
    "FormatError",
    "Heat",
    "Info",
    "LimitError",
    "OutputError",
    "Page",
    "Patterns",
    "Prediction",
    "Predictor",
    "Report",
    "Table",
    "Trace",
    "TraceWarning",
    "Truth",
    "UsageError",
    "__version__",
    "analyze",
    "analyze_many",
    "classify",
    "compare",
    "convert",
    "detect",
    "dfg",
    "findings",
    "from_arrow",
    "generate",
    "info",
    "open",
    "patterns",
    "report",
    "schema",
]
