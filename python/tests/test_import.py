"""Tables of other packages as traces."""

import pytest

import iophase as iop

ROWS = {
    "op": ["write", "read", "write", "read"],
    "size": [100, 200, 300, 400],
    "start_s": [0.0, 1.0, 2.0, 3.0],
    "end_s": [0.5, 1.5, 2.5, 3.5],
    "rank": [0, 1, 0, 1],
    "file": ["/a", "/b", "/a", "/b"],
    "offset": [0, 0, 100, 200],
}


def without_name(report):
    plain = report.to_dict()
    for key in ("path", "format", "layer", "job", "ranks", "files"):
        plain["trace"].pop(key)
    plain.pop("clock")
    plain.pop("quality")
    for signal in plain["signals"]:
        for prediction in [signal["prediction"], *(o["prediction"] for o in signal["period"]["others"])]:
            if prediction:
                prediction.pop("next_start_unix_s")
    return plain


@pytest.mark.parametrize("path", ["data/stable.darshan", "data/two-periods.darshan", "data/aperiodic.darshan"])
def test_rows_that_go_out_and_in_have_the_same_report(path):
    trace = iop.open(path)
    wanted = without_name(iop.analyze(path))
    assert without_name(iop.analyze(trace.requests())) == wanted
    assert without_name(iop.analyze(iop.from_arrow(trace.requests(), ranks=8))) == wanted


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow", "duckdb"])
def test_every_producer_has_the_same_report(package):
    module = pytest.importorskip(package)
    trace = iop.open("data/stable.darshan")
    wanted = without_name(iop.analyze(trace))
    if package == "pandas":
        pytest.importorskip("pyarrow")
        given = trace.requests().to_pandas()
        given["op"] = given["op"].astype(str)
    elif package == "polars":
        given = module.DataFrame(trace.requests())
    elif package == "pyarrow":
        given = module.table(trace.requests())
    else:
        pytest.importorskip("pyarrow")
        connection = module.connect()
        connection.register("rows_of", trace.requests())
        given = connection.sql("select op::varchar as op, size, start_s, end_s, rank, file::varchar as file, \"offset\" from rows_of order by start_s")
        assert iop.analyze(given).primary.period.period_s == pytest.approx(2.0, rel=1e-3)
        return
    assert without_name(iop.analyze(given)) == wanted


@pytest.fixture
def pa():
    return pytest.importorskip("pyarrow")


def test_any_type_that_holds_the_values_will_do(pa):
    wanted = iop.from_arrow(pa.table(ROWS)).requests()
    for column, types in {
        "op": [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.large_string())],
        "file": [pa.large_string(), pa.string_view(), pa.dictionary(pa.uint16(), pa.string())],
        "size": [pa.uint64(), pa.int32(), pa.uint16(), pa.float64(), pa.float32()],
        "offset": [pa.uint64(), pa.int16(), pa.float64()],
        "rank": [pa.uint8(), pa.int64(), pa.uint32(), pa.float64()],
        "start_s": [pa.float32(), pa.int64(), pa.uint32()],
    }.items():
        for of in types:
            table = pa.table({**ROWS, column: pa.array(ROWS[column]).cast(of)})
            assert iop.from_arrow(table).requests() == wanted, (column, of)
    assert iop.from_arrow(pa.table(ROWS).rename_columns(["op", "bytes", "start", "end", "rank", "file", "offset"])).requests() == wanted


def test_chunks_are_one_trace(pa):
    table = pa.table(ROWS)
    chunks = pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1, 3)])
    assert iop.from_arrow(chunks).requests() == iop.from_arrow(table).requests()
    # a slice of a larger table starts inside its memory
    assert iop.from_arrow(table.slice(2)).requests()["size"].to_list() == [300, 400]
    assert iop.from_arrow(pa.RecordBatch.from_pydict(ROWS)).requests() == iop.from_arrow(table).requests()
    reader = pa.RecordBatchReader.from_batches(table.schema, (b for b in table.to_batches(max_chunksize=1)))
    assert iop.from_arrow(reader).requests() == iop.from_arrow(table).requests()


def test_what_is_missing_is_named(pa):
    with pytest.raises(iop.FormatError, match="start_s, x, y") as e:
        iop.from_arrow(pa.table({"start_s": [0.0], "x": [1], "y": [1]}))
    assert "bytes" in e.value.expected and e.value.remedy
    minimal = iop.from_arrow(pa.table({k: ROWS[k] for k in ("op", "size", "start_s")}))
    assert minimal.ranks == 1 and minimal.requests()["end_s"].to_list() == ROWS["start_s"]
    assert iop.from_arrow(pa.table(ROWS), ranks=64).ranks == 64


@pytest.mark.parametrize(
    "column, value, place",
    [
        ("size", -1, 2), ("size", None, 2), ("size", 1.5, 2), ("offset", -7, 2), ("rank", 2**40, 2),
        ("start_s", None, 2), ("start_s", float("nan"), 2), ("start_s", 1e13, 2), ("end_s", float("inf"), 2),
        ("op", "scribble", 2), ("op", None, 2),
    ],
)
def test_an_impossible_value_has_its_place(pa, column, value, place):
    values = list(ROWS[column])
    values[2] = value
    with pytest.raises(iop.FormatError, match=f"record {place}") as e:
        iop.from_arrow(pa.table({**ROWS, column: values}), name="mine")
    assert e.value.path == "mine" and column in e.value.found and e.value.expected


def test_bytes_out_of_range_are_refused(pa):
    with pytest.raises(iop.FormatError, match="record 2"):
        iop.from_arrow(pa.table({**ROWS, "size": [1, 2, 2**51, 4]}))
    many = {"op": ["write"] * 4097, "size": [2**50] * 4097, "start_s": [0.0] * 4097}
    with pytest.raises(iop.LimitError):
        iop.from_arrow(pa.table(many))


def test_a_wrong_type_is_named(pa):
    for column in ROWS:
        with pytest.raises(iop.FormatError, match=column):
            iop.from_arrow(pa.table({**ROWS, column: [[1], [2], [3], [4]]}))


def test_rows_that_end_before_they_start_are_counted(pa):
    trace = iop.from_arrow(pa.table({**ROWS, "end_s": [0.5, 0.0, 2.5, 3.5]}))
    assert [w.code for w in trace.warnings] == ["clamped-records"]
    assert trace.requests()["end_s"].to_list() == [0.5, 1.0, 2.5, 3.5]


def test_empty_tables_are_empty_traces(pa):
    empty = pa.table({"op": pa.array([], pa.string()), "size": pa.array([], pa.int64()), "start_s": pa.array([], pa.float64())})
    trace = iop.from_arrow(empty)
    assert len(trace) == 0 and len(trace.requests()) == 0
    with pytest.raises(iop.EmptyError):
        iop.analyze(trace)
    # a dictionary without values
    unknown = pa.DictionaryArray.from_arrays(pa.array([None] * 4, pa.int8()), pa.array([], pa.string()))
    assert iop.from_arrow(pa.table({**ROWS, "file": unknown})).requests()["file"].to_list() == [None] * 4


def test_a_trace_from_a_table_has_every_answer(pa):
    trace = iop.from_arrow(pa.table(ROWS), ranks=2)
    assert iop.info(trace).layers[0].bytes_written == 400
    assert iop.findings(trace).to_dict() and iop.classify(trace).files and iop.dfg(trace).nodes
    assert "<html" in iop.report(trace) and iop.patterns(trace).coverage.records == 4
    assert iop.compare(trace, trace).verdict in ("same", "cannot-tell")
