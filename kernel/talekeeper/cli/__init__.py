"""The command line: `talekeeper …`. Commands parse, call and print; what they know they ask of the rooms below."""

from __future__ import annotations

import sys


def main() -> None:
    """The console script: runs the arguments of the process and ends it with 0, 1 or 2."""
    from talekeeper.cli.app import run  # noqa: PLC0415 - `import talekeeper.cli` stays free of click

    sys.exit(run(sys.argv[1:]))
