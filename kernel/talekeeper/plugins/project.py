"""Finds the plugin package inside a project folder, as pip would leave it after installing the project."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from talekeeper.manifest import FILE_NAME as MANIFEST
from talekeeper.manifest import GROUP, lone_package, project_at

__all__ = ["GROUP", "MANIFEST", "Project", "project"]


@dataclass(frozen=True, slots=True)
class Project:
    """`names`: the entry point's, or those of folder and package where none is announced; `root` is the package."""

    names: tuple[str, ...]
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
                return Project((name,), package, root)
    alone = lone_package(folder)
    return Project((folder.name, alone.name), alone.name, alone) if alone else None
