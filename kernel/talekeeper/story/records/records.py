"""Records of plugins: versions at coordinates, read along a lineage, written together with their index entries.

`at` is the coordinate a call reads from and writes at, the session's head when it is None; workspace and preset records
have none. What is `derived` from messages has the coordinate of the last of them. With `person` a write is a person's
act: it holds on every branch and moving about does not undo it. Every method takes part in the caller's transaction
when `tx` is given.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from talekeeper.db import Tx, dumps
from talekeeper.errors import Conflict, NotFound, ParameterError
from talekeeper.manifest import Namespace
from talekeeper.search import Kind
from talekeeper.story.checks import check_name, check_value
from talekeeper.story.core import Core
from talekeeper.story.indexing import passages
from talekeeper.story.messages.lineage import place_on
from talekeeper.story.records import versions
from talekeeper.story.records.derived import reopen_makers
from talekeeper.story.records.versions import (
    BLANK,
    COLUMNS,
    CURRENT_SOMEWHERE,
    IN_NAMESPACE,
    Order,
    Page,
    Target,
    Version,
)
from talekeeper.story.views import Address, Coordinate, Derived, Record, Scope

Found = list[Record]
"""Named here because the class below has a method called list."""

_MOST = 1_000
_ONE = f"{IN_NAMESPACE} AND r.key = ? AND r.revision = ?"


class Records:
    """The record half of the store."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def new_key(self) -> str:
        """A key that no record has."""
        return self._core.ids.new()

    def put(
        self,
        namespace: Namespace,
        scope: Scope,
        key: str,
        value: object,
        *,
        at: Coordinate | None = None,
        person: bool = False,
        derived: Derived | None = None,
        tx: Tx | None = None,
    ) -> Record:
        """Writes the record of a key, in place of an earlier version; an append-only namespace refuses to replace."""
        document = check_value(namespace, value)
        check_name(key, "key")

        def put(tx: Tx) -> Record:
            place = versions.target(tx, namespace, scope, at, person=person, derived=derived)
            before = versions.current(tx, namespace, scope, place.line, key)
            if namespace.append_only and before is not None:
                raise Conflict(
                    f"the record {key!r} is there and {namespace.path} is append-only",
                    cure="withdraw it and add another",
                )
            if before is None or before.withdrawn:
                versions.make_room(self._core, tx, place)
            return versions.write_version(self._core, tx, place, Version(key, document, derived=derived), before)

        with passages.counted(_texts(namespace, json.loads(document))):
            return self._core.write(put, tx, "put a record")

    def add(  # noqa: PLR0913 - each is a column of the record, and all but three have a default
        self,
        namespace: Namespace,
        scope: Scope,
        value: object,
        *,
        key: str | None = None,
        dedupe: str | None = None,
        at: Coordinate | None = None,
        person: bool = False,
        derived: Derived | None = None,
        tx: Tx | None = None,
    ) -> Record | None:
        """Appends a record under a key of its own; `key` is one from `new_key`, for who has to know it before.

        None when one with the same `dedupe` is already on the lineage, or had been and was forgotten.
        """
        document = check_value(namespace, value)
        # Kept instead of the key itself, which may hold words that are to be forgotten.
        digest = None if dedupe is None else hashlib.blake2b(dedupe.encode(), digest_size=16).hexdigest()
        made = self._core.ids.new() if key is None else key

        def add(tx: Tx) -> Record | None:
            place = versions.target(tx, namespace, scope, at, person=person, derived=derived)
            if digest is not None and versions.is_written(tx, place, digest):
                return None
            versions.make_room(self._core, tx, place)
            return versions.write_version(
                self._core, tx, place, Version(made, document, derived=derived, dedupe=digest), None
            )

        with passages.counted(_texts(namespace, json.loads(document))):
            return self._core.write(add, tx, "add a record")

    def withdraw(
        self,
        namespace: Namespace,
        scope: Scope,
        key: str,
        *,
        at: Coordinate | None = None,
        person: bool = False,
        redo: bool = True,
        tx: Tx | None = None,
    ) -> Record:
        """Hides the record from the coordinate on, keeping it on other branches; raises `NotFound` when none is live.

        With `redo` the job that derived it is reopened, provided that the record is now hidden wherever it stood.
        """

        def withdraw(tx: Tx) -> Record:
            place = versions.target(tx, namespace, scope, at, person=person)
            before = self._live(tx, place, key)
            written = versions.write_version(self._core, tx, place, Version(key, BLANK, withdrawn=True), before)
            everywhere = person or written.coordinate == before.coordinate
            if redo and everywhere and before.derived is not None and before.derived.job:
                address = Address(scope.workspace, scope.session)
                last = place_on(tx, address, before.coordinate, before.derived.end)
                reopen_makers(self._core, tx, address, before.derived, last, "its result was withdrawn")
            return written

        return self._core.write(withdraw, tx, "withdraw a record")

    def restore(self, namespace: Namespace, scope: Scope, key: str, *, person: bool = False) -> Record:
        """Writes again what a withdrawn record last said; raises `NotFound`, or `Conflict` when it is live."""

        def restore(tx: Tx) -> Record:
            place = versions.target(tx, namespace, scope, None, person=person)
            now = versions.current(tx, namespace, scope, place.line, key)
            if now is not None and not now.withdrawn:
                raise Conflict(f"the record {key!r} is not withdrawn", where=namespace.path)
            found = versions.last_value(tx, namespace, scope, place.line, key)
            if found is None:
                raise NotFound(f"there is no record {key!r} to restore", where=namespace.path)
            versions.make_room(self._core, tx, place)
            version = Version(key, dumps(found.value, namespace.path))
            return versions.write_version(self._core, tx, place, version, found)

        before = self._core.db.read(lambda tx: versions.last_value(tx, namespace, scope, None, key))
        with passages.counted(() if before is None else _texts(namespace, before.value)):
            return self._core.db.write(restore, name="restore a record")

    def forget(self, namespace: Namespace, scope: Scope, key: str, *, tx: Tx | None = None) -> int:
        """Blanks every version for good and gives their number; raises `NotFound`.

        The index no longer finds it from this commit on; its words are gone from the file after the next maintenance.
        """

        def forget(tx: Tx) -> int:
            versions.check_scope(namespace, scope)
            blanked = tx.run(
                "UPDATE record AS r SET value = ?, withdrawn = 1, forgotten = 1, source_edited = 0 "
                f"WHERE {IN_NAMESPACE} AND r.key = ? AND r.forgotten = 0",
                (BLANK, *versions.namespace_params(namespace, scope), key),
            )
            if not blanked:
                raise NotFound(f"there is no record {key!r}", where=namespace.path)
            part = self._core.index.find_part(tx, scope.workspace, scope.session, scope.preset)
            if part is not None:
                self._core.index.remove(
                    tx, part, kind=Kind.RECORD, plugin=namespace.plugin, namespace=namespace.name, key=key, forget=True
                )
            return blanked

        return self._core.write(forget, tx, "forget a record")

    def get(
        self, namespace: Namespace, scope: Scope, key: str, *, at: Coordinate | None = None, tx: Tx | None = None
    ) -> Record | None:
        """The live record of a key, or None."""
        versions.check_scope(namespace, scope)
        found = self._core.read(lambda tx: versions.current(tx, namespace, scope, at, key), tx)
        return None if found is None or found.withdrawn else found

    def list(
        self,
        namespace: Namespace,
        scope: Scope,
        *,
        at: Coordinate | None = None,
        after: str | None = None,
        limit: int = 100,
        order: Order = "oldest",
        withdrawn: bool = False,
        tx: Tx | None = None,
    ) -> Found:
        """At most `limit` (1..1,000) records that are live, or that were; `after` is the key of the last one seen.

        Raises `NotFound` when that one has been forgotten meanwhile.
        """
        versions.check_scope(namespace, scope)
        if not 1 <= limit <= _MOST:
            raise ParameterError("limit", f"{limit} is out of range", cure=f"use 1 to {_MOST}")
        if order not in versions.ORDERS:
            raise ParameterError("order", f"{order!r} is not an order", cure=f"use {', '.join(versions.ORDERS)}")
        page = Page(after, limit, order, withdrawn)
        return self._core.read(lambda tx: versions.listed(tx, namespace, scope, at, page), tx)

    def count(self, namespace: Namespace, scope: Scope, *, at: Coordinate | None = None, tx: Tx | None = None) -> int:
        """How many records are live."""
        versions.check_scope(namespace, scope)
        return self._core.read(lambda tx: versions.count_live(tx, namespace, scope, at), tx)

    def history(self, namespace: Namespace, scope: Scope, key: str, *, tx: Tx | None = None) -> Found:
        """Every version of the key on whatever branch, oldest first; forgotten ones without their value."""
        versions.check_scope(namespace, scope)
        sql = f"SELECT {COLUMNS} FROM record r WHERE {IN_NAMESPACE} AND r.key = ? ORDER BY r.revision"
        params = (*versions.namespace_params(namespace, scope), key)
        return [versions.view(row) for row in self._core.read(lambda tx: tx.rows(sql, params), tx)]

    def outdated(self, workspace: str, namespace: Namespace, limit: int = 100, *, tx: Tx | None = None) -> Found:
        """Versions with a value, anywhere in the workspace, that are older than the namespace's version."""
        sql = (
            f"SELECT {COLUMNS} FROM record r WHERE r.workspace = ? AND r.plugin = ? AND r.namespace = ? "
            "AND r.version < ? AND r.value <> ? LIMIT ?"
        )
        params = (workspace, namespace.plugin, namespace.name, namespace.version, BLANK, limit)
        return [versions.view(row) for row in self._core.read(lambda tx: tx.rows(sql, params), tx)]

    def oldest_version(self, workspace: str, namespace: Namespace, *, tx: Tx | None = None) -> int | None:
        """The lowest version that a stored record of the workspace has; None without any."""
        sql = "SELECT min(version) FROM record WHERE workspace = ? AND plugin = ? AND namespace = ? AND forgotten = 0"
        row = self._core.read(lambda tx: tx.one(sql, (workspace, namespace.plugin, namespace.name)), tx)
        return None if row is None else row[0]

    def rewrite(self, namespace: Namespace, changes: Sequence[tuple[Record, object]], *, tx: Tx | None = None) -> int:
        """Gives versions, as `outdated` read them, new values in place, in the namespace's version.

        A rewritten version keeps its revision, coordinate, turns and times: nothing new was said. Its passage is
        replaced, and the namespace's search table counts from then on. A version that was forgotten or rewritten
        meanwhile is left; gives how many were not. Raises `ParameterError` naming the first record whose value does
        not fit, and writes nothing then.
        """
        documents = [(record, _document(namespace, record, value)) for record, value in changes]

        def rewrite(tx: Tx) -> int:
            for workspace in {record.scope.workspace for record, _ in documents}:
                # The new values have the properties that the new search table names, so from here on that one counts.
                passages.declare(self._core, tx, workspace, namespace)
            changed = [record for record, document in documents if _update(tx, namespace, record, document)]
            for record in changed:
                _index(self._core, tx, namespace, record)
            return len(changed)

        return self._core.write(rewrite, tx, "rewrite records")

    def _live(self, tx: Tx, place: Target, key: str) -> Record:
        found = versions.current(tx, place.namespace, place.scope, place.line, key)
        if found is not None and found.withdrawn and not found.forgotten:
            raise NotFound(f"the record {key!r} is withdrawn already", where=place.namespace.path)
        if found is None or found.withdrawn:
            raise NotFound(f"there is no record {key!r}", where=place.namespace.path)
        return found


def _texts(namespace: Namespace, value: object) -> tuple[str, ...]:
    """What will be counted of the value, unless the workspace still has another search table."""
    return () if namespace.search is None else passages.record_texts(value, namespace.search)


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
    table = passages.search_table(tx, record.scope.workspace, namespace)
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
    row = tx.one(f"SELECT {COLUMNS} FROM record r WHERE {_ONE} AND {CURRENT_SOMEWHERE}", _place(record))
    passage = passages.record_passage(versions.view(row), table) if row is not None and table is not None else None
    if passage is not None:
        core.index.add(tx, part, passage)


def _place(record: Record) -> tuple[str, str, str, str, str, str, int]:
    scope = record.scope
    return scope.workspace, scope.preset, scope.session, record.plugin, record.namespace, record.key, record.revision
