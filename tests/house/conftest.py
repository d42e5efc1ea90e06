"""Where things lie: the tree of the tests, and the packages as they are installed, which may be elsewhere."""

from __future__ import annotations

import ast
import importlib.util
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def pyproject(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="session")
def packages(pyproject: dict[str, Any]) -> dict[str, Path]:
    """Path in the tree → installed folder, for every package of the wheel."""
    found: dict[str, Path] = {}
    for path in pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        spec = importlib.util.find_spec(Path(path).name)
        assert spec is not None
        assert spec.origin is not None
        found[path] = Path(spec.origin).parent
    return found


@pytest.fixture(scope="session")
def kernel(packages: dict[str, Path]) -> Path:
    return packages["kernel/talekeeper"]


@pytest.fixture(scope="session")
def sources(root: Path, packages: dict[str, Path]) -> dict[str, Path]:
    """Path in the tree → file, for every Python file that is ours."""
    found = {
        path.relative_to(root).as_posix(): path
        for folder in ("docs", "examples", "plugins", "scripts", "tests")
        for path in sorted((root / folder).rglob("*.py"))
    }
    for package, folder in packages.items():
        found |= {f"{package}/{path.relative_to(folder).as_posix()}": path for path in sorted(folder.rglob("*.py"))}
    return found


@pytest.fixture(scope="session")
def imports() -> Callable[[Path], set[str]]:
    return _imports


def _imports(path: Path) -> set[str]:
    """The modules a file imports, wherever the statement stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "talekeeper":
            names |= {f"talekeeper.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module or "")
    return names
