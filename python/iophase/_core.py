"""From the arguments of a function to those of the native part."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from . import _iophase
from ._base import CLASSES
from ._columns import table_of
from ._errors import TraceWarning, UsageError

if TYPE_CHECKING:
    from ._answers import Comparison, Info, Truth
    from ._iophase import Trace

#: What a trace is given as: a path, the content of a file, an open file, a trace, or data in memory (see `from_arrow`).
Source: TypeAlias = Any
#: False, True for a line on standard error, or a function of what is done and what there is to do, in bytes or files.
Progress: TypeAlias = Union[bool, Callable[[int, int], object], None]

#: Keywords that say how a trace is read. A trace that was opened is read already.
READING = frozenset(
    "format layer metric pattern pattern_file io_names bytes_arg columns kind unit time_unit stamp row_stamp sep time_step".split()
)


def as_input(source: Source) -> Any:
    """An input as the native part takes it."""
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source)
    if isinstance(source, _iophase.Trace):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        return ("-", bytes(source))
    table = table_of(source)
    if table is not None:
        return table
    read = getattr(source, "read", None)
    if read is not None:
        content = read()
        name = getattr(source, "name", "-")
        content = content.encode() if isinstance(content, str) else bytes(content)
        return (name if isinstance(name, str) else "-", content)
    found = f"{type(source).__name__} is no trace"
    expected = "a path, bytes, an open file, a Trace, or data: arrays in a dict, a list of dicts, a Series, a frame"
    raise UsageError(f"{found}; expected {expected}", found=found, expected=expected)


def as_inputs(source: Source) -> list[Any]:
    """The inputs of a source or of several."""
    alone = (str, bytes, bytearray, memoryview, os.PathLike, _iophase.Trace)
    if isinstance(source, alone) or hasattr(source, "read"):
        return [as_input(source)]
    table = table_of(source)
    if table is None and isinstance(source, Iterable):
        return [as_input(s) for s in source]
    return [as_input(source) if table is None else table]


def as_text(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    return str(value)


def arguments(keywords: Mapping[str, Any], defaults: Mapping[str, Any], several: Iterable[str] = ()) -> list[str]:
    """The arguments of the program for keywords that differ from their defaults."""
    made = []
    for name, value in keywords.items():
        if value is None or (name in defaults and type(value) is type(defaults[name]) and value == defaults[name]):
            continue
        option = "--" + name.rstrip("_").replace("_", "-")
        if isinstance(value, bool):
            if value:
                made.append(option)
            elif name not in defaults:
                raise UsageError(f"{name} is False", found=f"{name} is False")
        elif isinstance(value, (list, tuple, set, frozenset, range)):
            texts = [as_text(v) for v in value]
            made.extend(f"{option}={t}" for t in (texts if name in several else [",".join(texts)]))
        else:
            made.append(f"{option}={as_text(value)}")
    return made


class _Bar:
    """Progress as a line on standard error, written over itself."""

    def __init__(self) -> None:
        self.shown = False

    def __call__(self, done: int, total: int) -> None:
        import sys

        share = min(1.0, done / total) if total else 0.0
        sys.stderr.write(f"\r{'#' * round(30 * share):<30} {share:4.0%}")
        sys.stderr.flush()
        self.shown = True

    def end(self) -> None:
        import sys

        if self.shown:
            sys.stderr.write("\r" + " " * 36 + "\r")
            sys.stderr.flush()


class _Told:
    """The function that the native part calls with its progress."""

    def __init__(self, progress: Progress) -> None:
        self.bar = _Bar() if progress is True else None
        self.call = self.bar or (progress if callable(progress) else None)

    def __enter__(self) -> Callable[[int, int], object] | None:
        return self.call

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.end()


def warn(all_warnings: list[tuple[str, str, str | None]], path: str | None, level: int = 4) -> None:
    for code, message, remedy in all_warnings:
        warnings.warn(TraceWarning(code, message, remedy, path), stacklevel=level)


def refuse_reading(inputs: list[Any], given: list[str]) -> None:
    """Keywords that say how a file is read mean nothing for a trace that was opened."""
    if not any(isinstance(i, _iophase.Trace) for i in inputs):
        return
    for argument in given:
        name = argument[2:].split("=")[0].replace("-", "_")
        if name in READING:
            found = f"{name} is given with a trace that is read already"
            raise UsageError(f"{found}; give it to open()", found=found, remedy="give it to open()")


def one(command: str, kind: str, source: Source, keywords: dict[str, Any], spec: Any) -> Any:
    """The answer of a command on a source."""
    progress = keywords.pop("progress", None)
    inputs = as_inputs(source) if command == "dfg" else [as_input(source)]
    given = arguments(keywords, *spec)
    refuse_reading(inputs, given)
    with _Told(progress) as tell:
        native = _iophase.answer(command, inputs, given, 0, tell)
    name = inputs[0] if isinstance(inputs[0], str) else None
    warn(native.warnings, name)
    return CLASSES[kind]._made(native.json, native)  # type: ignore[attr-defined]


def comparison(before: Source, after: Source, keywords: dict[str, Any], spec: Any) -> Comparison:
    progress = keywords.pop("progress", None)
    a, b = as_inputs(before), as_inputs(after)
    given = arguments(keywords, *spec)
    refuse_reading(a + b, given)
    with _Told(progress) as tell:
        native = _iophase.answer("compare", a + b, given, len(a), tell)
    warn(native.warnings, None)
    made: Comparison = CLASSES["Comparison"]._made(native.json, native)  # type: ignore[attr-defined]
    return made


def opened(source: Source, keywords: dict[str, Any], spec: Any) -> Trace:
    progress = keywords.pop("progress", None)
    given = as_input(source)
    if isinstance(given, _iophase.Trace):
        refuse_reading([given], arguments(keywords, *spec))
        return given
    with _Told(progress) as tell:
        trace = _iophase.open(given, arguments(keywords, *spec), tell)
    warn(trace._warnings, trace.path)
    return trace


class Page(str):
    """An HTML page that needs nothing else. In a notebook it shows itself."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file, which is not to hold a trace."""
        _iophase.store_page(os.fsdecode(path), self)

    def _repr_html_(self) -> str:
        import html

        return f'<iframe srcdoc="{html.escape(self)}" width="100%" height="800" style="border:1px solid #ccc"></iframe>'


def page(source: Source, output: Any, keywords: dict[str, Any], spec: Any) -> Page:
    progress = keywords.pop("progress", None)
    inputs = as_inputs(source)
    given = arguments(keywords, *spec)
    refuse_reading(inputs, given)
    if output is not None:
        _iophase.check_page(os.fsdecode(output), inputs)
    listed = ("layer mode ranks files from until min-period stripe only ignore format all-files").split()
    shown = [a.replace("=", " ", 1) for a in given if a[2:].split("=")[0] in listed]
    with _Told(progress) as tell:
        made = Page(_iophase.report_page(inputs, [*given, "--output=-"], shown, tell))
    if output is not None:
        made.save(output)
    return made


def converted(source: Source, output: Any, keywords: dict[str, Any], spec: Any) -> int:
    progress = keywords.pop("progress", None)
    given = as_input(source)
    all_arguments = arguments(keywords, *spec)
    refuse_reading([given], all_arguments)
    target = os.fsdecode(output)
    with _Told(progress) as tell:
        rows, notes = _iophase.convert_rows(given, [f"--output={target}", *all_arguments], tell)
    warn(notes, target)
    return rows


def kept(trace: Trace) -> Any:
    """The data that make a trace again in another process: the content of its file or folder, its rows, or the job."""
    function, source, *rest = trace._made
    if function == "open":
        name, content = source if isinstance(source, tuple) else (os.fsdecode(source), source)
        source = (name, content if isinstance(content, bytes) else _content(content))
    return _remade, (function, source, *rest)


def _content(path: str | os.PathLike[str]) -> bytes | dict[str, bytes]:
    """The content of a file, or of all files of a folder by their paths in it."""
    if os.path.isdir(path):
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
        return {os.path.relpath(p, path): _content(p) for p in paths}  # type: ignore[misc]
    with open(path, "rb") as file:
        return file.read()


#: Folders of traces that came from another process; they go with this one.
_unpacked: list[Any] = []


def _remade(function: str, source: Any, *rest: Any) -> Trace:
    if function == "open" and isinstance(source[1], dict):
        import tempfile

        _unpacked.append(tempfile.TemporaryDirectory(prefix="iophase-"))
        folder = os.path.join(_unpacked[-1].name, os.path.basename(os.path.normpath(source[0])))
        for name, content in source[1].items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        source = (source[0], folder)
    trace: Trace = getattr(_iophase, function)(source, *rest)
    return trace


def info_of(trace: Trace) -> Info:
    made: Info = CLASSES["Info"]._made(*_made_of("info", trace))  # type: ignore[attr-defined]
    return made


def _made_of(command: str, trace: Trace) -> tuple[str, Any]:
    native = _iophase.answer(command, [trace], [], 0, None)
    return native.json, native


def warnings_of(trace: Trace) -> list[TraceWarning]:
    return [TraceWarning(code, message, remedy, trace.path) for code, message, remedy in trace._warnings]


def truth_of(trace: Trace) -> Truth | None:
    text = trace._truth
    if text is None:
        return None
    made: Truth = CLASSES["Truth"]._made(text, None, text)  # type: ignore[attr-defined]
    return made
