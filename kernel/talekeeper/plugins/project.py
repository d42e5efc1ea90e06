"""Finds the plugin package inside a project folder, as pip would leave it after installing the project."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from talekeeper.manifest.check import FILE_NAME as MANIFEST
from talekeeper.manifest.project import GROUP, project_at

__all__ = ["GROUP", "MANIFEST", "Project", "project"]


@dataclass(frozen=True, slots=True)
class Project:
    """`name` is the entry point's, or the folder's where no pyproject.toml announces one; `root` the package."""

    name: str
    package: str
    root: Path


def project(folder: Path) -> Project | None:
    """The plugin that `folder/pyproject.toml` announces, else the only package in the folder with a manifest."""
    described = project_at(folder)
    for name, value in described.announced.items() if described else ():
        package = value.partition(":")[0].strip()
        for base in (folder, folder / "src"):
            root = base.joinpath(*package.split("."))
            if package and (root / MANIFEST).is_file():
                return Project(name, package, root)
    packages = [path.parent for pattern in ("*", "src/*") for path in folder.glob(f"{pattern}/{MANIFEST}")]
    if len(packages) == 1 and packages[0].name.isidentifier():
        return Project(folder.name, packages[0].name, packages[0])
    return None
