"""Data in memory is input: in every form, with the answer of the program for a file of the same rows."""

import datetime
import json
import math
import subprocess
import sys

import pytest

import iophase as iop
from conftest import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::iophase.TraceWarning")
T0 = 1_750_000_000
N = 40
START = [T0 + 12.5 * k + 0.125 * (k * 7 % 5) for k in range(N)]
SPANS = {"start": START, "end": [t + 1.5 for t in START], "bytes": [3_000_000 + 65_536 * k for k in range(N)]}
TIMES = [T0 + k / 8 for k in range(800)]
RATES = {"time": TIMES, "rate": [1e6 + k if k % 80 < 20 else 0.0 for k in range(800)]}


def answer(report):
    """The answers of a report on its signals."""
    plain = report if isinstance(report, dict) else report.to_dict()
    return [{k: s[k] for k in ("mode", "bytes", "period", "validity", "prediction", "bursts")} for s in plain["signals"]]


@pytest.fixture
def of_file(program, tmp_path):
    """The answer of the program for a file of these columns."""

    def run(columns, *options):
        rows = zip(*columns.values())
        text = ",".join(columns) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
        (tmp_path / "rows.csv").write_text(text)
        return answer(json.loads(program("analyze", str(tmp_path / "rows.csv"), *options, "--json", "-")))

    return run


@pytest.fixture
def spans_of_file(of_file):
    renamed = {"op": ["write"] * N, "size": SPANS["bytes"], "start": SPANS["start"], "end": SPANS["end"]}
    return of_file(renamed)


@pytest.fixture
def rates_of_file(of_file):
    return of_file(RATES, "--columns", "time=time,value=rate")


def forms(columns, numpy=None, pandas=None, polars=None, pyarrow=None):
    """The same columns in every form that a notebook holds."""
    yield "dict of lists", columns
    yield "list of dicts", [dict(zip(columns, row)) for row in zip(*columns.values())]
    yield "upper case", {k.upper(): v for k, v in columns.items()}
    if numpy:
        arrays = {k: numpy.array(v) for k, v in columns.items()}
        yield "dict of arrays", arrays
        yield "strided", {k: numpy.repeat(v, 2)[::2] for k, v in arrays.items()}
        yield "big endian", {k: v.astype(v.dtype.newbyteorder(">")) for k, v in arrays.items()}
        yield "records", numpy.rec.fromarrays(list(arrays.values()), names=list(columns))
        yield "list of dicts of scalars", [dict(zip(columns, row)) for row in zip(*arrays.values())]
    if pandas:
        frame = pandas.DataFrame(columns)
        yield "pandas", frame
        yield "pandas, filtered", pandas.concat([frame, frame])[: len(frame)].set_index(pandas.Index(range(7, 7 + len(frame))))
        yield "pandas, index", frame.set_index(list(columns)[0])
        yield "pandas, nullable", frame.convert_dtypes()
        yield "dict of series", dict(frame.items())
    if polars:
        yield "polars", polars.DataFrame(columns)
        yield "dict of polars", dict(polars.DataFrame(columns).to_dict())
    if pyarrow:
        yield "pyarrow", pyarrow.table(columns)
        yield "dict of pyarrow", {k: pyarrow.chunked_array([v[:9], v[9:]]) for k, v in columns.items()}
    yield "own table", iop.from_arrow({**columns, "op": "write"}).requests() if "bytes" in columns else None


PACKAGES = ("numpy", "pandas", "polars", "pyarrow")


@pytest.fixture
def packages():
    import importlib

    return {name: module for name in PACKAGES if (module := find(importlib, name))}


def find(importlib, name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def test_spans_in_every_form_have_the_answer_of_a_file(packages, spans_of_file):
    for name, data in forms(SPANS, **packages):
        assert answer(iop.analyze(data)) == spans_of_file, name
    assert answer(iop.detect(*SPANS.values())) == spans_of_file
    lengths = {"start": START, "duration": [1.5] * N, "size": SPANS["bytes"]}
    assert answer(iop.analyze(lengths)) == spans_of_file


def test_samples_in_every_form_have_the_answer_of_a_file(packages, rates_of_file, of_file):
    for name, data in forms(RATES, **packages):
        if data is not None:
            assert answer(iop.analyze(data)) == rates_of_file, name
    for key, kind in [("MiB", {"unit": "MiB"}), ("kind", {"kind": "bytes"}), ("stamp", {"stamp": "start"})]:
        options = [x for k, v in kind.items() for x in (f"--{k}", v)]
        assert answer(iop.analyze(RATES, **kind)) == of_file(RATES, "--columns", "time=time,value=rate", *options), key
    both = {"time": TIMES, "read_rate": RATES["rate"], "written": RATES["rate"][::-1], "cpu": [1.0] * 800}
    assert answer(iop.analyze(both)) == of_file(both, "--columns", "time=time,read=read_rate,write=written")


def test_rates_without_times_take_a_step(packages):
    report = iop.analyze(RATES["rate"], time_step=0.125)
    assert report.primary.period.period_s == pytest.approx(10.0, abs=0.1) and report.primary.start_s == 0.0
    with pytest.raises(iop.FormatError, match="time_step"):
        iop.analyze(RATES["rate"])
    same = []
    if np := packages.get("numpy"):
        same += [np.array(RATES["rate"])]
    if pd := packages.get("pandas"):
        same += [pd.Series(RATES["rate"]), pd.Series(RATES["rate"], name="MB")]
    if pl := packages.get("polars"):
        same += [pl.Series(RATES["rate"]), pl.Series("x", RATES["rate"])]
    if pa := packages.get("pyarrow"):
        same += [pa.array(RATES["rate"])]
    for data in same:
        assert answer(iop.analyze(data, time_step=0.125)) == answer(report), type(data)


def test_the_tables_of_a_report_are_input():
    signal = iop.analyze(SPANS).primary
    again = iop.analyze(signal.bandwidth()).primary
    assert again.start_s == signal.start_s and again.bytes == pytest.approx(signal.bytes)
    assert again.period.period_s == pytest.approx(signal.period.period_s, rel=0.02)
    bursts = iop.analyze(signal.burst_table()).primary
    assert bursts.period.period_s == pytest.approx(signal.period.period_s, rel=0.01)
    bins = iop.open("data/stable-heatmap.darshan")
    assert iop.analyze(bins.intervals()).primary.period.period_s == pytest.approx(iop.analyze(bins).primary.period.period_s, rel=0.05)
    assert iop.analyze(signal.bandwidth()["bytes_per_s"], time_step=1 / signal.sampling_hz).primary


def test_dates_and_lengths_have_the_seconds_of_their_unit(packages, rates_of_file, spans_of_file):
    naive = [datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=t) for t in TIMES]
    zone = datetime.timezone(datetime.timedelta(hours=5))
    zoned = [t.replace(tzinfo=datetime.timezone.utc).astimezone(zone) for t in naive]
    given = [naive, zoned]
    if np := packages.get("numpy"):
        given += [np.array(naive, dtype=f"datetime64[{unit}]") for unit in ("ms", "us", "ns")]
    if pd := packages.get("pandas"):
        given += [pd.Series(naive), pd.Series(zoned), pd.DatetimeIndex(naive).as_unit("ms")]
    if pl := packages.get("polars"):
        given += [pl.Series(naive).cast(pl.Datetime(unit)) for unit in ("ms", "us", "ns")]
    if pa := packages.get("pyarrow"):
        given += [pa.array(naive, pa.timestamp("ns")), pa.array(zoned, pa.timestamp("us", "Asia/Tokyo"))]
    for times in given:
        assert answer(iop.analyze({"time": times, "rate": RATES["rate"]})) == rates_of_file, type(times)
    if pd:
        assert answer(iop.analyze(pd.Series(RATES["rate"], index=pd.DatetimeIndex(naive)))) == rates_of_file
        frame = pd.DataFrame({"start": pd.to_datetime(START, unit="s"), "duration": pd.to_timedelta(1.5, unit="s"), "bytes": SPANS["bytes"]})
        assert answer(iop.analyze(frame)) == spans_of_file
        assert iop.analyze(pd.Series(RATES["rate"], index=pd.to_timedelta(TIMES, unit="s") - pd.to_timedelta(T0, unit="s"))).primary
    if pl:
        frame = pl.DataFrame(SPANS).with_columns(pl.from_epoch(pl.col("start") * 1e6, "us"), pl.from_epoch(pl.col("end") * 1e6, "us"))
        assert answer(iop.analyze(frame)) == spans_of_file
    milliseconds = {"time": [round(t * 1000) for t in TIMES], "rate": RATES["rate"]}
    assert answer(iop.analyze(milliseconds)) == rates_of_file
    milliseconds = {"start": [round(t * 1000) for t in START], "end": [round((t + 1.5) * 1000) for t in START], "bytes": SPANS["bytes"]}
    assert answer(iop.analyze(milliseconds, time_unit="ms")) == spans_of_file


def test_dates_keep_nanoseconds(packages):
    np = packages.get("numpy") or pytest.skip("no numpy")
    start = np.array([T0 * 10**9 + 123_456_789 + k * 10**9 for k in range(9)], dtype="datetime64[ns]")
    table = {"start": start, "end": start + np.timedelta64(7, "ns"), "bytes": np.ones(9, int)}
    rows = iop.from_arrow(table)
    assert rows.info.start_s == pytest.approx(T0 + 0.123456789, abs=1e-6)
    days = np.array(["2025-06-01", "2025-06-02"], dtype="datetime64[D]")
    assert iop.from_arrow({"start": days, "end": days, "bytes": [1, 2]}).info.start_s == 1_748_736_000
    with pytest.raises(iop.FormatError, match="record 1: when|record 1: start"):
        iop.from_arrow({"start": np.array(["2025-06-01", "NaT"], dtype="datetime64[s]"), "bytes": [1, 2]})


def test_amounts_may_be_any_and_a_direction_may_stand_alone():
    report = iop.detect([0.0, 10.0, 20.0, 30.0, 40.0, 50.0], [1.0, 11.0, 21.0, 31.0, 41.0, 51.0], [0.25] * 6)
    rate = report.signals[0].bandwidth()["bytes_per_s"].to_list()
    assert sum(rate) / report.signals[0].sampling_hz == pytest.approx(1.5) and report.primary.period.period_s == pytest.approx(10)
    assert [s.mode for s in iop.analyze({**SPANS, "op": "read"}).signals] == ["read"]
    by_rate = iop.analyze({"start": START, "end": SPANS["end"], "bandwidth": [2e6] * N})
    assert by_rate.signals[0].bytes == pytest.approx(3e6 * N)
    # rows at a moment, each with its direction; values at times, of which one has the name of a rate
    events = iop.from_arrow({"time": [1.0, 2.0], "op": ["read", "write"], "bytes": [5, 6]})
    assert events.requests()["op"].to_list() == ["read", "write"]
    theirs = {"time": TIMES, "bandwidth": RATES["rate"], "total_bytes": 7, "ranks": 1, "threads": 2}
    assert iop.analyze(theirs).primary.period == iop.analyze(RATES).primary.period
    ranks = iop.from_arrow([{**dict(zip(SPANS, row)), "rank": i % 4, "file": f"/f{i % 2}", "offset": 0} for i, row in enumerate(zip(*SPANS.values()))])
    assert ranks.ranks == 4 and ranks.requests()["file"].to_list()[:2] == ["/f0", "/f1"]
    unknown = iop.from_arrow({"start": [0.0, 1.0], "bytes": [1, 2], "file": [None, "/a"], "offset": [None, 7]}).requests()
    assert unknown["offset"].to_list() == [None, 7] and unknown["file"].to_list() == [None, "/a"]


def test_every_function_takes_data():
    rows = [{**dict(zip(SPANS, row)), "op": "write", "file": "/a", "offset": 0} for row in zip(*SPANS.values())]
    assert iop.info(rows).layers[0].writes == N and iop.patterns(rows).coverage.records == N
    assert iop.compare(rows, rows).verdict in ("same", "cannot-tell") and "<html" in iop.report(rows)
    assert iop.classify({**SPANS, "op": "write", "file": "/a", "offset": 0}).files and iop.dfg(rows).nodes
    fed = iop.Predictor().feed(SPANS)
    assert fed[-1].period_s == pytest.approx(12.5, rel=0.05) and iop.Predictor().feed([]) == []


def test_what_is_wrong_is_named_with_the_columns(packages):
    for data, parts in [
        ({"a": [1.0], "b": ["x"]}, ("a, b", "start", "bytes", "rate")),
        ({"time": [0.0, 1.0], "a": [1.0, 2.0], "b": [1.0, 2.0]}, ("time, a, b", "rate")),
        ({"start": [0.0], "end": [1.0, 2.0], "bytes": [1]}, ("start has 1", "end has 2")),
        ({"start": 5, "end": 6, "bytes": 1}, ("columns",)),
        ({}, ("no columns",)),
        ({"start": [0.0], "bytes": [b"x"]}, ("bytes",)),
        ({"start": [0.0, "x"], "bytes": [1, 2]}, ("record 1", "start", "'x'")),
        ({"begin": [0.0]}, ("begin",)),
        ({"start": ["2025-06-01"], "bytes": [1]}, ("start", "datetimes")),
        ({"start": [0.0], "end": [1.0], "bytes": [-1.5]}, ("record 0", "bytes", "-1.5")),
    ]:
        with pytest.raises((iop.FormatError, iop.UsageError)) as e:
            iop.analyze(data)
        assert all(part in str(e.value) + (e.value.remedy or "") for part in parts), str(e.value)
    with pytest.raises(iop.UsageError, match="columns"):
        iop.analyze(RATES, columns="time=time,write=rate")
    if np := packages.get("numpy"):
        with pytest.raises(iop.UsageError, match="dimensions"):
            iop.analyze(np.zeros((4, 3)))
    for nothing in ([], (), [[1, 2]], np.float64(1.0) if np else 1.0):
        with pytest.raises(iop.UsageError):
            iop.analyze(nothing)


def test_other_packages_are_not_needed(packages, monkeypatch, rates_of_file):
    """Frames of pandas without pyarrow, Series of polars without numpy."""
    given = [RATES]
    if pd := packages.get("pandas"):
        given.append(pd.DataFrame(RATES))
    for data in given:
        for name in ("pyarrow", "polars"):
            monkeypatch.setitem(sys.modules, name, None)
        assert answer(iop.analyze(data)) == rates_of_file
    monkeypatch.undo()
    if pl := packages.get("polars"):
        monkeypatch.setitem(sys.modules, "numpy", None)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        assert answer(iop.analyze(dict(pl.DataFrame(RATES).to_dict()))) == rates_of_file


@pytest.mark.skipif(not (ROOT / "python/examples").is_dir(), reason="not in the repository")
def test_three_lines_find_the_period_of_arrays():
    program = ROOT / "python/examples/period.py"
    assert len(program.read_text().splitlines()) == 3
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)
    assert math.isclose(float(done.stdout), 12.5)
