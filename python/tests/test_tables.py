"""Tables share their memory, live as long as they are used, and read the same everywhere."""

import gc
import math

import pytest

import iophase as iop
from conftest import memory_kib

pytestmark = pytest.mark.filterwarnings("ignore::iophase.TraceWarning")


@pytest.fixture
def trace():
    return iop.open("data/stable.darshan")


def sums(table):
    """Rows, bytes and times, without any other package."""
    return len(table), sum(table["size"].to_list()), sum(table["start_s"].to_list()), sum(table["end_s"].to_list())


def test_columns_are_those_of_the_requests(trace):
    table = trace.requests()
    assert table.columns == ["rank", "op", "file", "offset", "size", "start_s", "end_s"]
    assert table.schema["offset"] == "uint64" and table.num_rows == len(table) == 1792
    assert set(table["op"].to_list()) == {"write"} and set(table["rank"].to_list()) == set(range(8))
    assert table["size"][0] == table["size"][-1792] == 65536
    assert sum(table["size"].to_list()) == iop.analyze(trace).signals[0].bytes
    assert list(table.to_dict()) == table.columns == list(dict(table))
    assert list(table) == table.to_dicts() and len(list(table)) == len(table)
    assert table.to_dicts()[5]["start_s"] == table["start_s"][5]
    for bad in (1792, -1793):
        with pytest.raises(IndexError):
            table["size"][bad]
    with pytest.raises(KeyError, match="start_s"):
        table["start"]
    assert "size" in table and "bytes" not in table


def test_other_tables_of_a_trace(trace):
    counters = trace.counters("posix").to_dict()
    assert sum(counters["POSIX_BYTES_WRITTEN"]) == sum(trace.requests()["size"].to_list())
    files = trace.files().to_dict()
    assert sum(files["bytes_written"]) == sum(trace.requests()["size"].to_list()) and sum(files["writes"]) == 1792
    bins = iop.open("data/stable-heatmap.darshan")
    with pytest.raises(iop.EmptyError, match="intervals"):
        bins.requests()
    assert sum(bins.intervals()["bytes"].to_list()) == sum(bins.heatmap("posix")["bytes"].to_list())
    for call in (trace.intervals, lambda: trace.counters("h5d"), lambda: trace.heatmap("stdio")):
        with pytest.raises(iop.EmptyError):
            call()
    with pytest.raises(iop.UsageError, match="posix"):
        trace.counters("none")


def test_times_are_on_the_clock_of_the_trace():
    trace = iop.open("data/stable.strace")
    # seconds since midnight
    assert min(trace.requests()["start_s"].to_list()) == pytest.approx(iop.analyze(trace).to_dict()["trace"]["start_s"])
    assert trace.info.clock.kind == "midnight" and trace.info.start_s > 10_000


def test_a_table_outlives_its_trace(trace):
    table = trace.requests()
    wanted = sums(table)
    columns = {name: table[name] for name in table.columns}
    del trace, table
    gc.collect()
    assert sum(columns["size"].to_list()) == wanted[1]


def test_two_exports_have_one_memory(trace):
    pa = pytest.importorskip("pyarrow")
    address = [pa.table(trace.requests()).column("start_s").chunk(0).buffers()[1].address for _ in range(2)]
    assert address[0] == address[1] == trace.requests()["start_s"]._memory["data"][0]
    array = pa.array(trace.requests()["offset"])
    assert array.buffers()[1].address == pa.table(trace.requests()).column("offset").chunk(0).buffers()[1].address
    kept = pa.table(trace.requests())
    total = pa.compute.sum(kept["size"]).as_py() if hasattr(pa, "compute") else sum(kept["size"].to_pylist())
    del trace
    gc.collect()
    assert sum(kept["size"].to_pylist()) == total


def test_numpy_reads_the_memory_of_a_column(trace):
    np = pytest.importorskip("numpy")
    table = trace.requests()
    start = np.asarray(table["start_s"])
    assert start.__array_interface__["data"][0] == table["start_s"]._memory["data"][0]
    assert not start.flags.writeable
    copy = np.array(table["start_s"], copy=True)
    assert copy.flags.writeable and (copy == start).all()
    del trace, table
    gc.collect()
    assert start.sum() == copy.sum()
    assert np.asarray(iop.analyze("data/stable.darshan").primary.candidates()["harmonic_of"]).dtype == np.float64


@pytest.mark.long
def test_memory_does_not_grow_with_exports_of_ten_million_requests():
    pa, np = pytest.importorskip("pyarrow"), pytest.importorskip("numpy")
    n = 10_000_000
    rng = np.random.default_rng(1)
    given = pa.table({
        "rank": np.arange(n, dtype="uint32") % 64,
        "op": pa.DictionaryArray.from_arrays(pa.array((np.arange(n) // 7 % 2).astype("int8")), ["read", "write"]),
        "file": pa.DictionaryArray.from_arrays(pa.array((np.arange(n) % 100).astype("int32")), [f"/f{i}" for i in range(100)]),
        "offset": rng.integers(0, 2**40, n).astype("uint64"),
        "size": rng.integers(1, 2**20, n).astype("uint64"),
        "start_s": np.sort(rng.random(n)) * 1000,
    }).append_column("end_s", pa.array(np.linspace(1000, 1001, n)))
    trace = iop.from_arrow(given, ranks=64)
    del given
    gc.collect()
    pa.default_memory_pool().release_unused()
    before = memory_kib()
    tables = [pa.table(trace.requests()) for _ in range(3)]
    grown = memory_kib() - before
    assert tables[2].num_rows == n
    assert grown < 0.05 * before, f"{grown} KiB on {before} KiB"


@pytest.mark.parametrize("package", ["pyarrow", "polars", "pandas", "duckdb", "nanoarrow"])
def test_every_consumer_reads_the_same(package, trace):
    module = pytest.importorskip(package)
    table = trace.requests()
    rows, size, start, end = sums(table)
    if package == "pyarrow":
        t = module.table(table)
        got = t.num_rows, sum(t["size"].to_pylist()), math.fsum(t["start_s"].to_pylist()), math.fsum(t["end_s"].to_pylist())
        assert t["file"].to_pylist() == table["file"].to_list() and t["op"].to_pylist() == table["op"].to_list()
    elif package == "polars":
        t = module.DataFrame(table)
        assert t.equals(table.to_polars())
        got = t.height, t["size"].sum(), t["start_s"].sum(), t["end_s"].sum()
        assert t["file"].cast(module.String).to_list() == table["file"].to_list()
        assert t["offset"].to_list() == table["offset"].to_list()
    elif package == "pandas":
        t = table.to_pandas()
        got = len(t), t["size"].sum(), t["start_s"].sum(), t["end_s"].sum()
        assert t["file"].astype(object).tolist() == table["file"].to_list()
    elif package == "duckdb":
        query = "select count(*), sum(size), sum(start_s), sum(end_s) from table"
        got = module.sql(query.replace("table", "rows_of"), connection=named(module, table)).fetchall()[0]
    else:
        t = module.ArrayStream(table).read_all()
        sizes, starts, ends = (t.child(i).to_pylist() for i in (4, 5, 6))
        got = len(t), sum(sizes), math.fsum(starts), math.fsum(ends)
    assert (got[0], int(got[1])) == (rows, size)
    assert got[2] == pytest.approx(start, rel=1e-12) and got[3] == pytest.approx(end, rel=1e-12)


def named(duckdb, table):
    connection = duckdb.connect()
    connection.register("rows_of", table if not hasattr(table, "to_pyarrow") else stream_of(table))
    return connection


def stream_of(table):
    """DuckDB reads any object with a stream; the class of its own shows that nothing else is needed."""

    class Rows:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    return Rows()


def test_unknown_values_are_unknown_everywhere():
    table = iop.Table._of_lists([
        ("op", "text", ["write", "read", "write"]),
        ("size", "uint64", [1, 2, 3]),
        ("start_s", "float64", [0.0, 1.0, 2.0]),
        ("offset", "uint64", [None, 4, None]),
        ("file", "text", ["a", None, ""]),
    ])
    rows = iop.from_arrow(table).requests()
    assert rows["offset"].to_list() == [None, 4, None] and rows["file"].to_list() == ["a", None, None]
    assert rows["offset"].null_count == 2
    if pd := pytest.importorskip("pandas"):
        frame = rows.to_pandas()
        assert frame["offset"].isna().tolist() == [True, False, True] and str(frame["offset"].dtype) == "UInt64"
        assert frame["file"].isna().tolist() == [False, True, True] and pd is not None


def test_a_package_that_is_absent_is_named(trace, monkeypatch):
    import sys

    for name, call in (("pandas", "to_pandas"), ("polars", "to_polars"), ("pyarrow", "to_pyarrow")):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=f"pip install '{name}"):
            getattr(trace.requests(), call)()
