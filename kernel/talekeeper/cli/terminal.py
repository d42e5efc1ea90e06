"""What a console script does before it prints."""

from __future__ import annotations

import sys


def never_fail_to_print() -> None:
    """A terminal that cannot show a character gets its escape, not a fault."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
