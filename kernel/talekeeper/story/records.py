"""Records of plugins: versions at coordinates, read along a lineage, written together with their index entries.

`at` is the coordinate a call reads from and writes at, the session's head when it is None; workspace and preset records
have none. What is `derived` from messages stands at the last of them. With `person` a write is a person's act: it holds
on every branch and moving about does not undo it. Every method takes part in the caller's transaction when `tx` is
given.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

from talekeeper.db import Tx, dumps
from talekeeper.errors import Conflict, NotFound, ParameterError
from talekeeper.manifest import Namespace
from talekeeper.search import Kind
from talekeeper.story import reading, rewriting
from talekeeper.story.core import Core
from talekeeper.story.counting import counted
from talekeeper.story.ledger import reopen_makers
from talekeeper.story.lineage import place_on
from talekeeper.story.names import check_name
from talekeeper.story.passages import record_texts
from talekeeper.story.reading import BLANK, IN_NAMESPACE, Order, Page
from talekeeper.story.validation import check_value
from talekeeper.story.views import Address, Coordinate, Derived, Record, Scope, Session
from talekeeper.story.writing import (
    Target,
    Version,
    check_scope,
    dedupe_digest,
    is_written,
    make_room,
    target,
    write_version,
)

Found = list[Record]
"""Named here because the class below has a method called list."""

_MOST = 1_000


def scope_of(namespace: Namespace, session: Session) -> Scope:
    """Where a session finds the records of a namespace."""
    match namespace.scope:
        case "session":
            return Scope(session.workspace, session=session.id)
        case "preset":
            return Scope(session.workspace, preset=session.preset)
        case "workspace":
            return Scope(session.workspace)


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
            place = target(tx, namespace, scope, at, person=person, derived=derived)
            before = reading.standing(tx, namespace, scope, place.line, key)
            if namespace.append_only and before is not None:
                raise Conflict(
                    f"the record {key!r} is there and {namespace.path} is append-only",
                    cure="withdraw it and add another",
                )
            if before is None or before.withdrawn:
                make_room(self._core, tx, place)
            return write_version(self._core, tx, place, Version(key, document, derived=derived), before)

        with counted(_texts(namespace, document)):
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
        digest = None if dedupe is None else dedupe_digest(dedupe)
        made = self._core.ids.new() if key is None else key

        def add(tx: Tx) -> Record | None:
            place = target(tx, namespace, scope, at, person=person, derived=derived)
            if digest is not None and is_written(tx, place, digest):
                return None
            make_room(self._core, tx, place)
            return write_version(self._core, tx, place, Version(made, document, derived=derived, dedupe=digest), None)

        with counted(_texts(namespace, document)):
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
            place = target(tx, namespace, scope, at, person=person)
            before = self._live(tx, place, key)
            written = write_version(self._core, tx, place, Version(key, BLANK, withdrawn=True), before)
            everywhere = person or written.coordinate == before.coordinate
            if redo and everywhere and before.derived is not None and before.derived.job:
                address = Address(scope.workspace, scope.session)
                last = place_on(tx, address, before.coordinate, before.derived.end)
                reopen_makers(self._core, tx, address, before.derived, last, "its result was withdrawn")
            return written

        return self._core.write(withdraw, tx, "withdraw a record")

    def restore(
        self,
        namespace: Namespace,
        scope: Scope,
        key: str,
        *,
        at: Coordinate | None = None,
        person: bool = False,
        tx: Tx | None = None,
    ) -> Record:
        """Writes again what a withdrawn record last said; raises `NotFound`, or `Conflict` when it is live."""

        def restore(tx: Tx) -> Record:
            place = target(tx, namespace, scope, at, person=person)
            now = reading.standing(tx, namespace, scope, place.line, key)
            if now is not None and not now.withdrawn:
                raise Conflict(f"the record {key!r} is not withdrawn", where=namespace.path)
            said = reading.last_said(tx, namespace, scope, place.line, key)
            if said is None:
                raise NotFound(f"there is no record {key!r} to restore", where=namespace.path)
            make_room(self._core, tx, place)
            return write_version(self._core, tx, place, Version(key, dumps(said.value, namespace.path)), said)

        before = None if tx is not None else self._core.db.read(partial(_said_at, namespace, scope, at, key))
        with counted(() if before is None else _texts(namespace, before)):
            return self._core.write(restore, tx, "restore a record")

    def forget(self, namespace: Namespace, scope: Scope, key: str, *, tx: Tx | None = None) -> int:
        """Blanks every version for good and gives their number; raises `NotFound`.

        The index no longer finds it from this commit on; its words are gone from the file after the next maintenance.
        """

        def forget(tx: Tx) -> int:
            check_scope(namespace, scope)
            blanked = tx.run(
                "UPDATE record AS r SET value = ?, withdrawn = 1, forgotten = 1, source_edited = 0 "
                f"WHERE {IN_NAMESPACE} AND r.key = ? AND r.forgotten = 0",
                (BLANK, *reading.namespace_params(namespace, scope), key),
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
        check_scope(namespace, scope)
        found = self._core.read(lambda tx: reading.standing(tx, namespace, scope, at, key), tx)
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
        check_scope(namespace, scope)
        if not 1 <= limit <= _MOST:
            raise ParameterError("limit", f"{limit} is out of range", cure=f"use 1 to {_MOST}")
        if order not in reading.ORDERS:
            raise ParameterError("order", f"{order!r} is not an order", cure=f"use {', '.join(reading.ORDERS)}")
        page = Page(after, limit, order, withdrawn)
        return self._core.read(lambda tx: reading.listed(tx, namespace, scope, at, page), tx)

    def count(self, namespace: Namespace, scope: Scope, *, at: Coordinate | None = None, tx: Tx | None = None) -> int:
        """How many records are live."""
        check_scope(namespace, scope)
        return self._core.read(lambda tx: reading.count_live(tx, namespace, scope, at), tx)

    def history(self, namespace: Namespace, scope: Scope, key: str, *, tx: Tx | None = None) -> Found:
        """Every version of the key on whatever branch, oldest first; forgotten ones without their value."""
        check_scope(namespace, scope)
        return self._core.read(lambda tx: reading.versions(tx, namespace, scope, key), tx)

    def outdated(self, workspace: str, namespace: Namespace, limit: int = 100, *, tx: Tx | None = None) -> Found:
        """Versions with a value, anywhere in the workspace, that are older than the namespace's version."""
        return self._core.read(lambda tx: rewriting.outdated(tx, workspace, namespace, limit), tx)

    def oldest_version(self, workspace: str, namespace: Namespace, *, tx: Tx | None = None) -> int | None:
        """The lowest version that a stored record of the workspace has; None without any."""
        return self._core.read(lambda tx: rewriting.oldest_version(tx, workspace, namespace), tx)

    def rewrite(self, namespace: Namespace, changes: Sequence[tuple[Record, object]], *, tx: Tx | None = None) -> int:
        """Gives versions, as `outdated` read them, new values where they stand, in the namespace's version.

        The namespace's search table counts from then on. One forgotten or rewritten meanwhile is left; gives how many
        were not. Raises `ParameterError` naming the first record whose value does not fit, and writes nothing then.
        """
        checked = rewriting.documents(namespace, changes)
        return self._core.write(lambda tx: rewriting.rewrite(self._core, tx, namespace, checked), tx, "rewrite records")

    def _live(self, tx: Tx, place: Target, key: str) -> Record:
        found = reading.standing(tx, place.namespace, place.scope, place.line, key)
        if found is not None and found.withdrawn and not found.forgotten:
            raise NotFound(f"the record {key!r} is withdrawn already", where=place.namespace.path)
        if found is None or found.withdrawn:
            raise NotFound(f"there is no record {key!r}", where=place.namespace.path)
        return found


def _texts(namespace: Namespace, document: str) -> tuple[str, ...]:
    """What will be counted of the value, unless the workspace still has another search table."""
    return () if namespace.search is None else record_texts(json.loads(document), namespace.search)


def _said_at(namespace: Namespace, scope: Scope, at: Coordinate | None, key: str, tx: Tx) -> str | None:
    said = reading.last_said(tx, namespace, scope, at, key)
    return None if said is None else dumps(said.value, namespace.path)
