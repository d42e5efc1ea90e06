"""Which version of a record stands at a coordinate, as SQL and as rows.

Of the versions on the lineage, those older than the newest one by a person drop out; of the rest the deepest stands,
and among equals the one of the highest revision. A withdrawn one that stands hides its key. Forgotten versions count
for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from talekeeper.db import Row, Tx, stored
from talekeeper.errors import NotFound
from talekeeper.manifest import Namespace
from talekeeper.story.lineage import line_to
from talekeeper.story.views import ROOT, Address, Coordinate, Derived, Record, Scope

Order = Literal["oldest", "newest", "key"]
"""By place in the story and then time of writing, the same backwards, or by key."""

BLANK = "null"
"""The value of a withdrawal, and of what was forgotten."""

COLUMNS = (
    "r.workspace, r.session, r.preset, r.plugin, r.namespace, r.key, r.revision, r.branch, r.depth, r.value, "
    "r.created, r.turn, r.turn_from, r.range_start, r.range_end, r.job, r.version, r.person, r.withdrawn, r.forgotten, "
    "r.source_edited"
)
IN_NAMESPACE = "r.workspace = ? AND r.preset = ? AND r.session = ? AND r.plugin = ? AND r.namespace = ?"
STANDS_SOMEWHERE = (
    "r.forgotten = 0 AND NOT EXISTS (SELECT 1 FROM record o WHERE o.workspace = r.workspace AND o.preset = r.preset "
    "AND o.session = r.session AND o.plugin = r.plugin AND o.namespace = r.namespace AND o.key = r.key "
    "AND o.revision > r.revision AND o.forgotten = 0 AND (o.person = 1 OR (o.branch = r.branch AND o.depth = r.depth)))"
)
"""No later version, by a person or at the same place, has taken this one's place on every lineage."""

ORDERS: dict[Order, tuple[str, str]] = {
    "oldest": ("(r.place, r.since) > (?, ?)", "r.place, r.since"),
    "newest": ("(r.place, r.since) < (?, ?)", "r.place DESC, r.since DESC"),
    "key": ("r.key > ?", "r.key"),
}
"""What comes after a record, and the order itself."""


@dataclass(frozen=True, slots=True)
class Page:
    """At most `limit` live records, or with `withdrawn` those that were; `after` is the key of the last one seen."""

    after: str | None = None
    limit: int = 100
    order: Order = "oldest"
    withdrawn: bool = False
    where: str = "1 = 1"


def namespace_params(namespace: Namespace, scope: Scope) -> tuple[str, str, str, str, str]:
    """The values of `IN_NAMESPACE`."""
    return scope.workspace, scope.preset, scope.session, namespace.plugin, namespace.name


def view(row: Row) -> Record:
    """A row of `COLUMNS` as a record."""
    return Record(
        scope=Scope(row[0], row[1], row[2]),
        plugin=row[3],
        namespace=row[4],
        key=row[5],
        revision=row[6],
        coordinate=Coordinate(row[7], row[8]),
        value=stored(row[9]),
        created=row[10],
        turn=row[11],
        turn_from=row[12],
        derived=None if row[14] is None else Derived(row[13], row[14], row[15]),
        version=row[16],
        person=bool(row[17]),
        withdrawn=bool(row[18]),
        forgotten=bool(row[19]),
        source_edited=bool(row[20]),
    )


def standing(tx: Tx, namespace: Namespace, scope: Scope, at: Coordinate | None, key: str) -> Record | None:
    """The version of a key that stands at a coordinate (the head when None), be it withdrawn; None without any."""
    sql, params = _standing(namespace, scope, at, key)
    row = tx.one(f"{sql} SELECT {COLUMNS} FROM standing r WHERE r.rank = 1", params)
    return None if row is None else view(row)


def listed(
    tx: Tx,
    namespace: Namespace,
    scope: Scope,
    at: Coordinate | None,
    page: Page,
) -> list[Record]:
    """A page of the records that are live at a coordinate, or were."""
    beyond, order = ORDERS[page.order]
    where = page.where
    params: tuple[object, ...] = ()
    if page.after is not None:
        # Asked first and by its key: named twice in one statement, the versions would be gathered without an index.
        params = (page.after,) if page.order == "key" else _place(tx, namespace, scope, at, page.after)
        where = f"{where} AND {beyond}"
    sql, given = _standing(namespace, scope, at, None)
    rows = tx.rows(
        f"{sql} SELECT {COLUMNS} FROM standing r WHERE r.rank = 1 AND r.withdrawn = ? AND {where} "
        f"ORDER BY {order} LIMIT ?",
        (*given, page.withdrawn, *params, page.limit),
    )
    return [view(row) for row in rows]


def _place(tx: Tx, namespace: Namespace, scope: Scope, at: Coordinate | None, key: str) -> tuple[object, ...]:
    sql, params = _standing(namespace, scope, at, key)
    row = tx.one(f"{sql} SELECT r.place, r.since FROM standing r WHERE r.rank = 1", params)
    if row is None:
        raise NotFound(f"there is no record {key!r} to go on after", where=namespace.path)
    return tuple(row)


def last_said(tx: Tx, namespace: Namespace, scope: Scope, at: Coordinate | None, key: str) -> Record | None:
    """The newest version on the lineage that was not a withdrawal."""
    sql, params = _standing(namespace, scope, at, key)
    row = tx.one(
        f"{sql} SELECT {COLUMNS} FROM version r WHERE r.withdrawn = 0 ORDER BY r.revision DESC LIMIT 1", params
    )
    return None if row is None else view(row)


def count_live(tx: Tx, namespace: Namespace, scope: Scope, at: Coordinate | None) -> int:
    """How many records are live at a coordinate."""
    sql, params = _standing(namespace, scope, at, None)
    row = tx.one(f"{sql} SELECT count(*) FROM standing r WHERE r.rank = 1 AND r.withdrawn = 0", params)
    return 0 if row is None else int(row[0])


def versions(tx: Tx, namespace: Namespace, scope: Scope, key: str) -> list[Record]:
    """Every version of a key on whatever branch, oldest first; forgotten ones without their value."""
    rows = tx.rows(
        f"SELECT {COLUMNS} FROM record r WHERE {IN_NAMESPACE} AND r.key = ? ORDER BY r.revision",
        (*namespace_params(namespace, scope), key),
    )
    return [view(row) for row in rows]


def _standing(
    namespace: Namespace, scope: Scope, at: Coordinate | None, key: str | None
) -> tuple[str, tuple[object, ...]]:
    address = Address(scope.workspace, scope.session)
    line = line_to(address, at if scope.session else ROOT)
    one_key = "" if key is None else " AND r.key = ?"
    sql = (
        f"{line.sql}, version AS (SELECT r.*, max(CASE WHEN r.person = 1 THEN r.revision ELSE 0 END) "
        "OVER (PARTITION BY r.key) AS floor, first_value(r.depth) OVER writing AS place, "
        "first_value(r.seq) OVER writing AS since "
        "FROM record r CROSS JOIN line ON line.branch = r.branch AND r.depth <= line.upto "
        f"WHERE {IN_NAMESPACE}{one_key} AND r.forgotten = 0 "
        "WINDOW writing AS (PARTITION BY r.key ORDER BY r.revision)), "
        "standing AS (SELECT r.*, "
        "row_number() OVER (PARTITION BY r.key ORDER BY r.depth DESC, r.revision DESC) AS rank "
        "FROM version r WHERE r.revision >= r.floor)"
    )
    params = (*line.params, *namespace_params(namespace, scope))
    return sql, params if key is None else (*params, key)
