"""The command line: `talekeeper …`. Commands parse, call and print; what they know they ask of the rooms below."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from talekeeper.cli.app import cli, run
    from talekeeper.cli.commands.run_plugin import look as look_at_code
    from talekeeper.cli.commands.validate_code import with_code
    from talekeeper.cli.commands.validate_plugin import command as validate_plugin
else:

    def __getattr__(name: str) -> Any:
        # Imported late: before `main` runs, Ctrl-C would end in a traceback.
        from talekeeper.faces import lazy_face  # noqa: PLC0415 - see above

        return lazy_face(__name__)(name)


__all__ = ["cli", "look_at_code", "main", "run", "validate_plugin", "with_code"]


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(130)


def main() -> None:
    """The console script: runs the arguments of the process and ends it with 0, 1, 2, or 130 after Ctrl-C."""
    # Nothing is open yet: until the command line runs, Ctrl-C may end the process on the spot, with nothing to say.
    signal.signal(signal.SIGINT, _leave)
    # A thread for each core costs numpy 50 ms of CPU at its start; a search multiplies one matrix by one vector.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imports make many objects and few circles: looking for those from the first 700 on takes 6 % of a short command.
    gc.set_threshold(50_000, 20, 100)
    from talekeeper.cli.app import run  # noqa: PLC0415 - `import talekeeper.cli` stays free of click

    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = run(sys.argv[1:])
    # Everything is closed: what the interpreter still tidies up may be cut short.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)
