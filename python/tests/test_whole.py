"""Traces, answers and predictors go whole to other processes; figures and maps are data."""

import copy
import importlib.util
import pickle
import subprocess
import sys

import pytest

import iophase as iop
from conftest import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::iophase.TraceWarning")


def again(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("path", ["data/stable.darshan", "data/stable-heatmap.darshan", "data/stable.strace", "data/change.json"])
def test_a_trace_of_a_file_is_whole_without_the_file(path, tmp_path, monkeypatch):
    trace = iop.open(path)
    kept = pickle.dumps(trace)
    monkeypatch.chdir(tmp_path)
    other = pickle.loads(kept)
    assert repr(other) == repr(trace) and [str(w) for w in other.warnings] == [str(w) for w in trace.warnings]
    rows = "requests" if trace.has_requests else "intervals"
    assert getattr(other, rows)() == getattr(trace, rows)()
    assert iop.analyze(other) == iop.analyze(trace)
    if path.endswith(".darshan"):
        assert other.counters("posix") == trace.counters("posix") or path.endswith("heatmap.darshan")
    assert again(other).ranks == trace.ranks


def test_a_trace_of_rows_is_whole():
    spans = {"start": [0.0, 10.0, 20.0, 30.0], "end": [1.0, 9.0, 21.0, 31.0], "bytes": [5, 6, 7, 8], "op": "read", "rank": [0, 1, 2, 5]}
    samples = {"time": [1.7e9 + k / 8 for k in range(800)], "read": [1e6 * (k % 80 < 20) for k in range(800)]}
    for data in (spans, {**spans, "file": ["a", None, "a", "b"], "offset": [1, None, 2, 3]}, {**spans, "bytes": [0.5] * 4}, samples):
        trace = iop.from_arrow(data, ranks=9, name="mine")
        other = again(trace)
        assert (repr(other), [str(w) for w in other.warnings]) == (repr(trace), [str(w) for w in trace.warnings])
        assert iop.analyze(other) == iop.analyze(trace) and iop.info(other) == iop.info(trace)
    made = iop.generate("checkpoint", period=12, seed=3)
    assert again(made).truth == made.truth and again(made).requests() == made.requests()
    with open("data/stable.darshan", "rb") as file:
        opened = iop.open(file, layer="posix")
    assert again(opened).requests() == opened.requests()


def test_answers_are_whole():
    report = iop.analyze("data/two-periods.darshan")
    for other in (again(report), again(again(report)), copy.copy(report), copy.deepcopy(report)):
        assert other == report and other.text(verbose=True) == report.text(verbose=True)
        one, two = other.primary, report.primary
        assert one.bandwidth() == two.bandwidth() and one.burst_table() == two.burst_table() and one.spectrum() == two.spectrum()
        assert one.pictures() == two.pictures() and one.svg() == two.svg() and other._repr_html_() == report._repr_html_()
        assert one.plot("spectrum").panels == two.plot("spectrum").panels
    assert again(report.primary).bandwidth() == report.primary.bandwidth()
    graph = iop.dfg("data/stable.strace")
    assert again(graph).svg() == graph.svg() and again(graph).dot() == graph.dot()
    trace = iop.open("data/stable.darshan")
    assert copy.copy(trace) is trace and copy.deepcopy(trace) is trace


def test_a_predictor_is_copied_with_its_past():
    def burst(k):
        return [{"op": "write", "size": 2**20, "start_s": 10.0 * k, "end_s": 10.0 * k + 1}]

    first = iop.Predictor(window="hits")
    for k in range(8):
        first.feed(burst(k))
    others = [again(first), copy.copy(first), copy.deepcopy(first)]
    for p in others:
        assert p.feed(burst(8))[-1].period_s == pytest.approx(10.0)
    # each goes its own way
    assert first.feed(burst(8))[-1].sequence == others[1].feed(burst(9))[-1].sequence - 1


def test_one_path_is_one_log():
    assert iop.analyze_many("data/stable.darshan") == iop.analyze_many(["data/stable.darshan"])
    assert iop.analyze_many(ROOT / "data/stable.darshan")["verdict"].to_list() == ["periodic"]


def test_threads_are_bounded(program):
    for call in (iop.analyze, iop.open, iop.findings, iop.analyze_many):
        for threads in (1_000_000, -1):
            with pytest.raises(iop.UsageError, match="threads"):
                call("data/stable.darshan", threads=threads)
    program("analyze", "data/stable.darshan", "--threads", "1000000", code=2)


def test_pandas_makes_a_frame_of_a_table():
    pd = pytest.importorskip("pandas")
    table = iop.open("data/stable.darshan").requests()
    frame = pd.DataFrame(table)
    assert list(frame.columns) == table.columns and len(frame) == len(table)
    assert frame["size"].sum() == sum(table["size"].to_list()) and frame["op"].unique().tolist() == ["write"]
    assert iop.analyze(frame).primary.period == iop.analyze(table).primary.period


def test_a_heat_map_has_the_bytes_of_its_bins():
    np = pytest.importorskip("numpy")
    trace = iop.open("data/stable-heatmap.darshan")
    heat = trace.heat("write")
    cells, sparse = np.asarray(heat), trace.heatmap("posix")
    assert cells.shape == heat.shape == (trace.ranks, len(heat.to_list()[0])) and cells.sum() == pytest.approx(sum(sparse["bytes"].to_list()))
    for row in sparse.to_dicts()[:200]:
        if row["op"] == "write":
            assert cells[row["rank"], round((row["start_s"] - heat.start_s) / heat.step_s)] == pytest.approx(row["bytes"])
    assert heat.start_s == 0.0
    if importlib.util.find_spec("darshan"):
        import darshan

        theirs = darshan.DarshanReport("data/stable-heatmap.darshan").heatmaps["POSIX"].to_df(ops=["write"]).to_numpy()
        bins = heat.shape[1]
        assert np.allclose(theirs[:, :bins], cells) and not theirs[:, bins:].any()
    requests = iop.open("data/stable.darshan")
    fine = requests.heat(bins=50)
    assert fine.shape == (8, 50) and np.asarray(fine).sum(axis=1).tolist() == pytest.approx([14680064.0] * 8)
    with pytest.raises(iop.EmptyError, match="read"):
        requests.heat("read")
    with pytest.raises(iop.UsageError):
        requests.heat(bins=0)


def test_figures_are_data_and_axes():
    signal = iop.analyze("data/stable.darshan").primary
    figure = signal.plot()
    assert figure.svg == signal.svg() == figure._repr_svg_() and "2.000 s" in figure.title
    kinds = {layer["kind"] for panel in figure.panels for layer in panel["layers"]}
    assert {"area", "spans"} <= kinds and figure.panels[0]["x"]["label"]
    with pytest.raises(iop.UsageError, match="bandwidth"):
        signal.plot("none")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    for path in ("data/stable.darshan", "data/two-periods.darshan", "data/change.json"):
        report = iop.analyze(path, components=3, fourier_fit=True, scores=True) if "json" not in path else iop.analyze(path, method="cwt")
        for name in report.signal().pictures():
            axes = report.plot(name).axes()
            one = axes[0] if isinstance(axes, list) else axes
            assert one.get_title("left") == report.plot(name).title
            one.figure.canvas.draw()
            plt.close(one.figure)
    _, mine = plt.subplots()
    assert signal.plot("spectrum").axes(mine) is mine and mine.get_xlabel()
    assert iop.open("data/stable.darshan").heat().axes().get_ylabel() == "Rank"
    plt.close("all")


def test_a_package_for_axes_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install 'matplotlib"):
        iop.analyze("data/stable.darshan").plot().axes()


def test_another_process_takes_what_is_sent():
    code = "import pickle, sys; trace, report = pickle.load(sys.stdin.buffer); import iophase; print(iophase.analyze(trace) == report, len(report.primary.bandwidth()))"
    trace = iop.open("data/stable.darshan")
    report = iop.analyze(trace)
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps((trace, report)), capture_output=True, cwd="/", check=True)
    assert done.stdout.decode().split() == ["True", str(report.primary.samples)]
