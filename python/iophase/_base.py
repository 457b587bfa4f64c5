"""Base of all answers. Their fields come from the JSON Schemas: see `_answers.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._figure import Figure
    from ._iophase import Answer as NativeAnswer
    from ._iophase import Table

#: Classes of the parts of answers, by name.
CLASSES: dict[str, type[Part]] = {}


class Field:
    """A field of an answer: read only, as the JSON has it; objects in it are parts."""

    def __init__(self, name: str, part: str, doc: str) -> None:
        self.name = name
        self.several = part.startswith("[")
        self.part = part.strip("[]")
        self.__doc__ = doc

    def __get__(self, owner: Part | None, kind: type | None = None) -> Any:
        if owner is None:
            return self
        value = owner._data[self.name]
        if value is None or not self.part:
            return value
        make = CLASSES[self.part]._of
        root = owner._root
        return [make(v, root) for v in value] if self.several else make(value, root)

    def __set__(self, owner: Part, value: object) -> None:
        raise AttributeError(f"{type(owner).__name__}.{self.name} cannot be changed")


def shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class Part:
    """A part of an answer, an object of its JSON."""

    __slots__ = ("_data", "_root")
    _names: ClassVar[tuple[str, ...]] = ()
    _data: dict[str, Any]
    _root: Answer | None

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__} is part of an answer and cannot be made alone")

    def __init_subclass__(cls) -> None:
        CLASSES[cls.__name__] = cls

    @classmethod
    def _of(cls, data: dict[str, Any], root: Answer | None) -> Any:
        part = cls.__new__(cls)
        object.__setattr__(part, "_data", data)
        object.__setattr__(part, "_root", root)
        return part

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain Python values, a copy."""
        import json

        copy: dict[str, Any] = json.loads(json.dumps(self._data))
        return copy

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Part) and self._data == other._data

    def __hash__(self) -> int:
        import json

        return hash(json.dumps(self._data, sort_keys=True))

    def __reduce__(self) -> Any:
        return type(self)._of, (self._data, self._root)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={shown(value)}" for name, value in self._data.items())
        return f"{type(self).__name__}({fields})"


class Kept:
    """Data that the native part gives to an answer, stored for one that was pickled."""

    def __init__(self, native: NativeAnswer | Kept, signals: int) -> None:
        self._texts = native.text(False), native.text(True)
        self._pictures = native.pictures()
        each = range(signals)
        self._tables = [(native.bandwidth(i), native.bursts(i), native.spectrum(i)) for i in each]
        self._drawn = [(native.signal_pictures(i), native.figures(i)) for i in each]

    def text(self, verbose: bool = False) -> str:
        return self._texts[verbose]

    def pictures(self) -> list[tuple[str, str]]:
        return self._pictures

    def signal_pictures(self, i: int, only: str | None = None) -> list[tuple[str, str]]:
        return [picture for picture in self._drawn[i][0] if only in (None, picture[0])]

    def figures(self, i: int, only: str | None = None) -> list[tuple[str, str]]:
        return [figure for figure in self._drawn[i][1] if only in (None, figure[0])]

    def bandwidth(self, i: int) -> Table:
        return self._tables[i][0]

    def bursts(self, i: int) -> Table:
        return self._tables[i][1]

    def spectrum(self, i: int) -> Table:
        return self._tables[i][2]


def _restored(kind: str, json: str, native: Kept | None, text: str | None) -> Answer:
    made: Answer = CLASSES[kind]._made(json, native, text)  # type: ignore[attr-defined]
    return made


class Answer(Part):
    """The answer of a function: attributes are the fields of its JSON, `str()` the text that the command prints."""

    __slots__ = ("_json", "_native", "_parsed", "_text")
    _json: str
    _native: NativeAnswer | Kept | None
    _text: str | None
    _parsed: dict[str, Any] | None

    @classmethod
    def _made(cls, json: str, native: NativeAnswer | Kept | None, text: str | None = None) -> Any:
        answer = cls.__new__(cls)
        for name, value in (("_json", json), ("_native", native), ("_text", text), ("_parsed", None)):
            object.__setattr__(answer, name, value)
        return answer

    @property
    def _data(self) -> dict[str, Any]:  # type: ignore[override]
        if self._parsed is None:
            import json

            object.__setattr__(self, "_parsed", json.loads(self._json))
        return self._parsed  # type: ignore[return-value]

    @property
    def _root(self) -> Answer:  # type: ignore[override]
        return self

    def to_json(self) -> str:
        """The JSON, the same text that the command writes."""
        return self._json

    def text(self, verbose: bool = False) -> str:
        """The text that the command prints, with `verbose` the one of `-v`."""
        if self._native is not None:
            return self._native.text(verbose)
        return self._text or ""

    def pictures(self) -> dict[str, str]:
        """Pictures of the answer as SVG, by name."""
        return dict(self._native.pictures()) if self._native is not None else {}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Answer) and self._json == other._json

    def __hash__(self) -> int:
        return hash(self._json)

    def __reduce__(self) -> Any:
        signals = len(self._data["signals"]) if isinstance(self, ReportBase) else 0
        native = None if self._native is None else Kept(self._native, signals)
        return _restored, (type(self).__name__, self._json, native, self._text)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<iophase.{type(self).__name__}: {shown(self.text().strip().splitlines()[0])[1:-1]}>"

    def _repr_html_(self) -> str:
        import html  # takes as long as the rest of the package

        return f'<pre style="font-family:monospace;white-space:pre-wrap">{html.escape(self.text())}</pre>'


class ReportBase(Answer):
    """Methods of a report beside its JSON."""

    __slots__ = ()

    @property
    def primary(self) -> SignalReport | None:
        """The periodic signal that moves the most bytes; None if no signal is periodic."""
        mode = self._data["primary"]
        return None if mode is None else self.signal(mode)

    def signal(self, mode: str | None = None) -> SignalReport:
        """The signal of a mode, such as `write` or `read`; without one the primary signal, else the first."""
        signals: list[SignalReport] = self.signals  # type: ignore[attr-defined]
        wanted = mode or self._data["primary"] or signals[0].mode
        for signal in signals:
            if signal.mode == wanted:
                return signal
        from ._errors import UsageError

        known = ", ".join(s.mode for s in signals)
        raise UsageError(f"the report has no signal {wanted}; there are: {known}", found=wanted, expected=known)

    def plot(self, name: str = "bandwidth") -> Figure:
        """A figure of the primary signal, else of the first."""
        return self.signal().plot(name)

    def _repr_html_(self) -> str:
        pictures = "".join(s.svg() for s in self.signals) if self._native is not None else ""  # type: ignore[attr-defined]
        return super()._repr_html_() + pictures


class SignalBase(Part):
    """Methods of a signal beside its JSON."""

    __slots__ = ()

    def _behind(self) -> tuple[NativeAnswer | Kept, int]:
        root = self._root
        assert root is not None and root._native is not None
        modes = [s["mode"] for s in root._data["signals"]]
        return root._native, modes.index(self._data["mode"])

    def bandwidth(self) -> Table:
        """The signal that was analysed: t_s (seconds on the trace's own clock), bytes_per_s."""
        native, i = self._behind()
        return native.bandwidth(i)

    def burst_table(self) -> Table:
        """The bursts of the dominant period: start_s, end_s, bytes."""
        native, i = self._behind()
        return native.bursts(i)

    def spectrum(self) -> Table:
        """The power spectrum of the signal: frequency_hz, power (share of the total), z (distance from the mean in
        standard deviations)."""
        native, i = self._behind()
        return native.spectrum(i)

    def validity_table(self) -> Table:
        """Where the dominant period holds: start_s, end_s, correlation."""
        return _table(self._data["validity"], ("start_s", "end_s", "correlation"))

    def candidates(self) -> Table:
        """Candidates of the period: frequency_hz, period_s, score, confidence, harmonic_of."""
        names = ("frequency_hz", "period_s", "score", "confidence", "harmonic_of")
        return _table(self._data["period"]["candidates"], names)

    def plot(self, name: str = "bandwidth") -> Figure:
        """A figure of the signal, by the names of `pictures()`; its `axes()` are those of matplotlib."""
        from ._errors import UsageError
        from ._figure import Figure

        native, i = self._behind()
        for (_, data), (_, svg) in zip(native.figures(i, name), native.signal_pictures(i, name)):
            return Figure(data, svg)
        known = ", ".join(self.pictures())
        raise UsageError(f"the signal has no figure {name}; there are: {known}", found=name, expected=known)

    def pictures(self) -> dict[str, str]:
        """Pictures of the signal as SVG, by name: bandwidth, spectrum, bursts and others, as its analysis has them."""
        native, i = self._behind()
        return dict(native.signal_pictures(i))

    def svg(self) -> str:
        """The bandwidth over time as SVG: bursts, where the period holds, and the next burst."""
        native, i = self._behind()
        return dict(native.signal_pictures(i, "bandwidth"))["bandwidth"]

    def _repr_svg_(self) -> str | None:
        return self.svg() if self._root is not None and self._root._native is not None else None

    # inline it has the width of the page
    _repr_html_ = _repr_svg_


def _table(rows: list[dict[str, Any]], names: tuple[str, ...]) -> Table:
    from ._iophase import Table

    return Table._of_lists([(name, "float64", [row[name] for row in rows]) for name in names])


class PeriodBase(Part):
    """Methods of the answer on a period beside its JSON."""

    __slots__ = ()

    def _of_dominant(self, name: str) -> float | None:
        dominant = self._data["dominant"]
        return None if dominant is None else dominant[name]

    @property
    def period_s(self) -> float | None:
        """The dominant period in seconds; None if there is none."""
        return self._of_dominant("period_s")

    @property
    def frequency_hz(self) -> float | None:
        """Its frequency in Hz; None if there is none."""
        return self._of_dominant("frequency_hz")

    @property
    def confidence(self) -> float | None:
        """Probability that it is right within 5 %; None if there is none."""
        return self._of_dominant("confidence")


class DfgBase(Answer):
    """Methods of a graph beside its JSON."""

    __slots__ = ()

    def svg(self) -> str:
        """The graph as a picture."""
        return self.pictures()["graph"]

    def dot(self) -> str:
        """The graph for Graphviz."""
        return self.pictures()["dot"]

    def _repr_svg_(self) -> str | None:
        return self.svg() if self._native is not None else None

    def _repr_html_(self) -> str:
        return self._repr_svg_() or super()._repr_html_()


class ComparisonBase(Answer):
    """Methods of a comparison beside its JSON."""

    __slots__ = ()

    def svg(self) -> str:
        """Both runs as a picture."""
        return self.pictures()["comparison"]

    def _repr_html_(self) -> str:
        return super()._repr_html_() + (self.svg() if self._native is not None else "")


if TYPE_CHECKING:
    from ._answers import SignalReport
