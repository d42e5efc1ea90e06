"""Versions of records: which one is current at a coordinate, and how one is written with its passage.

Of the versions on the lineage, those older than the newest one by a person drop out; of the rest the deepest is
current, and among equals the one of the highest revision. A current one that is withdrawn hides its key. Forgotten
versions count for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from talekeeper.db import Row, Tx, stored
from talekeeper.errors import LimitReached, NotFound, ParameterError
from talekeeper.manifest import Namespace
from talekeeper.search import Kind
from talekeeper.story.core import Core
from talekeeper.story.indexing.passages import record_passage, search_table
from talekeeper.story.messages import rows
from talekeeper.story.messages.lineage import anchor, line_to, place_on
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
CURRENT_SOMEWHERE = (
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

_INSERT = (
    "INSERT INTO record(workspace, preset, session, plugin, namespace, key, revision, seq, branch, depth, value, "
    "version, created, turn, turn_from, range_start, range_end, job, dedupe, person, withdrawn) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Page:
    """At most `limit` live records, or with `withdrawn` those that were; `after` is the key of the last one seen."""

    after: str | None = None
    limit: int = 100
    order: Order = "oldest"
    withdrawn: bool = False
    where: str = "1 = 1"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a write goes: it is judged by the lineage `line` (None: the head's), which ends `here`, and lands `at`.

    The two differ when a person writes, and for what was made from messages before `here`.
    """

    namespace: Namespace
    scope: Scope
    line: Coordinate | None
    here: Coordinate
    at: Coordinate
    person: bool

    @property
    def params(self) -> tuple[str, str, str, str, str]:
        """The values of `IN_NAMESPACE`."""
        return namespace_params(self.namespace, self.scope)


@dataclass(frozen=True, slots=True)
class Version:
    """What is written: the canonical value, and where it comes from."""

    key: str
    value: str
    withdrawn: bool = False
    derived: Derived | None = None
    dedupe: str | None = None


def namespace_params(namespace: Namespace, scope: Scope) -> tuple[str, str, str, str, str]:
    """The values of `IN_NAMESPACE`."""
    return scope.workspace, scope.preset, scope.session, namespace.plugin, namespace.name


def view(row: Row) -> Record:
    """A row of `COLUMNS` as a record."""
    *scope, plugin, namespace, key, revision, branch, depth, value, created = row[:11]
    turn, turn_from, start, end, job, version, *flags = row[11:]
    at = Coordinate(branch, depth)
    derived = None if end is None else Derived(start, end, job)
    known = (plugin, namespace, key, revision, at, stored(value), created, turn, turn_from, derived, version)
    return Record(Scope(*scope), *known, *map(bool, flags))


def current(tx: Tx, namespace: Namespace, scope: Scope, at: Coordinate | None, key: str) -> Record | None:
    """The version of a key that is current at a coordinate (the head when None), withdrawn or not; None without any."""
    found = _select(tx, namespace, scope, at, key, f"SELECT {COLUMNS} FROM standing r WHERE r.rank = 1")
    return view(found[0]) if found else None


def last_value(tx: Tx, namespace: Namespace, scope: Scope, at: Coordinate | None, key: str) -> Record | None:
    """The newest version on the lineage that was not a withdrawal."""
    spoken = f"SELECT {COLUMNS} FROM version r WHERE r.withdrawn = 0 ORDER BY r.revision DESC LIMIT 1"
    found = _select(tx, namespace, scope, at, key, spoken)
    return view(found[0]) if found else None


def listed(tx: Tx, namespace: Namespace, scope: Scope, at: Coordinate | None, page: Page) -> list[Record]:
    """A page of the records that are live at a coordinate, or were."""
    beyond, order = ORDERS[page.order]
    where = page.where
    params: tuple[object, ...] = ()
    if page.after is not None:
        # Asked first and by its key: named twice in one statement, the versions would be gathered without an index.
        params = (page.after,) if page.order == "key" else _place(tx, namespace, scope, at, page.after)
        where = f"{where} AND {beyond}"
    sql = f"SELECT {COLUMNS} FROM standing r WHERE r.rank = 1 AND r.withdrawn = ? AND {where} ORDER BY {order} LIMIT ?"
    return [view(row) for row in _select(tx, namespace, scope, at, None, sql, page.withdrawn, *params, page.limit)]


def _place(tx: Tx, namespace: Namespace, scope: Scope, at: Coordinate | None, key: str) -> tuple[object, ...]:
    found = _select(tx, namespace, scope, at, key, "SELECT r.place, r.since FROM standing r WHERE r.rank = 1")
    if not found:
        raise NotFound(f"there is no record {key!r} to go on after", where=namespace.path)
    return found[0]


def count_live(tx: Tx, namespace: Namespace, scope: Scope, at: Coordinate | None) -> int:
    """How many records are live at a coordinate."""
    live = "SELECT count(*) FROM standing r WHERE r.rank = 1 AND r.withdrawn = 0"
    return int(_select(tx, namespace, scope, at, None, live)[0][0])


def _select(
    tx: Tx, namespace: Namespace, scope: Scope, at: Coordinate | None, key: str | None, select: str, *params: object
) -> list[Row]:
    """What `select` reads of `version`, the versions on a lineage, of one key or all, and of `standing`, ranked."""
    line = line_to(Address(scope.workspace, scope.session), at if scope.session else ROOT)
    one_key, keys = ("", ()) if key is None else (" AND r.key = ?", (key,))
    sql = (
        f"{line.sql}, version AS (SELECT r.*, max(CASE WHEN r.person = 1 THEN r.revision ELSE 0 END) "
        "OVER (PARTITION BY r.key) AS floor, first_value(r.depth) OVER writing AS place, "
        "first_value(r.seq) OVER writing AS since "
        "FROM record r CROSS JOIN line ON line.branch = r.branch AND r.depth <= line.upto "
        f"WHERE {IN_NAMESPACE}{one_key} AND r.forgotten = 0 "
        "WINDOW writing AS (PARTITION BY r.key ORDER BY r.revision)), "
        "standing AS (SELECT r.*, "
        "row_number() OVER (PARTITION BY r.key ORDER BY r.depth DESC, r.revision DESC) AS rank "
        f"FROM version r WHERE r.revision >= r.floor) {select}"
    )
    return tx.rows(sql, (*line.params, *namespace_params(namespace, scope), *keys, *params))


def target(
    tx: Tx, namespace: Namespace, scope: Scope, at: Coordinate | None, *, person: bool, derived: Derived | None = None
) -> Target:
    """Resolves the head and checks scope and coordinate.

    A person's write lands at the root, on every branch; what was made from messages lands at the last of them.
    """
    check_scope(namespace, scope)
    if not scope.session:
        if derived is not None:
            raise ParameterError("derived", f"{namespace.path} is of a {namespace.scope}, and that has no messages")
        rows.workspace(tx, scope.workspace)
        return Target(namespace, scope, None, ROOT, ROOT, person)
    session = rows.session(tx, Address(scope.workspace, scope.session))
    here = session.head if at is None else at
    if here != session.head:
        anchor(tx, session.address, here)
    lands = ROOT if person else here
    if derived is not None and not person:
        if not 0 <= derived.start <= derived.end <= here.depth:
            what = f"{derived.start}..{derived.end} is no range of messages up to this coordinate"
            raise ParameterError("derived", what)
        lands = place_on(tx, session.address, here, derived.end)
    return Target(namespace, scope, None if here == session.head else here, here, lands, person)


def check_scope(namespace: Namespace, scope: Scope) -> None:
    """Raises `ParameterError` when the scope is not of the kind the namespace declares."""
    given = {"session": bool(scope.session), "preset": bool(scope.preset)}
    wanted = {"session": namespace.scope == "session", "preset": namespace.scope == "preset"}
    if given != wanted:
        raise ParameterError("scope", f"{namespace.path} belongs to a {namespace.scope}, and another scope was given")


def write_version(core: Core, tx: Tx, target: Target, version: Version, before: Record | None) -> Record:
    """Adds the version, counts it and changes the index; the caller has checked limits and rules.

    `before` is what the key said at this place until now: a plugin's change keeps the range it was made from, a
    person's only the turns, because what a person wrote follows no message.
    """
    derived = version.derived
    if derived is None and before is not None and not target.person and not version.withdrawn:
        derived = before.derived
    turn, turn_from = _turns(tx, target, derived, before)
    row = tx.one(
        f"SELECT max(r.revision) FROM record r WHERE {IN_NAMESPACE} AND r.key = ?", (*target.params, version.key)
    )
    revision = 1 + (row[0] or 0 if row else 0)
    record = Record(
        scope=target.scope,
        plugin=target.namespace.plugin,
        namespace=target.namespace.name,
        key=version.key,
        revision=revision,
        coordinate=target.at,
        value=stored(version.value),
        created=core.now(),
        turn=turn,
        turn_from=turn_from,
        derived=derived,
        version=target.namespace.version,
        person=target.person,
        withdrawn=version.withdrawn,
        forgotten=False,
        source_edited=False,
    )
    place = (version.key, revision, _count(tx, target, new=revision == 1), target.at.branch, target.at.depth)
    said = (version.value, record.version, record.created, turn, turn_from)
    source = (None, None, "") if derived is None else (derived.start, derived.end, derived.job)
    tx.run(
        _INSERT, (*target.params, *place, *said, *source, version.dedupe, int(target.person), int(version.withdrawn))
    )
    _index(core, tx, target, record)
    return record


def make_room(core: Core, tx: Tx, target: Target) -> None:
    """Called before a key becomes live: raises `LimitReached`, or withdraws the oldest record no person wrote."""
    namespace, scope = target.namespace, target.scope
    if namespace.limit is None:
        return
    row = tx.one(f"SELECT keys FROM tally r WHERE {IN_NAMESPACE}", target.params)
    if row is None or row[0] < namespace.limit or count_live(tx, namespace, scope, target.line) < namespace.limit:
        return
    victims: list[Record] = []
    if namespace.on_limit == "oldest":
        victims = listed(tx, namespace, scope, target.line, Page(limit=1, where="r.person = 0"))
    if not victims:
        raise LimitReached(
            f"it holds {namespace.limit:,} record{'s' * (namespace.limit != 1)}, as many as it may",
            where=namespace.path,
            cure="withdraw some first",
        )
    place = Target(namespace, scope, target.line, target.here, target.here, person=False)
    write_version(core, tx, place, Version(victims[0].key, BLANK, withdrawn=True), victims[0])


def is_written(tx: Tx, target: Target, dedupe: str) -> bool:
    """Whether a record with this dedupe key is on the lineage, live or withdrawn, or was forgotten anywhere."""
    line = line_to(Address(target.scope.workspace, target.scope.session), target.line if target.scope.session else ROOT)
    row = tx.one(
        f"{line.sql} SELECT 1 FROM record r LEFT JOIN line ON line.branch = r.branch AND r.depth <= line.upto "
        f"WHERE {IN_NAMESPACE} AND r.dedupe = ? AND (r.forgotten = 1 OR line.branch IS NOT NULL) LIMIT 1",
        (*line.params, *target.params, dedupe),
    )
    return row is not None


def _turns(tx: Tx, target: Target, derived: Derived | None, before: Record | None) -> tuple[int, int]:
    """The turns of the last and the first message a version is about."""
    address = Address(target.scope.workspace, target.scope.session)
    if derived is not None:
        first, last = (
            rows.between(tx, address, target.at, depth, depth, where="1 = 1") for depth in (derived.start, derived.end)
        )
        if first and last:
            return last[0].turn, first[0].turn
    if before is not None and (target.person or target.at == ROOT):
        return before.turn, before.turn_from
    message = rows.at_place(tx, address, target.at)
    return (-1, -1) if message is None else (message.turn, message.turn)


def _count(tx: Tx, target: Target, *, new: bool) -> int:
    found = tx.rows(
        "INSERT INTO tally(workspace, preset, session, plugin, namespace, keys, versions) VALUES (?, ?, ?, ?, ?, 1, 1) "
        "ON CONFLICT(workspace, preset, session, plugin, namespace) "
        "DO UPDATE SET keys = keys + ?, versions = versions + 1 RETURNING versions",
        (*target.params, int(new)),
    )
    return int(found[0][0])


def _index(core: Core, tx: Tx, target: Target, record: Record) -> None:
    """Takes out the versions that this one replaces everywhere, and puts it in."""
    table = search_table(tx, target.scope.workspace, target.namespace)
    if table is None:
        return
    part = core.index.part_for(tx, target.scope.workspace, target.scope.session, target.scope.preset)
    row = tx.one(
        f"SELECT max(r.revision) FROM record r WHERE {IN_NAMESPACE} AND r.key = ? AND r.revision < ? "
        "AND r.branch = ? AND r.depth = ?",
        (*target.params, record.key, record.revision, target.at.branch, target.at.depth),
    )
    replaced = None if record.person or row is None else row[0]
    if record.person or replaced:
        name = target.namespace
        core.index.remove(
            tx, part, kind=Kind.RECORD, plugin=name.plugin, namespace=name.name, key=record.key, revision=replaced
        )
    passage = record_passage(record, table)
    if passage is not None:
        core.index.add(tx, part, passage)
