"""Checks one manifest: bytes → source → model and rules → diagnostics, and the declared values when it holds.

Everything that reads a manifest goes through `examine`, so that no two readers can disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from talekeeper.errors import ManifestError
from talekeeper.manifest import identity_rules
from talekeeper.manifest.codes import file as file_codes
from talekeeper.manifest.codes import packaging
from talekeeper.manifest.complaints import Complaints, complaints
from talekeeper.manifest.declare import declare
from talekeeper.manifest.declared import PluginManifest
from talekeeper.manifest.diagnostic import Diagnostic, Finding, located, whole_file
from talekeeper.manifest.names import quoted
from talekeeper.manifest.package import Folder, Package
from talekeeper.manifest.points import POINTS, Point, Scene
from talekeeper.manifest.positions import Path as KeyPath
from talekeeper.manifest.shape import LEVEL, model
from talekeeper.manifest.source import SIZE_LIMIT, Source, parse
from talekeeper.manifest.table import Table

FILE_NAME = "plugin.toml"


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in a manifest. `manifest` is None exactly when a diagnostic is an error."""

    diagnostics: list[Diagnostic]
    manifest: PluginManifest | None = None
    text: str = ""
    id: str = ""

    @property
    def holds(self) -> bool:
        """Whether a host would take the manifest; warnings do not count."""
        return not any(it.severity == "error" for it in self.diagnostics)


def read_manifest(path: Path, *, expected_id: str | None = None) -> PluginManifest:
    """The declared values of a `plugin.toml`. Runs no code of the plugin.

    Entries of tools and commands carry their parameters' JSON Schema itself under `parameters`. `expected_id` is the
    name of the entry point or folder the plugin was found by. Raises ManifestError with all diagnostics.
    """
    checked = check_file(path, expected_id=expected_id)
    if checked.manifest is not None:
        return checked.manifest
    errors = [it for it in checked.diagnostics if it.severity == "error"]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    raise ManifestError(
        f"{errors[0].code} {errors[0].message}{more}",
        where=errors[0].where,
        cure=errors[0].hint or f"run validate-plugin {path} for all of it",
        diagnostics=checked.diagnostics,
    )


def check_manifest(path: Path, *, expected_id: str | None = None) -> list[Diagnostic]:
    """Everything to be said about a `plugin.toml`, sorted by position. Never raises for what the file holds."""
    return check_file(path, expected_id=expected_id).diagnostics


def check_file(path: Path, *, expected_id: str | None = None, shown: str | None = None) -> Checked:
    """As `check_manifest`, with the text and the values. `shown` is what the diagnostics call the file."""
    name = shown if shown is not None else str(path)
    try:
        if path.exists() and not path.is_file():
            return Checked([whole_file(file_codes.UNREADABLE, name, "this is not a regular file")])
        with path.open("rb") as file:
            raw = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
        return Checked([whole_file(file_codes.UNREADABLE, name, f"cannot be read: {reason.lower()}")])
    return examine(raw, Folder(path.parent), name, root=path.parent, expected_id=expected_id)


def examine(
    raw: bytes,
    package: Package,
    name: str,
    *,
    root: Path = Path(),
    expected_id: str | None = None,
    level: int = LEVEL,
    points: Mapping[str, Point] = POINTS,
) -> Checked:
    """Checks the bytes of a manifest against the files of its package, as a host of manifest level `level` would."""
    source = parse(raw)
    data, findings = _findings(source, package, expected_id, level, points) if source.data else ({}, [])
    plugin = Table(source.data).table("plugin")
    written = plugin.whole("api") or level
    held_to = [it for it in (*source.findings, *findings) if it.code.since <= min(written, level)]
    diagnostics = located(held_to, name, source.places)
    checked = Checked(diagnostics, None, source.text, plugin.text("id") or "")
    return replace(checked, manifest=declare(data, package, root, points)) if checked.holds else checked


def _findings(
    source: Source, package: Package, expected_id: str | None, level: int, points: Mapping[str, Point]
) -> tuple[Mapping[str, Any], list[Finding]]:
    """The findings, and the data they are about: misspelt keys read as what was meant, later ones left out.

    Reading a misspelt key as what was meant tells the faults within it in the same run.
    """
    shape, data, findings = model(points), source.data, list[Finding]()
    newer = (Table(data).table("plugin").whole("api") or 0) > level
    moves: dict[KeyPath, KeyPath] = {}
    while True:
        said = complaints(shape, data, newer=newer)
        findings += (_moved(it, moves) for it in said.findings)
        if not (said.respelled or said.ignored):
            break
        data = _amended(data, said)
        moves.update({meant: _moved_path(written, moves) for written, meant in said.respelled.items()})
    findings += (_moved(it, moves) for it in _rules(data, package, expected_id, points))
    return data, findings


def _amended(data: Mapping[str, Any], first: Complaints) -> dict[str, Any]:
    copy: dict[str, Any] = deepcopy(dict(data))
    for path in first.ignored:
        _table(copy, path).pop(path[-1])
    for written, meant in first.respelled.items():
        table = _table(copy, written)
        table[meant[-1]] = table.pop(written[-1])
    return copy


def _table(data: Any, path: KeyPath) -> Any:
    for step in path[:-1]:
        data = data[step]
    return data


def _moved(finding: Finding, moves: Mapping[KeyPath, KeyPath]) -> Finding:
    return replace(finding, path=_moved_path(finding.path, moves))


def _moved_path(path: KeyPath, moves: Mapping[KeyPath, KeyPath]) -> KeyPath:
    """The path as written in the file; the deepest of the moved tables counts."""
    for length in range(len(path), 0, -1):
        if path[:length] in moves:
            return (*moves[path[:length]], *path[length:])
    return path


def _rules(
    data: Mapping[str, Any], package: Package, expected_id: str | None, points: Mapping[str, Point]
) -> Iterator[Finding]:
    manifest = Table(data)
    scene = Scene(manifest, (), package)
    for rule in identity_rules.RULES:
        yield from rule(scene)
    yield from _expected(scene.plugin, expected_id)
    contributes = manifest.table("contributes")
    for point in points.values():
        for rule in point.rules:
            yield from rule(Scene(manifest, contributes.tables(point.name), package))


def _expected(plugin: Table, expected: str | None) -> Iterator[Finding]:
    found = plugin.text("id")
    if expected is not None and found is not None and found != expected:
        message = f"id is {quoted(found)}, but the plugin was found as {quoted(expected)}"
        yield Finding(packaging.ENTRY_POINT_NAME, plugin.at("id"), message)
