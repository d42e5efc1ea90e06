"""The optional packages of the scripts beside it: who lacks one is told which extra brings it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec


def require(extra: str, modules: Iterable[str]) -> None:
    """Ends the process with one sentence when one of `modules`, each without a dot, is not installed."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        sys.exit(f"not installed here: {', '.join(missing)}; run: pip install -e '.[{extra}]'")
