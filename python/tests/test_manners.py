"""Threads, signals, memory: what a library owes its process."""

import gc
import os
import signal
import subprocess
import sys
import threading

import pytest

import iophase as iop
from conftest import ROOT, memory_kib

pytestmark = pytest.mark.filterwarnings("ignore::iophase.TraceWarning")


class Never:
    """A table whose rows never come: its stream waits for an event."""

    def __init__(self):
        self.asked, self.go = threading.Event(), threading.Event()

    def __arrow_c_stream__(self, requested_schema=None):
        import pyarrow as pa

        schema = pa.schema([("op", pa.string()), ("size", pa.int64()), ("start_s", pa.float64())])

        def batches():
            self.asked.set()
            self.go.wait()
            yield pa.record_batch({"op": ["write"], "size": [1], "start_s": [0.0]}, schema=schema)

        return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()


def test_other_threads_run_during_work():
    pytest.importorskip("pyarrow")
    table = Never()
    done = []
    thread = threading.Thread(target=lambda: done.append(iop.from_arrow(table)))
    thread.start()
    # this thread runs only if the other, which waits inside the library, holds no lock
    assert table.asked.wait(60)
    assert iop.analyze("data/stable.darshan").primary is not None
    table.go.set()
    thread.join()
    assert len(done[0]) == 1


@pytest.mark.parametrize("call", [iop.from_arrow, iop.analyze, lambda table: iop.Predictor().feed(table)], ids=["from_arrow", "analyze", "feed"])
def test_ctrl_c_ends_the_call(call):
    pytest.importorskip("pyarrow")
    table = Never()

    def interrupt():
        table.asked.wait()
        signal.raise_signal(signal.SIGINT)

    # a process started in the background ignores the signal, and Python then has no handler for it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call(table)
    finally:
        table.go.set()
        signal.signal(signal.SIGINT, before)
    assert iop.analyze("data/stable.darshan").primary is not None


def test_traces_are_analysed_from_many_threads():
    wanted = iop.analyze("data/stable.darshan")
    got = []
    threads = [threading.Thread(target=lambda: got.extend(iop.analyze("data/stable.darshan") for _ in range(5))) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(got) == 40 and set(got) == {wanted}
    assert iop.analyze("data/stable.darshan", threads=1) == wanted


def test_a_predictor_is_fed_from_many_threads():
    p = iop.Predictor(every="burst")
    trace = iop.open("data/stable.darshan")
    got = []
    threads = [threading.Thread(target=lambda k=k: got.append(p.feed(trace, job=str(k)))) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    # each job has its own predictions, whatever the order
    assert len(got) == 8 and len({len(g) for g in got}) == 1
    assert {g[-1].period_s for g in got} == {iop.Predictor(every="burst").feed(trace)[-1].period_s}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_works():
    wanted = iop.analyze("data/stable.darshan")
    child = os.fork()
    if child == 0:
        fed = iop.Predictor().feed("data/stable.darshan")
        os._exit(0 if iop.analyze("data/stable.darshan") == wanted and fed[-1].periodic else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_progress_is_told_and_may_stop():
    seen = []
    iop.open("data/stable.darshan", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == os.path.getsize("data/stable.darshan")

    class Enough(Exception):
        pass

    def enough(done, total):
        raise Enough

    with pytest.raises(Enough):
        iop.analyze("data/stable.darshan", progress=enough)
    many = []
    iop.analyze_many(["data/stable.darshan"] * 3, progress=lambda done, total: many.append((done, total)))
    assert many[-1] == (3, 3)


def test_nothing_is_printed(capfd):
    iop.analyze("data/stable.darshan")
    iop.findings("data/stable-heatmap.darshan")
    with pytest.raises(iop.Error):
        iop.analyze("README.md")
    out = capfd.readouterr()
    assert (out.out, out.err) == ("", "")
    iop.analyze("data/stable.darshan", progress=True)
    assert capfd.readouterr().out == ""


@pytest.mark.long
def test_a_thousand_calls_leak_nothing():
    def calls(n):
        for _ in range(n):
            report = iop.analyze("data/stable.darshan")
            report.primary.bandwidth().to_dict()
            iop.open("data/stable.darshan").requests().__arrow_c_stream__()
            try:
                iop.analyze(b"\0" * 100)
            except iop.Error:
                pass
        gc.collect()
        return memory_kib()

    before = calls(200)
    after = calls(1000)
    # the log takes 0.2 MB in memory: one that is kept of each call would be 200 MB
    assert after - before < 20_000, f"{after - before} KiB more"


def test_import_takes_no_other_package():
    code = "import sys, iophase; print(sorted(m for m in sys.modules if m in ('numpy', 'pandas', 'pyarrow', 'polars', 'json', 'typing_extensions')))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
