"""Faces of rooms: `from talekeeper.search import Query` loads the one module that defines `Query`, and nothing else.

A room's `__init__` writes its imports once, under `if TYPE_CHECKING:`, where type checkers and readers find them. At
run time the first use of a name makes the import that stands there: a command that lists sessions never loads numpy.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_face(room: str) -> Callable[[str], Any]:
    """The `__getattr__` (PEP 562) of the package `room`; `AttributeError` for a name that its face does not import."""
    imports: dict[str, tuple[str, str]] = {}

    def load(name: str) -> Any:
        if not imports:
            imports.update(_written_imports(room))
        if name not in imports:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module, attribute = imports[name]
        value = getattr(import_module(module), attribute)
        setattr(sys.modules[room], name, value)  # the next use finds it without asking here
        return value

    return load


def _written_imports(room: str) -> dict[str, tuple[str, str]]:
    """Each name that the room's `__init__` imports from its own modules, with the module and the name there."""
    written = Path(str(sys.modules[room].__file__)).read_text(encoding="utf-8")
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(ast.parse(written))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("talekeeper.")
        for alias in node.names
    }
