"""The project around a package: what its `pyproject.toml` announces, and whether its build keeps the manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import tomli

from talekeeper.config import Table
from talekeeper.manifest.package import FILE_NAME, GROUP, matches

_LARGEST = 256 * 1024
_SURROUNDING = 4


class Project(NamedTuple):
    """A folder with a `pyproject.toml`. `announced`: entry-point name → package, as written."""

    root: Path
    table: Mapping[str, Any]
    announced: Mapping[str, str]

    def names_of(self, package: Path) -> list[str]:
        """The names under which the project announces the package in this folder."""
        return [name for name, value in self.announced.items() if ends_with(package, value)]

    @property
    def is_installable(self) -> bool:
        """Whether it describes a distribution that says itself what it announces."""
        project = Table(self.table).table("project")
        return bool(project.raw) and "entry-points" not in [it for _, it in project.texts("dynamic")]


def project_at(folder: Path) -> Project | None:
    """The project whose top folder this is."""
    path = folder / "pyproject.toml"
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        table = tomli.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        # What is wrong with a project file, every tool that builds it will say.
        return None
    return Project(folder, table, dict(_announced(table)))


def project_around(package: Path) -> Project | None:
    """The nearest project among the folders above a package."""
    folders = list(package.parents)[:_SURROUNDING]
    return next((found for found in map(project_at, folders) if found), None)


def lone_package(folder: Path) -> Path | None:
    """The only package with a manifest in a folder or its `src`, which needs no `pyproject.toml` to be found."""
    found = [path.parent for pattern in ("*", "src/*") for path in folder.glob(f"{pattern}/{FILE_NAME}")]
    return found[0] if len(found) == 1 and found[0].name.isidentifier() else None


def ends_with(package: Path, value: str) -> bool:
    """Whether an entry point's value names the package in this folder."""
    parts = tuple(value.partition(":")[0].strip().split("."))
    return package.parts[-len(parts) :] == parts


def keeps_manifest(project: Project, package: Path) -> bool:
    """Whether a wheel built from the project holds the manifest, as far as the project file shows."""
    table = Table(project.table)
    backend = table.table("build-system").text("build-backend") or "setuptools.build_meta"
    if backend.startswith("setuptools"):
        return _setuptools_keeps(project, package)
    hatch = table.table("tool").table("hatch").table("build")
    excluded = [*hatch.texts("exclude"), *hatch.table("targets").table("wheel").texts("exclude")]
    place = (package / FILE_NAME).relative_to(project.root).as_posix()
    return not any(matches(place, it.lstrip("/")) or matches(FILE_NAME, it) for _, it in excluded)


def _setuptools_keeps(project: Project, package: Path) -> bool:
    table = Table(project.table)
    if any("setuptools" in it and "scm" in it for _, it in table.table("build-system").texts("requires")):
        # It takes every file that version control has.
        return True
    data = table.table("tool").table("setuptools").table("package-data")
    patterns = [it for key in ("*", "", package.name) for _, it in data.texts(key)]
    return any(matches(FILE_NAME, it) for it in patterns) or _in_manifest_file(project.root / "MANIFEST.in")


def _in_manifest_file(path: Path) -> bool:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return False
    return any(line.startswith("graft") or FILE_NAME in line or "*.toml" in line for line in lines)


def _announced(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    top = Table(table)
    for groups in (top.table("project").table("entry-points"), top.table("tool").table("poetry").table("plugins")):
        entries = groups.table(GROUP).raw
        yield from ((name, value) for name, value in entries.items() if isinstance(value, str))
