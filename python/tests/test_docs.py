"""Documentation runs: docstrings, README, notebook; stubs are what the schemas and the program say."""

import doctest
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import iophase as iop
from conftest import ROOT
from iophase import _commands, _more

HERE = ROOT / "python"


@pytest.mark.parametrize("module", [iop, _commands, _more], ids=lambda m: m.__name__)
def test_docstrings_run(module):
    failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0 and tried > 1


@pytest.mark.filterwarnings("ignore::iophase.TraceWarning")
@pytest.mark.parametrize("page", ["python/README.md", "docs/from-pydarshan.md"])
def test_pages_run(page, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert blocks
    names = {}
    for block in blocks:
        needed = re.findall(r"import (polars|pandas|pyarrow|duckdb|numpy)|to_(pandas)\(|()\.axes\(", block)
        if all(importlib.util.find_spec("".join(package) or "matplotlib") for package in needed):
            exec(compile(block, page, "exec"), names)


def tasks():
    """Title, lines of the peer and of this package of each task."""
    text = (ROOT / "docs/from-pydarshan.md").read_text()
    found = re.findall(r"### (.*?)\n\n```py\n(.*?)```\n\n```python\n(.*?)```", text, re.S)
    return [(title, theirs.strip().splitlines(), ours.strip().splitlines()) for title, theirs, ours in found]


def test_lines_of_tasks_are_counted():
    text = (ROOT / "docs/from-pydarshan.md").read_text()
    assert len(tasks()) == text.count("\n### ") >= 10
    for title, theirs, ours in tasks():
        assert re.search(rf"\| {title} \(\w+\) \| {len(theirs)} \| {len(ours)} \|", text), title
        assert max(map(len, theirs + ours)) <= 130, title


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title, theirs", [t[:2] for t in tasks()], ids=[t[0] for t in tasks()])
def test_lines_of_peers_run(title, theirs, monkeypatch, tmp_path):
    # FTIO notes its calls in the folder
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("darshan" if "import darshan" in theirs else "ftio")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    exec(compile("\n".join(theirs), title, "exec"), {})


def test_every_public_name_has_documentation():
    for name in iop.__all__:
        thing = getattr(iop, name)
        assert name == "__version__" or inspect.getdoc(thing), name


@pytest.mark.parametrize("function, command", [("analyze", "analyze"), ("findings", "findings"), ("dfg", "dfg"), ("classify", "classify")])
def test_help_has_what_the_help_of_the_command_has(function, command, program):
    documented = " ".join(inspect.getdoc(getattr(iop, function)).split())
    of_command = program(command, "--help-all")
    for keyword in inspect.signature(getattr(iop, function)).parameters:
        if keyword not in ("source", "progress"):
            assert "--" + keyword.rstrip("_").replace("_", "-") in of_command, keyword
            assert f"{keyword}: " in documented


@pytest.mark.skipif(not (HERE / "scripts").is_dir(), reason="not in the repository")
def test_generated_files_are_those_of_the_schemas():
    done = subprocess.run([sys.executable, str(HERE / "scripts/generate.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_hold(tmp_path):
    pytest.importorskip("mypy")
    package = Path(iop.__file__).parent
    for command in (["mypy", "--strict", "-p", "iophase"], ["mypy.stubtest", "iophase", "--ignore-missing-stub"]):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    use = tmp_path / "use.py"
    use.write_text(
        "import iophase as iop\n"
        "report = iop.analyze('x', mode='write')\n"
        "reveal_type(report.signals[0].period.dominant)\n"
        "iop.analyze('x', mode='writes')\n"
        "report.signals[0].bytes = 1\n"
    )
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(use)], capture_output=True, text=True, cwd=tmp_path)
    assert "Dominant | None" in done.stdout and done.stdout.count("error:") == 2, done.stdout
    assert package


def test_pyright_agrees(tmp_path):
    pytest.importorskip("pyright")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(Path(iop.__file__).parent)],
        capture_output=True, text=True, cwd=tmp_path,
    )
    if "error TS" in done.stderr or "nodeenv" in done.stderr + done.stdout and "Error" in done.stderr:
        pytest.skip("pyright cannot be installed here: " + done.stderr[-200:])
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_notebook_runs(tmp_path):
    nbconvert = pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    assert nbconvert
    book = HERE / "examples" / "iophase.ipynb"
    done = subprocess.run(
        [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "--output-dir", str(tmp_path), str(book)],
        capture_output=True, text=True, cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "iophase.html").read_text()
    assert page.count("<svg") + page.count("data:image/svg") >= 5 and "Traceback" not in page
