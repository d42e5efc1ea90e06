"""Finds the plugin package inside a project folder, as pip would leave it after installing the project."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import tomli

GROUP = "talekeeper.plugins"
MANIFEST = "plugin.toml"
_LARGEST = 256 * 1024


@dataclass(frozen=True, slots=True)
class Project:
    """`name` is the entry point's, or the folder's where no pyproject.toml announces one; `root` the package."""

    name: str
    package: str
    root: Path


def project(folder: Path) -> Project | None:
    """The plugin that `folder/pyproject.toml` announces, else the only package in the folder with a manifest."""
    for name, value in _entry_points(folder / "pyproject.toml").items():
        package = value.partition(":")[0].strip() if isinstance(value, str) else ""
        for base in (folder, folder / "src"):
            root = base.joinpath(*package.split("."))
            if package and (root / MANIFEST).is_file():
                return Project(name, package, root)
    packages = [path.parent for pattern in ("*", "src/*") for path in folder.glob(f"{pattern}/{MANIFEST}")]
    if len(packages) == 1 and packages[0].name.isidentifier():
        return Project(folder.name, packages[0].name, packages[0])
    return None


def _entry_points(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return {}
        table: Any = tomli.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # The manifest inside the package is what counts; pip tells about the project file.
        return {}
    for key in ("project", "entry-points", GROUP):
        table = cast("dict[str, Any]", table).get(key) if isinstance(table, dict) else None
    return cast("dict[str, Any]", table) if isinstance(table, dict) else {}
