"""Gives stored versions of records another value where they stand, for a namespace that has become another version.

A rewritten version keeps its revision, coordinate, turns and times: nothing new was said. Its passage is replaced in
the same transaction. Versions without a value, withdrawals and what was forgotten, are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from talekeeper.db import Tx
from talekeeper.errors import ParameterError
from talekeeper.manifest import Namespace
from talekeeper.search import Kind
from talekeeper.story import declared
from talekeeper.story.core import Core
from talekeeper.story.passages import record_passage
from talekeeper.story.reading import BLANK, COLUMNS, IN_NAMESPACE, STANDS_SOMEWHERE, view
from talekeeper.story.validation import check_value
from talekeeper.story.views import Record

_ONE = f"{IN_NAMESPACE} AND r.key = ? AND r.revision = ?"


def outdated(tx: Tx, workspace: str, namespace: Namespace, limit: int) -> list[Record]:
    """Versions, on whatever branch of whatever session, written before the namespace had its present version."""
    rows = tx.rows(
        f"SELECT {COLUMNS} FROM record r WHERE r.workspace = ? AND r.plugin = ? AND r.namespace = ? AND r.version < ? "
        "AND r.value <> ? LIMIT ?",
        (workspace, namespace.plugin, namespace.name, namespace.version, BLANK, limit),
    )
    return [view(row) for row in rows]


def oldest_version(tx: Tx, workspace: str, namespace: Namespace) -> int | None:
    """The lowest version that a stored record of the workspace has; None without any."""
    row = tx.one(
        "SELECT min(version) FROM record WHERE workspace = ? AND plugin = ? AND namespace = ? AND forgotten = 0",
        (workspace, namespace.plugin, namespace.name),
    )
    return None if row is None else row[0]


def documents(namespace: Namespace, changes: Sequence[tuple[Record, object]]) -> list[tuple[Record, str]]:
    """The records with their canonical new values; raises `ParameterError` naming the first that does not fit."""
    return [(record, _document(namespace, record, value)) for record, value in changes]


def rewrite(core: Core, tx: Tx, namespace: Namespace, changes: Sequence[tuple[Record, str]]) -> int:
    """Writes the documents in the namespace's version; gives how many were as they had been read."""
    for workspace in {record.scope.workspace for record, _ in changes}:
        # The new values have the properties that the new search table names, so from here on that one counts.
        declared.declare(core, tx, workspace, namespace)
    changed = [record for record, document in changes if _update(tx, namespace, record, document)]
    for record in changed:
        _index(core, tx, namespace, record)
    return len(changed)


def _document(namespace: Namespace, record: Record, value: object) -> str:
    try:
        return check_value(namespace, value)
    except ParameterError as error:
        what = f"record {record.key!r} of version {record.version} does not fit version {namespace.version}"
        raise ParameterError(error.field, f"{what}: {error.what}", cure=error.cure) from error


def _update(tx: Tx, namespace: Namespace, record: Record, document: str) -> bool:
    return bool(
        tx.run(
            f"UPDATE record AS r SET value = ?, version = ? WHERE {_ONE} AND r.version = ? AND r.value <> ?",
            (document, namespace.version, *_place(record), record.version, BLANK),
        )
    )


def _index(core: Core, tx: Tx, namespace: Namespace, record: Record) -> None:
    table = declared.search_table(tx, record.scope.workspace, namespace)
    part = core.index.part_for(tx, record.scope.workspace, record.scope.session, record.scope.preset)
    core.index.remove(
        tx,
        part,
        kind=Kind.RECORD,
        plugin=record.plugin,
        namespace=record.namespace,
        key=record.key,
        revision=record.revision,
    )
    row = tx.one(f"SELECT {COLUMNS} FROM record r WHERE {_ONE} AND {STANDS_SOMEWHERE}", _place(record))
    passage = record_passage(view(row), table) if row is not None and table is not None else None
    if passage is not None:
        core.index.add(tx, part, passage)


def _place(record: Record) -> tuple[str, str, str, str, str, str, int]:
    scope = record.scope
    return scope.workspace, scope.preset, scope.session, record.plugin, record.namespace, record.key, record.revision
