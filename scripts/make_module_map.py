"""Writes the modules of every room into ARCHITECTURE.md, each with its subject: the first line of its docstring.

Sizes are rounded to 50 lines, so that the map changes when a module changes its weight and not with every line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAP = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- modules:begin -->\n", "<!-- modules:end -->\n"
PACKAGES = ("kernel/talekeeper", "plugins/memory/talekeeper_memory")
_STEP = 50


def main() -> None:
    """Puts the map between its two marks."""
    before, _, rest = MAP.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    lists = "\n".join(line for package in PACKAGES for line in _modules(ROOT / package))
    MAP.write_text(f"{before}{BEGIN}\n{lists}\n{END}{after}", encoding="utf-8")


def _modules(package: Path) -> Iterator[str]:
    """A heading for each room and a line for each of its modules, rooms of one module together at the end."""
    rooms = sorted(path for path in package.iterdir() if (path / "__init__.py").exists())
    for room in rooms:
        yield from _room(room, f"{package.name}/{room.name}", sorted(room.rglob("*.py")))
    yield from _room(package, package.name, sorted(package.glob("*.py")))


def _room(folder: Path, heading: str, files: list[Path]) -> Iterator[str]:
    yield f"**`{heading}`** {_subject(folder / '__init__.py')}\n"
    for file in files:
        if file != folder / "__init__.py":
            yield f"- `{file.relative_to(folder).as_posix()}` ({_size(file)}) {_subject(file)}"
    yield ""


def _subject(file: Path) -> str:
    first, _, _ = (ast.get_docstring(ast.parse(file.read_bytes())) or "").partition("\n")
    return first


def _size(file: Path) -> int:
    lines = len(file.read_text(encoding="utf-8").splitlines())
    return max(_STEP, round(lines / _STEP) * _STEP)


if __name__ == "__main__":
    main()
