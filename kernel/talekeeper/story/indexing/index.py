"""Keeps the index equal to the rows, and proves it.

All of this answers one question: which passages should a scope have? `check` compares them with the index, a rebuild
writes them again, a reindex only those of one namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from talekeeper import search
from talekeeper.db import Row, Tx
from talekeeper.errors import StoreUnusable
from talekeeper.manifest import Namespace
from talekeeper.search import Kind, Passage
from talekeeper.story import upkeep
from talekeeper.story.core import Core
from talekeeper.story.indexing import passages
from talekeeper.story.indexing.passages import is_indexed, message_passage, record_passage
from talekeeper.story.messages import rows
from talekeeper.story.records.versions import COLUMNS, CURRENT_SOMEWHERE, view
from talekeeper.story.views import Address, Scope

if TYPE_CHECKING:
    from talekeeper.search import Difference, IndexSize

_AT_ONCE = 100  # passages counted and written in a transaction: about 50 ms
_KEY = "(r.plugin, r.namespace, r.key, r.revision)"
_IN_SCOPE = "r.workspace = ? AND r.preset = ? AND r.session = ?"
Batches = Callable[[Tx, Any], tuple[Sequence[Passage], Any]]


@dataclass(frozen=True, slots=True)
class IndexFault:
    """A passage that the index has otherwise than the rows say."""

    scope: Scope
    difference: Difference


class StoryIndex:
    """The index as the store keeps it: what each workspace declares, and its maintenance, checks and rebuilds."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def declare(self, workspace: str, namespace: Namespace, *, tx: Tx | None = None) -> bool:
        """Makes a manifest's search table the one that counts; True when `maintain` has records to index again."""
        return self._core.write(
            lambda tx: passages.declare(self._core, tx, workspace, namespace), tx, "declare a namespace"
        )

    def is_declared(self, workspace: str, namespace: Namespace, *, tx: Tx | None = None) -> bool:
        """Whether `declare` would change nothing."""
        return self._core.read(lambda tx: passages.is_declared(tx, workspace, namespace), tx)

    def pending(self, workspace: str, *, tx: Tx | None = None) -> set[tuple[str, str]]:
        """Plugin and name of the namespaces whose stored records still wait to be indexed again."""
        due = self._core.read(upkeep.due, tx)
        return {(task.plugin, task.namespace) for task in due if task.kind == "reindex" and task.workspace == workspace}

    def reindex_later(self, workspace: str, plugin: str, namespace: str, *, tx: Tx) -> None:
        """Makes due the indexing of a namespace's records that were written without it; `maintain` does it."""
        upkeep.mark(self._core, tx, upkeep.Task("reindex", workspace, plugin=plugin, namespace=namespace))

    def is_stale(self) -> bool:
        """Whether another version of the tokeniser wrote a part of the index; `maintain` rebuilds it."""
        return bool(self._core.db.read(search.stale_parts))

    def maintain(self, address: Address | None = None) -> None:
        """Between turns: flushes and merges the index of a session, or of all, and does what is due in the home."""
        core = self._core
        if address is None:
            for task in core.db.read(upkeep.due):  # whoever left it
                (upkeep.sweep if task.kind == "delete" else _reindex)(core, task)
            self._rebuild_stale()
            search.maintain_index(core.db)
            return
        part = core.db.read(lambda tx: core.index.find_part(tx, address.workspace, address.session, ""))
        if part is not None:
            search.maintain_index(core.db, part=part)

    def unpurged(self) -> list[Scope]:
        """Scopes whose part of the index still holds words of forgotten records or messages; `maintain` wipes them."""
        found = self._core.db.read(search.unpurged_parts)
        return [Scope(workspace, session, preset) for workspace, session, preset in found]

    def size(self) -> IndexSize:
        """How much the index of the home holds; reads the whole index."""
        return self._core.db.read(search.index_size)

    def check(self, scope: Address | Scope | None = None) -> list[IndexFault]:
        """Where the index differs from the rows of a session, a scope or the home; empty when they agree."""
        return [fault for each in self._scopes(scope) for fault in self._check(each)]

    def rebuild(
        self, scope: Address | Scope | None = None, *, progress: Callable[[int, int], None] | None = None
    ) -> None:
        """Writes the index again, in short transactions; `progress(done, total)` counts scopes.

        Where it is as it should be, searches find everything meanwhile; where not, what is written again already.
        """
        every = self._scopes(scope)
        for done, each in enumerate(every, start=1):
            write = search.renew_index if self._check(each) else search.rebuild_index
            write(self._core.db, self._part(each), passages_of(each))
            if progress is not None:
                progress(done, len(every))

    def _scopes(self, scope: Address | Scope | None) -> list[Scope]:
        if isinstance(scope, Address):
            return [Scope(scope.workspace, session=scope.session)]
        return [scope] if scope is not None else self._core.db.read(_all_scopes)

    def _check(self, scope: Scope) -> list[IndexFault]:
        """Both are read in one snapshot."""
        index = self._core.index

        def compare(tx: Tx) -> list[IndexFault]:
            part = index.find_part(tx, scope.workspace, scope.session, scope.preset)
            expected = _all(tx, passages_of(scope))
            return [IndexFault(scope, each) for each in search.check_index(tx, -1 if part is None else part, expected)]

        try:
            return self._core.db.read(compare)
        except StoreUnusable as fault:
            return [IndexFault(scope, search.Unreadable(fault.what))]

    def _part(self, scope: Scope) -> int:
        index = self._core.index
        return self._core.db.write(
            lambda tx: index.part_for(tx, scope.workspace, scope.session, scope.preset), name="find an index"
        )

    def _rebuild_stale(self) -> None:
        """Rebuilds what another version of the tokeniser wrote, while searches and writes go on."""
        index = self._core.index

        def stale(tx: Tx) -> list[Scope]:
            numbers = set(search.stale_parts(tx))
            return [
                scope
                for scope in (_all_scopes(tx) if numbers else ())
                if index.find_part(tx, scope.workspace, scope.session, scope.preset) in numbers
            ]

        for scope in self._core.db.read(stale):
            search.rebuild_index(self._core.db, self._part(scope), passages_of(scope))


def _all_scopes(tx: Tx) -> list[Scope]:
    """Every scope of the home that may have passages."""
    scopes: list[Scope] = []
    for workspace in rows.workspaces(tx):
        presets = tx.rows(
            "SELECT DISTINCT preset FROM tally WHERE workspace = ? AND session = '' ORDER BY preset", (workspace.id,)
        )
        scopes += [Scope(workspace.id, session=session.id) for session in rows.sessions(tx, workspace.id)]
        scopes += [Scope(workspace.id, preset=preset) for (preset,) in presets]
    return scopes


def passages_of(scope: Scope) -> Batches:
    """Gives the passages a scope should have, a batch at a time: messages by `seq`, then records by their key."""

    def batch(tx: Tx, cursor: Any) -> tuple[Sequence[Passage], Any]:
        if scope.session and not isinstance(cursor, tuple):
            address = Address(scope.workspace, scope.session)
            messages = rows.appended_after(tx, address, -1 if cursor is None else cursor, _AT_ONCE)
            if messages:
                return [message_passage(each) for each in messages if is_indexed(each)], messages[-1].seq
        after = cast("tuple[object, ...]", cursor) if isinstance(cursor, tuple) else ("", "", "", 0)
        found = tx.rows(
            f"SELECT {COLUMNS} FROM record r WHERE {_IN_SCOPE} AND {_KEY} > (?, ?, ?, ?) AND {CURRENT_SOMEWHERE} "
            "ORDER BY r.plugin, r.namespace, r.key, r.revision LIMIT ?",
            (scope.workspace, scope.preset, scope.session, *after, _AT_ONCE),
        )
        return _searched(tx, scope, found), found[-1][3:7] if found else None

    return batch


def _reindex(core: Core, task: upkeep.Task) -> None:
    places = core.db.read(
        lambda tx: tx.rows(
            "SELECT preset, session FROM tally WHERE workspace = ? AND plugin = ? AND namespace = ?",
            (task.workspace, task.plugin, task.namespace),
        )
    )
    for preset, session in places:
        scope = Scope(task.workspace, session, preset)
        after: str | None = ""
        while after is not None:
            after = core.db.write(partial(_reindex_some, core, task, scope, after), name="reindex records")
    core.db.write(lambda tx: upkeep.done(tx, task), name="reindex records")


def _reindex_some(core: Core, task: upkeep.Task, scope: Scope, after: str, tx: Tx) -> str | None:
    keys = tx.rows(
        f"SELECT DISTINCT r.key FROM record r WHERE {_IN_SCOPE} AND r.plugin = ? AND r.namespace = ? AND r.key > ? "
        "ORDER BY r.key LIMIT ?",
        (scope.workspace, scope.preset, scope.session, task.plugin, task.namespace, after, _AT_ONCE),
    )
    if not keys:
        return None
    part = core.index.part_for(tx, scope.workspace, scope.session, scope.preset)
    for (key,) in keys:
        core.index.remove(tx, part, kind=Kind.RECORD, plugin=task.plugin, namespace=task.namespace, key=key)
    found = tx.rows(
        f"SELECT {COLUMNS} FROM record r WHERE {_IN_SCOPE} AND r.plugin = ? AND r.namespace = ? "
        f"AND r.key BETWEEN ? AND ? AND {CURRENT_SOMEWHERE}",
        (scope.workspace, scope.preset, scope.session, task.plugin, task.namespace, keys[0][0], keys[-1][0]),
    )
    for passage in _searched(tx, scope, found):
        core.index.add(tx, part, passage)
    return str(keys[-1][0])


def _searched(tx: Tx, scope: Scope, found: Sequence[Row]) -> list[Passage]:
    if not found:
        return []
    tables = passages.search_tables(tx, scope.workspace)
    searched = [
        record_passage(record, table)
        for record in map(view, found)
        if (table := tables.get((record.plugin, record.namespace))) is not None
    ]
    return [passage for passage in searched if passage is not None]


def _all(tx: Tx, batches: Batches) -> Iterator[Passage]:
    cursor: Any = None
    while True:
        batch, cursor = batches(tx, cursor)
        yield from batch
        if cursor is None:
            return
