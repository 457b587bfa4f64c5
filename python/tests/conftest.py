"""Runs in the repository's folder, so that paths are those of the documentation."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = sorted(
    str(p.relative_to(ROOT))
    for p in (ROOT / "data").iterdir()
    if p.suffix in (".darshan", ".json", ".msgpack", ".strace")
)


@pytest.fixture(autouse=True)
def in_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def program():
    """Runs the command of the wheel; gives its standard output."""

    def run(*arguments, code=0):
        done = subprocess.run(["iophase", *arguments], capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == code, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def data():
    return DATA


def memory_kib(field="VmRSS"):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))


os.environ.setdefault("NO_COLOR", "1")
