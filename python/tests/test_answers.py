"""Answers are those of the command, byte for byte, and behave as Python objects do."""

import json
import pickle
import re
import warnings

import pytest

import iophase as iop
from conftest import DATA, ROOT

pytestmark = pytest.mark.filterwarnings("ignore::iophase.TraceWarning")
COMMANDS = ["analyze", "findings", "patterns", "classify", "dfg", "info"]
WITHOUT_OFFSETS = ("heatmap", ".json", ".msgpack")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("path", DATA)
def test_json_is_that_of_the_command(command, path, program, capfd):
    function = getattr(iop, command)
    try:
        answer = function(path)
    except iop.EmptyError:
        program(command, path, "--json", "-", code=4)
        return
    assert answer.to_json() + "\n" == program(command, path, "--json", "-")
    assert json.loads(answer.to_json()) == answer.to_dict()
    assert capfd.readouterr().out == ""


def test_comparison_and_page_are_those_of_the_command(program, tmp_path):
    pair = ["data/stable.darshan", "data/change.darshan"]
    assert iop.compare(*pair).to_json() + "\n" == program("compare", *pair, "--json", "-")
    page = iop.report(pair[0], tmp_path / "page.html", mode="write")
    assert page == program("report", pair[0], "--mode", "write", "-o", "-")
    assert (tmp_path / "page.html").read_text() == page


def test_the_same_trace_in_every_form_has_the_same_report():
    path = "data/stable.darshan"
    content = (ROOT / path).read_bytes()
    wanted = iop.analyze(path).to_dict()
    with open(path, "rb") as file:
        given = [iop.open(path), content, bytearray(content), file, ROOT / path]
        answers = [iop.analyze(g).to_dict() for g in given]
    for answer in answers:
        answer["trace"]["path"] = path
        assert answer == wanted


@pytest.mark.parametrize("path", DATA)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_opened_trace_has_the_answers_of_its_file(path, command):
    function = getattr(iop, command)
    try:
        wanted = function(path)
    except iop.EmptyError:
        with pytest.raises(iop.EmptyError):
            function(iop.open(path))
        return
    assert function(iop.open(path)) == wanted


def test_keywords_are_the_long_options(program):
    keywords = {"mode": "write", "method": "dft", "detector": "z-score", "sampling_rate": 10, "components": 3, "scores": True}
    options = ["--mode=write", "--method=dft", "--detector=z-score", "--sampling-rate=10", "--components=3", "--scores"]
    wanted = program("analyze", "data/stable.darshan", *options, "--json", "-")
    assert iop.analyze("data/stable.darshan", **keywords).to_json() + "\n" == wanted
    part = iop.analyze("data/stable.darshan", ranks=[0, 1, 2], from_=4.5, until=20.0)
    options = ["--ranks", "0-2", "--from", "4.5", "--until", "20", "--json", "-"]
    assert part.to_json() + "\n" == program("analyze", "data/stable.darshan", *options)
    band = iop.analyze("data/stable.darshan", filter="bandpass", cutoff=[0.1, 2.0])
    assert band.signals[0].period.method == "autocorrelation"


def test_fields_are_those_of_the_json_and_read_only():
    report = iop.analyze("data/two-periods.darshan")
    signal = report.signal("write")
    plain = report.to_dict()["signals"][0]
    assert signal.to_dict() == plain
    assert signal.period.dominant.period_s == plain["period"]["dominant"]["period_s"] == signal.period.period_s
    assert [o.period_s for o in signal.period.others] == [o["period_s"] for o in plain["period"]["others"]]
    with pytest.raises(AttributeError):
        signal.bytes = 1
    with pytest.raises(AttributeError):
        report.signals = []
    with pytest.raises(AttributeError, match="no_such"):
        report.no_such
    signal.to_dict()["period"].clear()
    assert signal.period.period_s
    with pytest.raises(iop.UsageError, match="write"):
        report.signal("read_async")


def test_tables_of_a_signal_agree_with_its_report():
    signal = iop.analyze("data/stable.darshan").primary
    rate = signal.bandwidth()
    assert len(rate) == signal.samples
    assert sum(rate["bytes_per_s"].to_list()) / signal.sampling_hz == pytest.approx(signal.bytes)
    assert rate["t_s"][0] == signal.start_s
    bursts = signal.burst_table()
    assert bursts["start_s"].to_list() == signal.bursts.starts_s
    assert len(bursts) == signal.bursts.count
    spectrum = signal.spectrum()
    assert sum(spectrum["power"].to_list()) == pytest.approx(1.0)
    assert signal.validity_table()["end_s"].to_list() == [v.end_s for v in signal.validity]
    assert signal.candidates()["period_s"].to_list() == [c.period_s for c in signal.period.candidates]


def test_answers_are_values():
    a, b = (iop.analyze("data/stable.darshan") for _ in range(2))
    other = iop.analyze("data/change.darshan")
    assert a == b and hash(a) == hash(b) and a != other
    assert len({a, b, other}) == 2
    assert a.primary == b.primary and hash(a.primary) == hash(b.primary)
    again = pickle.loads(pickle.dumps(a))
    assert again == a and str(again) == str(a) and again.primary.period == a.primary.period
    assert pickle.loads(pickle.dumps(a.primary)) == a.primary
    table = iop.open("data/stable.darshan").requests()
    assert pickle.loads(pickle.dumps(table)) == table


def test_text_is_that_of_the_command(program):
    report = iop.analyze("data/stable.darshan")
    assert str(report) == program("analyze", "data/stable.darshan")
    assert str(iop.findings("data/stable.darshan")) == program("findings", "data/stable.darshan")
    assert report.text(verbose=True).startswith(str(report).splitlines()[0])


def test_notebooks_see_answer_and_picture():
    report = iop.analyze("data/stable.darshan")
    shown = report._repr_html_()
    assert "periodic, every 2.000 s" in shown and shown.count("<svg") == len(report.signals)
    assert report.primary._repr_svg_().startswith("<svg")
    assert set(report.primary.pictures()) >= {"bandwidth", "spectrum"}
    assert "<svg" in iop.dfg("data/stable.strace")._repr_svg_()
    assert "srcdoc" in iop.report("data/stable.darshan")._repr_html_()
    rows = iop.open("data/stable.darshan").requests()
    assert rows._repr_html_().count("<tr>") == 21 and "20 of 1792 rows" in rows._repr_html_()
    # names from traces are text, not markup
    hostile = iop.from_arrow(iop.Table._of_lists([
        ("op", "text", ["write"]), ("size", "uint64", [1]), ("start_s", "float64", [0.0]), ("file", "text", ["<script>x"]),
    ]))
    assert "<script>" not in hostile.requests()._repr_html_()


def test_warnings_are_python_warnings_and_in_the_report():
    with pytest.warns(iop.TraceWarning) as seen:
        report = iop.analyze("data/stable.darshan", sampling="point", sampling_rate=1)
    assert [w.message.code for w in seen] == [w.code for w in report.warnings]
    assert seen[0].filename == __file__ and "sampling_rate" in seen[0].message.remedy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        iop.analyze("data/stable.darshan")


def test_info_and_version_are_those_of_the_command(program):
    assert iop.open("data/stable.darshan").info == iop.info("data/stable.darshan")
    assert program("--version").split() == ["iophase", iop.__version__]


def test_exit_codes_of_the_command_reach_the_shell(program):
    program("analyze", "data/none.darshan", code=3)
    program("analyze", "--no-such-option", code=2)
    program("classify", "data/change.json", code=4)


def test_generated_traces_have_their_truth(tmp_path, program):
    trace = iop.generate("checkpoint", period=12, seed=3)
    out = tmp_path / "a.csv"
    assert iop.convert(trace, out) == len(trace)
    program("generate", "checkpoint", "--period", "12", "--seed", "3", "-q", "-o", str(tmp_path / "b.csv"), "--truth", str(tmp_path / "t.json"))
    assert out.read_text() == (tmp_path / "b.csv").read_text()
    assert trace.truth.to_json() + "\n" == (tmp_path / "t.json").read_text()
    assert iop.analyze(trace).primary.period.period_s == pytest.approx(trace.truth.periods[0].period_s, rel=0.01)
    assert iop.open("data/stable.darshan").truth is None


def test_conversion_is_that_of_the_command(tmp_path, program):
    rows = iop.convert("data/stable.darshan", tmp_path / "a.jsonl", ranks="0-3")
    program("convert", "data/stable.darshan", "-qq", "-o", str(tmp_path / "b.jsonl"), "--ranks", "0-3")
    assert (tmp_path / "a.jsonl").read_text() == (tmp_path / "b.jsonl").read_text()
    assert rows == len((tmp_path / "a.jsonl").read_text().splitlines())
    with pytest.warns(iop.TraceWarning):
        iop.convert("data/stable.darshan", tmp_path / "a.msgpack")


def test_many_logs_are_one_table():
    paths = [*DATA, "data/README.md", "data/none"]
    table = iop.analyze_many(paths)
    rows = table.to_dicts()
    assert [p for p in dict.fromkeys(r["path"] for r in rows)] == paths
    of = {(r["path"], r["mode"]): r for r in rows}
    signal = iop.analyze("data/stable.darshan").primary
    row = of["data/stable.darshan", "write"]
    assert (row["period_s"], row["bursts"], row["bytes"]) == (signal.period.period_s, signal.bursts.count, signal.bytes)
    assert row["error"] is None and row["job"] == 8742 and row["first_burst_unix_s"] > 1e9
    assert of["data/none", None]["error"] and of["data/README.md", None]["error"]
    assert iop.analyze_many(paths, threads=1) == table
    assert len(iop.analyze_many(paths, on_error="skip")) == len(table) - 2 - sum(r["error"] is not None for r in rows[:-2])
    with pytest.raises((iop.Error, OSError)):
        iop.analyze_many(paths, on_error="raise")
    with pytest.raises(iop.UsageError):
        iop.analyze_many([], on_error="nothing")
    assert len(iop.analyze_many([])) == 0


def test_many_logs_have_the_columns_of_a_fleet():
    source = (ROOT / "fleet/src/tables/signals.rs").read_text()
    fields = re.findall(r"pub (\w+): (\w+)", source)
    names = [name + "_unix_s" if kind == "Time" else name for name, kind in fields]
    assert len(names) > 20
    assert iop.analyze_many([]).columns == ["path", "job", *names, "error"]


def test_predictions_go_on_after_a_restart(tmp_path):
    def burst(k):
        return [{"op": "write", "size": 2**20, "start_s": 10.0 * k, "end_s": 10.0 * k + 1, "rank": 0}]

    whole, first = iop.Predictor(window="hits"), iop.Predictor(window="hits")
    wanted = [p for k in range(12) for p in whole.feed(burst(k))]
    got = [p for k in range(6) for p in first.feed(burst(k))]
    first.save(tmp_path / "state")
    second = iop.Predictor.load(tmp_path / "state")
    got += [p for k in range(6, 12) for p in second.feed(burst(k))]

    def timeless(p):
        return {k: v for k, v in p.to_dict().items() if k != "emitted_unix_s"}

    assert [timeless(p) for p in got] == [timeless(p) for p in wanted]
    assert wanted[-1].periodic and wanted[-1].next_start_s == pytest.approx(120, abs=0.5)
    with pytest.raises(FileNotFoundError):
        iop.Predictor.load(tmp_path / "none")
    with pytest.raises(iop.UsageError, match="window"):
        iop.Predictor(window="x")


def test_predictor_takes_tables_and_traces():
    trace = iop.open("data/stable.darshan")
    by_burst = iop.Predictor(every="burst").feed(trace)
    assert len(by_burst) > 3 and by_burst[-1].period_s == pytest.approx(2.0, rel=0.01)
    [from_table] = iop.Predictor().feed(trace.requests())
    [from_file] = iop.Predictor().feed("data/stable.darshan")
    assert from_table.period_s == from_file.period_s


def test_a_wrong_row_of_a_predictor_is_named():
    for row in [{"op": "write"}, {"op": "write", "size": "x", "start_s": 0.0}, {"size": 1, "start_s": 0.0}]:
        with pytest.raises(iop.FormatError, match="record 1"):
            iop.Predictor().feed([{"op": "write", "size": 1, "start_s": 0.0}, row])


def test_schemas_hold():
    for name, version in [("report", 1), ("findings", 2), ("comparison", 1)]:
        assert json.loads(iop.schema(name))["title"] == f"iophase.{name}.v{version}"
    with pytest.raises(iop.UsageError):
        iop.schema("none")
