"""Errors say what is wrong where, and what to try; no input ends in a panic."""

import os
import pickle
import random

import pytest

import iophase as iop
from conftest import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::iophase.TraceWarning")


def test_a_missing_file_is_a_missing_file():
    for function in (iop.analyze, iop.open, iop.findings, iop.dfg, iop.report, iop.classify):
        with pytest.raises(FileNotFoundError) as e:
            function("data/none.darshan")
        assert e.value.filename == "data/none.darshan"


def test_an_error_has_its_parts():
    content = (ROOT / "data/stable.darshan").read_bytes()
    with pytest.raises(iop.FormatError) as e:
        iop.analyze(content[:200])
    assert e.value.found and str(e.value).startswith("-: ")
    again = pickle.loads(pickle.dumps(e.value))
    assert (type(again), again.place, again.remedy, str(again)) == (type(e.value), e.value.place, e.value.remedy, str(e.value))
    with pytest.raises(iop.EmptyError) as e:
        iop.patterns("data/change.json")
    assert "offset" in e.value.remedy and e.value.path == "data/change.json"
    with pytest.raises(iop.FormatError) as e:
        iop.analyze("README.md")
    assert e.value.remedy


def test_wrong_keywords_are_named_as_keywords():
    for keywords, part in [
        ({"tolerance": 2.0}, "tolerance"),
        ({"min_period": -1}, "min_period"),
        ({"mode": "writes"}, "mode"),
        ({"filter": "lowpass"}, "cutoff"),
        ({"format": "none"}, "none"),
        ({"from_": 9.0, "until": 1.0}, "before"),
    ]:
        with pytest.raises(iop.UsageError, match=part) as e:
            iop.analyze("data/stable.darshan", **keywords)
        assert isinstance(e.value, ValueError)
    with pytest.raises(TypeError):
        iop.analyze("data/stable.darshan", no_such=1)
    with pytest.raises(iop.UsageError, match="open"):
        iop.analyze(iop.open("data/stable.darshan"), layer="posix")
    for nonsense in (7, None, 1.5, object()):
        with pytest.raises(iop.UsageError):
            iop.analyze(nonsense)


def test_names_with_dashes_and_spaces_are_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("--json", "-", " a b", "ü.darshan"):
        (tmp_path / name).write_bytes((ROOT / "data/stable.darshan").read_bytes())
    for name in ("--json", " a b", "ü.darshan", "./-"):
        assert iop.analyze(name).primary is not None
    assert iop.analyze(tmp_path / "--json").primary is not None


@pytest.mark.long
def test_a_thousand_damaged_inputs_raise_or_are_read():
    samples = [p.read_bytes() for p in sorted((ROOT / "data").iterdir()) if p.suffix in (".darshan", ".json", ".msgpack")]
    samples += [p.read_bytes() for p in sorted((ROOT / "data/stable.strace").iterdir())]
    rng = random.Random(1)
    outcomes = set()
    for i in range(1000):
        content = bytearray(rng.choice(samples)[: rng.randrange(1, 40_000)])
        for _ in range(rng.randrange(0, 20)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        function = (iop.open, iop.analyze, iop.findings)[i % 3]
        try:
            function(bytes(content), threads=1)
            outcomes.add("read")
        except (iop.Error, OSError) as e:
            outcomes.add(type(e).__name__)
    assert {"read", "FormatError"} <= outcomes <= {"read", "FormatError", "EmptyError", "LimitError"}


def test_an_output_that_cannot_be_written_is_an_output_error(tmp_path):
    with pytest.raises(iop.OutputError):
        iop.convert("data/stable.darshan", tmp_path / "none" / "a.csv")
    with pytest.raises(iop.UsageError):
        iop.convert("data/stable.darshan", tmp_path / "a.unknown")
    with pytest.raises(iop.UsageError, match="parameter|unexpected|bursts_"):
        iop.generate("checkpoint", no_such=1)


def test_an_output_does_not_replace_a_trace(tmp_path):
    trace, other, link = (tmp_path / name for name in ("run.csv", "other.csv", "link.html"))
    rows = "op,file,offset,size,start,end\n" + "".join(f"write,f,{i},1,{i}.0,{i}.5\n" for i in range(9))
    trace.write_text(rows)
    other.write_text(rows)
    os.link(trace, link)
    for write in (
        lambda: iop.report(trace, output=trace),
        lambda: iop.report(trace, output=other),
        lambda: iop.report(trace, output=link),
        lambda: iop.report(trace).save(other),
        lambda: iop.convert(trace, trace),
        lambda: iop.convert(trace, other),
        lambda: iop.Predictor().save(other),
    ):
        with pytest.raises(iop.UsageError) as e:
            write()
        assert e.value.remedy and trace.read_text() == other.read_text() == rows
    mine = tmp_path / "mine.csv"
    assert iop.convert(trace, mine) == iop.convert(trace, mine) == 9
