"""Keeps the index equal to the rows, and proves it.

Both ask the same question: which passages should a scope have? `check` compares them with the index, a rebuild writes
them anew, a reindex only those of one namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from talekeeper.db import Row, Tx
from talekeeper.errors import StoreUnusable
from talekeeper.search import Kind, Passage
from talekeeper.story import declared, sessions, upkeep
from talekeeper.story.core import Core
from talekeeper.story.deletion import sweep
from talekeeper.story.messages import appended_after
from talekeeper.story.passages import is_indexed, message_passage, record_passage
from talekeeper.story.reading import COLUMNS, STANDS_SOMEWHERE, view
from talekeeper.story.upkeep import Task
from talekeeper.story.views import Address, Scope

if TYPE_CHECKING:
    from talekeeper.search import Difference

_AT_ONCE = 100  # passages counted and written in a transaction: about 50 ms
_KEY = "(r.plugin, r.namespace, r.key, r.revision)"
_IN_SCOPE = "r.workspace = ? AND r.preset = ? AND r.session = ?"
Batches = Callable[[Tx, Any], tuple[Sequence[Passage], Any]]


@dataclass(frozen=True, slots=True)
class IndexFault:
    """A passage that the index has otherwise than the rows say."""

    scope: Scope
    difference: Difference


def passages_of(scope: Scope) -> Batches:
    """Gives the passages a scope should have, a batch at a time: messages by `seq`, then records by their key."""

    def batch(tx: Tx, cursor: Any) -> tuple[Sequence[Passage], Any]:
        if scope.session and not isinstance(cursor, tuple):
            address = Address(scope.workspace, scope.session)
            messages = appended_after(tx, address, -1 if cursor is None else cursor, _AT_ONCE)
            if messages:
                return [message_passage(each) for each in messages if is_indexed(each)], messages[-1].seq
        after = cast("tuple[object, ...]", cursor) if isinstance(cursor, tuple) else ("", "", "", 0)
        rows = tx.rows(
            f"SELECT {COLUMNS} FROM record r WHERE {_IN_SCOPE} AND {_KEY} > (?, ?, ?, ?) AND {STANDS_SOMEWHERE} "
            "ORDER BY r.plugin, r.namespace, r.key, r.revision LIMIT ?",
            (scope.workspace, scope.preset, scope.session, *after, _AT_ONCE),
        )
        return _searched(tx, scope, rows), rows[-1][3:7] if rows else None

    return batch


def check(core: Core, scope: Scope) -> list[IndexFault]:
    """What the index has otherwise than the rows of one scope, both read in one snapshot."""

    def compare(tx: Tx) -> list[IndexFault]:
        part = core.index.find_part(tx, scope.workspace, scope.session, scope.preset)
        expected = _all(tx, passages_of(scope))
        return [IndexFault(scope, each) for each in core.index.check(tx, -1 if part is None else part, expected)]

    from talekeeper.search import Unreadable  # noqa: PLC0415 - numpy loads with the first search

    try:
        return core.db.read(compare)
    except StoreUnusable as fault:
        return [IndexFault(scope, Unreadable(fault.what))]


def mend(core: Core, scope: Scope) -> None:
    """Writes a scope's part of the index anew; what is wrong with it as it stands is not kept."""
    if not check(core, scope):
        rebuild(core, scope)
        return
    part = core.db.write(
        lambda tx: core.index.part_for(tx, scope.workspace, scope.session, scope.preset), name="find an index"
    )
    core.index.renew(core.db, part, passages_of(scope))


def rebuild(core: Core, scope: Scope) -> None:
    """Writes a scope's part of the index anew while searches and writes go on; may be stopped and begun again."""
    part = core.db.write(
        lambda tx: core.index.part_for(tx, scope.workspace, scope.session, scope.preset), name="find an index"
    )
    core.index.rebuild(core.db, part, passages_of(scope))


def scopes(tx: Tx, workspace: str) -> list[Scope]:
    """Every scope of a workspace that may have passages."""
    rows = tx.rows(
        "SELECT DISTINCT preset FROM tally WHERE workspace = ? AND session = '' ORDER BY preset", (workspace,)
    )
    of_sessions = [Scope(workspace, session=session.id) for session in sessions.sessions(tx, workspace)]
    return [*of_sessions, *(Scope(workspace, preset=preset) for (preset,) in rows)]


def all_scopes(tx: Tx) -> list[Scope]:
    """Every scope of the home."""
    return [scope for workspace in sessions.workspaces(tx) for scope in scopes(tx, workspace.id)]


def rebuild_stale(core: Core) -> None:
    """Rebuilds what another version of the tokeniser wrote."""

    def stale(tx: Tx) -> list[Scope]:
        numbers = set(core.index.stale(tx))
        return [
            scope
            for scope in (all_scopes(tx) if numbers else ())
            if core.index.find_part(tx, scope.workspace, scope.session, scope.preset) in numbers
        ]

    for scope in core.db.read(stale):
        rebuild(core, scope)


def do_due(core: Core) -> None:
    """Does the upkeep that is due, whoever left it."""
    for task in core.db.read(upkeep.due):
        if task.kind == "delete":
            sweep(core, task)
        else:
            _reindex(core, task)


def _reindex(core: Core, task: Task) -> None:
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


def _reindex_some(core: Core, task: Task, scope: Scope, after: str, tx: Tx) -> str | None:
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
    rows = tx.rows(
        f"SELECT {COLUMNS} FROM record r WHERE {_IN_SCOPE} AND r.plugin = ? AND r.namespace = ? "
        f"AND r.key BETWEEN ? AND ? AND {STANDS_SOMEWHERE}",
        (scope.workspace, scope.preset, scope.session, task.plugin, task.namespace, keys[0][0], keys[-1][0]),
    )
    for passage in _searched(tx, scope, rows):
        core.index.add(tx, part, passage)
    return str(keys[-1][0])


def _searched(tx: Tx, scope: Scope, rows: Sequence[Row]) -> list[Passage]:
    if not rows:
        return []
    tables = declared.tables(tx, scope.workspace)
    passages = [
        record_passage(record, table)
        for record in map(view, rows)
        if (table := tables.get((record.plugin, record.namespace))) is not None
    ]
    return [passage for passage in passages if passage is not None]


def _all(tx: Tx, batches: Batches) -> Iterator[Passage]:
    cursor: Any = None
    while True:
        batch, cursor = batches(tx, cursor)
        yield from batch
        if cursor is None:
            return
