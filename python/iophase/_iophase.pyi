from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias, final

from typing_extensions import CapsuleType

from ._answers import Info, Truth
from ._errors import TraceWarning
from ._figure import Heat

_Input: TypeAlias = Any
_Progress: TypeAlias = Callable[[int, int], object] | None
_Warnings: TypeAlias = list[tuple[str, str, str | None]]

__VERSION__: Final[str]

@final
class Table:
    """Columns of equal length, as Arrow has them."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    @property
    def schema(self) -> dict[str, str]:
        """Names of the columns, and their types as Arrow spells them."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""

    def __len__(self) -> int: ...
    def __getitem__(self, name: str, /) -> Column: ...
    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows as dicts."""

    def keys(self) -> list[str]:
        """Names of the columns, so that dict(table) has them."""

    def __contains__(self, name: object, /) -> bool: ...
    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as a list of dicts."""

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as a dict of lists."""

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""

    def to_polars(self) -> Any:
        """A polars.DataFrame, without a copy of the numbers."""

    def to_pyarrow(self) -> Any:
        """A pyarrow.Table, without a copy."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @staticmethod
    def _of_buffers(columns: Sequence[tuple[str, str, bool, Any]]) -> Table: ...
    @staticmethod
    def _of_lists(columns: Sequence[tuple[str, str, Sequence[Any]]]) -> Table: ...

@final
class Column:
    """A column of a table."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[CapsuleType, CapsuleType]: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    @property
    def name(self) -> str:
        """Name of the column."""

    @property
    def type(self) -> str:
        """Type of the values as Arrow spells it."""

    @property
    def null_count(self) -> int:
        """Number of unknown values."""

    def __len__(self) -> int: ...
    def __getitem__(self, i: int, /) -> Any: ...
    def to_list(self) -> list[Any]:
        """The values; None where they are unknown."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    @property
    def _memory(self) -> dict[str, Any]: ...
    def _unknown(self) -> list[bool] | None: ...
    def _dictionary(self) -> tuple[Column, Column] | None: ...

@final
class Trace:
    """A trace that was read: rows, counters, facts about the job."""

    @property
    def path(self) -> str:
        """The file, as it was named."""

    @property
    def format(self) -> str:
        """Name of the format."""

    @property
    def ranks(self) -> int:
        """Number of processes."""

    @property
    def has_requests(self) -> bool:
        """Whether its rows are requests, with their own size and place; else they are intervals."""

    def __len__(self) -> int: ...
    def requests(self) -> Table:
        """The requests: rank, op, file, offset, size (bytes), start_s, end_s (seconds on the trace's own clock)."""

    def intervals(self) -> Table:
        """Bytes over stretches of time: rank, op, file, asynchronous, bytes, start_s, end_s."""

    def counters(self, module: str = "posix") -> Table:
        """The counters of a module, one row for each file and rank."""

    def heatmap(self, layer: str = "posix") -> Table:
        """The bins of the heat map of a layer of a Darshan log: rank, op, bytes, start_s, end_s."""

    def heat(self, op: str = "write", bins: int | None = None) -> Heat:
        """Bytes of write or read by rank and time, as an array."""

    def files(self) -> Table:
        """The files: file, system, stripe_bytes, reads, writes, bytes_read, bytes_written, first_s, last_s."""

    @property
    def info(self) -> Info:
        """Contents of the trace."""

    @property
    def warnings(self) -> list[TraceWarning]:
        """Warnings of the reader."""

    @property
    def truth(self) -> Truth | None:
        """The truth of a generated job; None for other traces."""

    @property
    def _warnings(self) -> _Warnings: ...
    @property
    def _truth(self) -> str | None: ...
    @property
    def _made(self) -> tuple[Any, ...]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __copy__(self) -> Trace: ...
    def __deepcopy__(self, _memo: object) -> Trace: ...
    def _repr_html_(self) -> str: ...

@final
class Answer:
    @property
    def json(self) -> str: ...
    @property
    def warnings(self) -> _Warnings: ...
    def text(self, verbose: bool = False) -> str: ...
    def pictures(self) -> list[tuple[str, str]]: ...
    def signal_pictures(self, i: int, only: str | None = None) -> list[tuple[str, str]]: ...
    def figures(self, i: int, only: str | None = None) -> list[tuple[str, str]]: ...
    def bandwidth(self, i: int) -> Table: ...
    def bursts(self, i: int) -> Table: ...
    def spectrum(self, i: int) -> Table: ...

@final
class Predictor:
    def __new__(
        cls,
        window: str = "change",
        change: str = "bayesian",
        every: str = "message",
        mode: str = "auto",
        min_period: float | None = None,
    ) -> Predictor: ...
    def feed(self, data: Any, job: str | None = None, ranks: int | None = None) -> list[str]: ...
    def save(self, path: str) -> None: ...
    @staticmethod
    def load(path: str) -> Predictor: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @staticmethod
    def _of_state(state: bytes) -> Predictor: ...

def answer(
    command: str, inputs: Sequence[_Input], arguments: Sequence[str], before: int = 0, progress: _Progress = None
) -> Answer: ...
def report_page(
    inputs: Sequence[_Input], arguments: Sequence[str], shown: Sequence[str], progress: _Progress = None
) -> str: ...
def check_page(path: str, inputs: Sequence[_Input]) -> None: ...
def store_page(path: str, page: str) -> None: ...
def open(input: _Input, arguments: Sequence[str], progress: _Progress = None) -> Trace: ...
def convert_rows(
    input: _Input, arguments: Sequence[str], progress: _Progress = None
) -> tuple[int, _Warnings]: ...
def generate_rows(arguments: Sequence[str]) -> Trace: ...
def many(paths: Sequence[str], arguments: Sequence[str], on_error: str, progress: _Progress = None) -> Table: ...
def command(arguments: Sequence[str]) -> int: ...
def of_rows(rows: Table, besides: str) -> Trace: ...
def of_arrow(data: Any, name: str, ranks: int | None = None) -> Trace: ...
def schema(name: str) -> str: ...
def options(command: str) -> str: ...
