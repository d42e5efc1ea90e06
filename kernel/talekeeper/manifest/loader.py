"""Reads and checks a manifest: bytes → data → schema and rules → diagnostics, and the declared values if it holds.

Everything that reads a manifest goes through `examine`, so that no two readers can disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from talekeeper.config import FaultKind, KeyPath, Places, Table, parse
from talekeeper.errors import ManifestError
from talekeeper.manifest import codes
from talekeeper.manifest.codes import Code
from talekeeper.manifest.declared import Namespace, PluginManifest, SearchTable
from talekeeper.manifest.diagnostic import Diagnostic, Finding, located, whole_file
from talekeeper.manifest.package import Folder, Package
from talekeeper.manifest.rules import identity
from talekeeper.manifest.rules.contributions import POINTS
from talekeeper.manifest.rules.identity import NOTHING, Expected
from talekeeper.manifest.rules.point import Point, RuleContext
from talekeeper.manifest.rules.schema_files import SchemaFiles
from talekeeper.manifest.shape import filled, fits_schema
from talekeeper.text import is_array

SIZE_LIMIT = codes.MANIFEST_KIB * 1024

_CODES: Mapping[FaultKind, Code] = MappingProxyType(
    {
        "too-large": codes.TOO_LARGE,
        "not-utf8": codes.NOT_UTF8,
        "byte-order-mark": codes.BYTE_ORDER_MARK,
        "too-deep": codes.TOO_DEEP,
        "syntax": codes.SYNTAX,
        "not-json": codes.NOT_JSON,
    }
)


class Checked(NamedTuple):
    """What was found in a manifest. `manifest` is None exactly when a diagnostic is an error."""

    diagnostics: list[Diagnostic]
    manifest: PluginManifest | None = None
    text: str = ""
    id: str = ""
    places: Places = Places()

    @property
    def holds(self) -> bool:
        """Whether a host would take the manifest; warnings do not count."""
        return not any(it.severity == "error" for it in self.diagnostics)

    def judged(self, diagnostics: list[Diagnostic]) -> Checked:
        """The same with other diagnostics, and without values when there is an error among them."""
        changed = self._replace(diagnostics=diagnostics)
        return changed if changed.holds else changed._replace(manifest=None)


def read_manifest(path: Path, *, expected_id: str | None = None, package: Package | None = None) -> PluginManifest:
    """The declared values of a `plugin.toml`. Runs no code of the plugin.

    Entries of tools and commands carry their parameters' JSON Schema itself under `parameters`. `expected_id` is the
    name of the entry point or folder the plugin was found by; `package` the files around it, when they are not to be
    read from its folder as they are. Raises ManifestError with all diagnostics.
    """
    expected = NOTHING if expected_id is None else Expected((expected_id,))
    checked = check_file(path, expected=expected, package=package)
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


def check_file(
    path: Path,
    *,
    expected: Expected = NOTHING,
    shown: str | None = None,
    level: int = codes.LEVEL,
    package: Package | None = None,
) -> Checked:
    """Checks a `plugin.toml`, which diagnostics call `shown`. Never raises for what the file holds."""
    name = shown if shown is not None else str(path)
    try:
        if path.exists() and not path.is_file():
            return Checked([whole_file(codes.UNREADABLE, name, "this is not a regular file")])
        with path.open("rb") as file:
            raw = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
        return Checked([whole_file(codes.UNREADABLE, name, f"cannot be read: {reason.lower()}")])
    return examine(raw, package or Folder(path.parent), name, root=path.parent, expected=expected, level=level)


def examine(
    raw: bytes,
    package: Package,
    name: str,
    *,
    root: Path = Path(),
    expected: Expected = NOTHING,
    level: int = codes.LEVEL,
    points: Mapping[str, Point] = POINTS,
) -> Checked:
    """Checks the bytes of a manifest against the files of its package, as a host of manifest level `level` would."""
    source, files = parse(raw, SIZE_LIMIT, free=("x",)), SchemaFiles(package)
    plugin = Table(source.data or {}).table("plugin")
    written = plugin.whole("api")
    findings = [Finding(_CODES[it.kind], it.path, it.message, it.hint, span=it.span) for it in source.faults]
    data = source.data
    if data is not None:
        more, data = _findings(data, files, points, newer=written is not None and written > level)
        findings += [*more, *identity.agrees(plugin, expected)]
    held_to = max(1, min(written or level, level))
    diagnostics = located((it for it in findings if it.code.since <= held_to), name, source.places)
    checked = Checked(diagnostics, None, source.text, plugin.text("id") or "", source.places)
    if data is None or not checked.holds:
        return checked
    return checked._replace(manifest=_declared(data, files, root, points))


def _findings(
    data: Mapping[str, Any], files: SchemaFiles, points: Mapping[str, Point], *, newer: bool
) -> tuple[list[Finding], Mapping[str, Any]]:
    """The findings, and the data with misspelt keys read as what was meant and keys of a newer level left out.

    Reading a misspelt key as what was meant finds the faults within it in the same run.
    """
    findings: list[Finding] = []
    moves: dict[KeyPath, KeyPath] = {}
    while not fits_schema(data, points):
        from talekeeper.manifest.model.messages import amended, shape_findings  # noqa: PLC0415 - the model brings pydantic

        shape = shape_findings(points, data, newer=newer)
        findings += (_moved(it, moves) for it in shape.findings)
        if not (shape.misspelt or shape.ignored):
            break
        data = amended(data, shape)
        moves.update({meant: _moved_path(written, moves) for written, meant in shape.misspelt.items()})
    # A value of a wrong type is reported once; which rules it would break as well hardly matters.
    reported = {it.path for it in findings if it.on == "value"}
    rules = (_moved(it, moves) for it in _rules(data, files, points))
    findings += [it for it in rules if it.path not in reported]
    return findings, data


def _moved(finding: Finding, moves: Mapping[KeyPath, KeyPath]) -> Finding:
    return finding._replace(path=_moved_path(finding.path, moves))


def _moved_path(path: KeyPath, moves: Mapping[KeyPath, KeyPath]) -> KeyPath:
    """The path as written in the file; the deepest of the moved tables counts."""
    for length in range(len(path), 0, -1):
        if path[:length] in moves:
            return (*moves[path[:length]], *path[length:])
    return path


def _rules(data: Mapping[str, Any], files: SchemaFiles, points: Mapping[str, Point]) -> Iterator[Finding]:
    manifest = Table(data)
    context = RuleContext(manifest, (), files)
    yield from identity.identity(context)
    yield from identity.permissions(context)
    contributes = manifest.table("contributes")
    for point in points.values():
        for rule in point.rules:
            yield from rule(RuleContext(manifest, contributes.tables(point.name), files))


def _declared(data: Mapping[str, Any], files: SchemaFiles, root: Path, points: Mapping[str, Point]) -> PluginManifest:
    """The values of a manifest that has no error and no unknown key."""
    whole = filled(data, points)
    plugin, contributes = whole["plugin"], whole.get("contributes", {})
    tables = {name: Table(it) for name, it in contributes.get("data", {}).items()}
    return PluginManifest(
        id=plugin["id"],
        version=plugin["version"],
        api=plugin["api"],
        summary=plugin.get("summary", ""),
        module=plugin.get("module"),
        requires=tuple(plugin["requires"]),
        optional=tuple(plugin["optional"]),
        requires_host=plugin.get("requires-host"),
        data=tuple(_namespace(plugin["id"], name, it, files, root) for name, it in tables.items()),
        contributes={
            name: tuple(_entry(it, points[name], files) for it in entries)
            for name, entries in contributes.items()
            if is_array(entries)
        },
        permissions={key: tuple(it) for key, it in whole.get("permissions", {}).items()},
        root=root,
    )


def _namespace(plugin: str, name: str, table: Table, files: SchemaFiles, root: Path) -> Namespace:
    raw = table.raw
    seed = files.package.matching(raw["seed"]) if "seed" in raw else []
    return Namespace(
        plugin=plugin,
        name=name,
        version=raw["version"],
        schema=files.load(table, "schema").schema or {},
        scope=raw["scope"],
        append_only=raw["append-only"],
        limit=raw.get("limit"),
        on_limit=raw["on-limit"],
        seed=tuple(root / it for it in seed),
        search=_search(raw["search"]) if "search" in raw else None,
    )


def _search(raw: Mapping[str, Any]) -> SearchTable:
    text = raw["text"]
    given: dict[str, Any] = {**raw, "text": (text,) if isinstance(text, str) else tuple(text)}
    return SearchTable(**given)


def _entry(raw: Mapping[str, Any], point: Point, files: SchemaFiles) -> Mapping[str, Any]:
    if point.schema_key not in raw:
        return raw
    return {**raw, point.schema_key: files.load(Table(raw), point.schema_key).schema}
