"""Which namespaces a search may see, those of the plugins that work in the session, as far as the one who asks may.

And where in the index they lie: a partition for each scope, as far as it is on the lineage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from talekeeper.config import did_you_mean
from talekeeper.db import Tx
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.plugins import Plugin, Roster, State
from talekeeper.search import PartScope, Source
from talekeeper.services import Services
from talekeeper.story import ROOT, Address, Coordinate, Scope, Session, is_owner, scope_of

MESSAGES = "recall"


@dataclass(frozen=True, slots=True)
class Searchable:
    """One namespace to search, and the scope of its records."""

    namespace: Namespace
    search: SearchTable
    scope: Scope


@dataclass(frozen=True, slots=True)
class Sources:
    """What a question reaches: messages or not, namespaces sorted by plugin and name, and what cannot be searched.

    `withheld` are paths of namespaces that are not mentioned, since only the owner may see them.
    """

    messages: bool
    namespaces: tuple[Searchable, ...]
    unavailable: dict[str, str] = field(default_factory=dict[str, str])
    withheld: tuple[str, ...] = ()

    def for_query(self) -> tuple[Source, ...]:
        """The sources in a `Query`."""
        declared = [Source(one.namespace.plugin, one.namespace.name, one.search.weight) for one in self.namespaces]
        return (*([Source()] if self.messages else []), *declared)

    def scopes(self, session: Session) -> tuple[Scope, ...]:
        """The partitions they lie in."""
        own = [Scope(session.workspace, session=session.id)] if self.messages else []
        return tuple(dict.fromkeys([*own, *(one.scope for one in self.namespaces)]))


def resolve(tx: Tx, session: Session, roster: Roster, scope: str, names: Iterable[str]) -> Sources:
    """The sources of a question. Owner-visible namespaces are left out, unnamed, for anybody but the owner."""
    wanted = tuple(names)
    owner = is_owner(tx, session.address)
    there = [one for plugin in roster.working for one in searchables(plugin, session)]
    allowed = [one for one in there if owner or one.search.visibility == "narrator"]
    namespaces = [
        one for one in allowed if scope in {"all", one.search.tier} and (not wanted or _is_named(one.namespace, wanted))
    ]
    return Sources(
        messages=scope != "archival" and (not wanted or MESSAGES in wanted),
        namespaces=tuple(sorted(namespaces, key=lambda one: (one.namespace.plugin, one.namespace.name))),
        unavailable=dict(
            sorted([*_unavailable(session, roster, wanted, allowed), *_out_of_scope(allowed, scope, wanted)])
        ),
        withheld=() if owner else tuple(one.namespace.path for one in there if one.search.visibility == "owner"),
    )


def searchables(plugin: Plugin, session: Session) -> Iterator[Searchable]:
    """The searched namespaces of a plugin; those of presets only where the session has one."""
    for namespace in plugin.declared.data:
        if namespace.search is not None and (namespace.scope != "preset" or session.preset):
            yield Searchable(namespace, namespace.search, scope_of(namespace, session))


def part_scopes(
    services: Services, tx: Tx, address: Address, scopes: Iterable[Scope], at: Coordinate | None = None
) -> tuple[PartScope, ...]:
    """The partitions of those scopes that have one, on the lineage of `at` in a session, its head when None."""
    found: list[PartScope] = []
    for scope in scopes:
        part = services.index.find_part(tx, scope.workspace, scope.session, scope.preset)
        if part is not None:
            upto = services.story.tree.lineage(address, at, tx=tx) if scope.session else {ROOT.branch: ROOT.depth}
            found.append(PartScope(part, upto))
    return tuple(found)


def _is_named(namespace: Namespace, names: tuple[str, ...]) -> bool:
    return namespace.path in names or namespace.plugin in names


def _unavailable(
    session: Session, roster: Roster, names: tuple[str, ...], allowed: Sequence[Searchable]
) -> Iterator[tuple[str, str]]:
    """Sources of the session's plugins that do not work, and named ones that lead nowhere."""
    known = {MESSAGES}
    for plugin_id in session.plugins:
        plugin = roster.by_id.get(plugin_id)
        manifest = plugin.manifest if plugin else None
        paths = [one.path for one in manifest.data if one.search is not None] if manifest else [plugin_id]
        known.update([plugin_id, *paths])
        reason = _fault(plugin, named=bool(names))
        for path in paths if reason else ():
            if not names or path in names or plugin_id in names:
                yield path, reason
    for name in names:
        if name not in known:
            yield name, f"there is no such source in this session; {_instead(name, allowed)}"


def _instead(name: str, allowed: Sequence[Searchable]) -> str:
    """The nearest source, and those there are for who asks."""
    paths = [one.namespace.path for one in allowed]
    there = f"there are {', '.join([MESSAGES, *sorted(paths)])}" if paths else f"there is only {MESSAGES}"
    near = did_you_mean(name, [MESSAGES, *paths, *dict.fromkeys(one.namespace.plugin for one in allowed)])
    return f"{near} {there}" if near else there


def _out_of_scope(allowed: Iterable[Searchable], scope: str, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Named sources of which the scope leaves nothing."""
    for name in names:
        tiers = {one.search.tier for one in allowed if _is_named(one.namespace, (name,))}
        tiers |= {"recall"} if name == MESSAGES else set()
        if scope != "all" and tiers and scope not in tiers:
            yield name, f"it is not {scope}; search all"


def _fault(plugin: Plugin | None, *, named: bool) -> str:
    """Why a plugin of the session is not searched; what a person switched off is mentioned only where it is named."""
    if plugin is None:
        return "its plugin is not installed"
    if plugin.works or (plugin.state is State.DISABLED and not named):
        return ""
    return f"its plugin is {plugin.state}: {plugin.reason}"
