"""The command `iophase`."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Runs the program on the arguments of the process."""
    from . import _iophase

    # the program's own handling of Ctrl-C, in place of Python's
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _iophase.command(["iophase", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
