"""Says of one plugin why it is on or off, what each of its namespaces feeds, and what becomes of what it declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from talekeeper.manifest import POINTS, Namespace, PluginManifest
from talekeeper.plugins.resolver import Plugin

_USE = MappingProxyType(
    {
        "tools": "offered to the narrator in turns",
        "prompt": "adds to the prompt of turns",
        "providers": "used where [models.embedding] in talekeeper.toml names it",
    }
)

_STARTED = MappingProxyType({"turn-committed": "after each turn", "manual": "when asked: talekeeper jobs run"})


@dataclass(frozen=True, slots=True)
class Line:
    """One thing a plugin declares, and what it is good for."""

    name: str
    says: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything there is to say of a plugin in one scope; texts may be empty."""

    id: str
    version: str
    summary: str
    state: str
    reason: str
    origin: str
    place: str
    namespaces: tuple[Line, ...] = ()
    functions: tuple[Line, ...] = ()
    settings: tuple[Line, ...] = ()
    permissions: tuple[Line, ...] = ()
    diagnostics: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The object that `talekeeper plugins explain --json` prints."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """The same for people to read."""
        yield " ".join(part for part in (self.id, self.version) if part) + (f": {self.summary}" if self.summary else "")
        yield f"  {self.state}" + (f": {self.reason}" if self.reason else "")
        yield f"  {self.origin}, {self.place}"
        for title in ("namespaces", "functions", "settings", "permissions"):
            entries: tuple[Line, ...] = getattr(self, title)
            if entries:
                yield f"  {title}"
                yield from (f"    {entry.name}: {entry.says}" for entry in entries)
        yield from (f"  {text}" for text in self.diagnostics)


def explain(plugin: Plugin, settings: Mapping[str, Any], *, loaded: bool, indexing: frozenset[str]) -> Explanation:
    """`settings` are the resolved ones, `indexing` the paths of namespaces whose index is being rebuilt."""
    manifest = plugin.manifest
    reason = plugin.reason
    if plugin.works and manifest is not None and manifest.module and not loaded and not reason:
        reason = "its code is loaded when one of its functions is first needed"
    allowed = dict[str, tuple[str, ...]](manifest.permissions if manifest else {})
    return Explanation(
        id=plugin.id,
        version=manifest.version if manifest else "",
        summary=manifest.summary if manifest else "",
        state=str(plugin.state),
        reason=reason,
        origin=plugin.found.origin.words,
        place=plugin.found.place,
        namespaces=tuple(_namespace(one, indexing) for one in manifest.data) if manifest else (),
        functions=tuple(_functions(manifest)) if manifest else (),
        settings=tuple(Line(name, _shown(value)) for name, value in settings.items()),
        permissions=tuple(Line(kind, ", ".join(names)) for kind, names in allowed.items() if names),
        diagnostics=tuple(map(str, plugin.diagnostics)),
    )


def _namespace(namespace: Namespace, indexing: frozenset[str]) -> Line:
    kept = f"{namespace.scope} scope, version {namespace.version}"
    if namespace.append_only:
        kept += ", append-only"
    if namespace.limit is not None:
        kept += f", at most {namespace.limit:,} record{'s' * (namespace.limit != 1)}"
    return Line(namespace.path, f"{_feeds(namespace, indexing)} ({kept})")


def _feeds(namespace: Namespace, indexing: frozenset[str]) -> str:
    search = namespace.search
    if search is None:
        return "feeds nothing: it has no search table"
    feeds = f"feeds memory-search with {', '.join(search.found_by)} as {search.tier}:plugin_data"
    if search.when:
        feeds += f", where {search.when} holds"
    if search.weight != 1:
        feeds += f", weight {search.weight:g}"
    if search.visibility == "owner":
        feeds += ", to the owner alone"
    return f"{feeds}; indexing" if namespace.path in indexing else feeds


def _functions(manifest: PluginManifest) -> Iterator[Line]:
    for point in POINTS.values():
        for entry in manifest.contributes.get(point.name, ()) if point.code else ():
            yield Line(f"{point.name} {entry[point.named_by]}", _use(manifest, point.name, entry))


def _use(manifest: PluginManifest, point: str, entry: Mapping[str, Any]) -> str:
    if point == "commands":
        return f"talekeeper run {manifest.id}/{entry['id']}"
    if point == "importers":
        return f"reads {', '.join(entry['match'])}"
    if point == "jobs":
        return _STARTED.get(entry["on"], "declared; nothing keeps schedules in this version")
    return _USE[point]


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
