"""`ctx.data`: a plugin's records on the session's lineage, and batches of writes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from talekeeper.api import Covers, Json, Order, Record, Use
from talekeeper.db import Tx
from talekeeper.errors import NotFound, ParameterError
from talekeeper.manifest import Namespace
from talekeeper.plugin_context.bound import Bound
from talekeeper.plugin_context.pending import Step
from talekeeper.story import Coordinate, check_value
from talekeeper.story import Record as Stored
from talekeeper.text import freeze, thaw

VALUE_BYTES = 4 * 1024 * 1024
"""The most one record may take; a whole scene is under 10 KiB."""

_MOST = 1_000
"""Records a list gives at most."""


class NamespaceRecords:
    """One namespace on the session's lineage; see `protocols.NamespaceData`."""

    def __init__(self, bound: Bound, namespace: Namespace) -> None:
        self._bound = bound
        self._namespace = namespace
        self._scope = bound.scope(namespace)

    def get(self, key: str) -> Record | None:
        """The live record of this key."""
        bound = self._bound.live()
        written = bound.seen(self._namespace, self._scope)
        if written is not None:
            return next((record_view(record) for record in written if record.key == key), None)
        found = bound.story.records.get(self._namespace, self._scope, key, at=bound.at)
        return None if found is None else record_view(found)

    def list(self, *, after: str | None = None, limit: int = 100, order: Order = "oldest") -> tuple[Record, ...]:
        """At most `limit` live records."""
        bound, namespace, scope = self._bound.live(), self._namespace, self._scope
        found: Sequence[Stored] | None = bound.seen(namespace, scope)
        if found is None:
            found = bound.story.records.list(namespace, scope, at=bound.at, after=after, limit=limit, order=order)
        else:
            found = page(found, after, limit, order, namespace.path)
        return tuple(map(record_view, found))

    def count(self) -> int:
        """How many live records there are."""
        bound = self._bound.live()
        written = bound.seen(self._namespace, self._scope)
        if written is not None:
            return len(written)
        return bound.story.records.count(self._namespace, self._scope, at=bound.at)

    def uses(self) -> Mapping[str, Use]:
        """The records that turns of the lineage have shown."""
        bound, namespace = self._bound.live(), self._namespace
        found = bound.story.turn_log.uses(bound.address, namespace.plugin, namespace.name, at=bound.at)
        return {key: Use(use.count, use.last_turn) for key, use in found.items()}


class Records:
    """See `protocols.Data`."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound

    def __getitem__(self, namespace: str) -> NamespaceRecords:
        return NamespaceRecords(self._bound, self._bound.live().readable(namespace))

    @contextmanager
    def batch(self) -> Generator[Writes]:
        """Applies what its block collects when the block ends well, in one transaction."""
        self._bound.live().check_writing()
        writes = Writes(self._bound)
        yield writes
        writes.apply()


class Writes:
    """The writes of one batch; see `protocols.Batch`."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._steps: list[Step] = []

    def put(self, namespace: str, key: str, value: Mapping[str, Json], *, covers: Covers = "job") -> None:
        """Writes the record of this key."""
        self._write(self._bound.story.records.put, namespace, value, covers, key=key)

    def add(self, namespace: str, value: Mapping[str, Json], *, dedupe: str = "", covers: Covers = "job") -> None:
        """Appends a record."""
        records = self._bound.story.records
        self._write(records.add, namespace, value, covers, key=records.new_key(), dedupe=dedupe or None)

    def withdraw(self, namespace: str, key: str) -> None:
        """Hides the record."""
        bound = self._bound.live()
        own, withdraw, person = bound.own(namespace), bound.story.records.withdraw, bound.person
        # What a person takes back, its job makes again; a plugin knows what it makes room for.
        self._step(own, partial(withdraw, own, bound.scope(own), key, person=person, redo=person))

    def forget(self, namespace: str, key: str) -> None:
        """Blanks the record."""
        bound = self._bound.live()
        own, forget = bound.own(namespace), bound.story.records.forget
        scope = bound.scope(own)

        def run(*, tx: Tx, at: Coordinate | None) -> None:
            del at  # what is forgotten is so on every branch
            forget(own, scope, key, tx=tx)

        self._step(own, run)

    def apply(self) -> None:
        """Called once, at the end of the block."""
        if self._steps:
            with self._bound.life.held():
                self._bound.write(self._steps)

    def _write(
        self, write: Callable[..., object], namespace: str, value: Mapping[str, Json], covers: Covers, **columns: object
    ) -> None:
        bound = self._bound.live()
        own = bound.own(namespace)
        # Copied first: what the plugin does to its value afterwards changes nothing.
        kept = thaw(value, limit=VALUE_BYTES)
        check_value(own, kept)
        derived = bound.derived(own, covers)
        write = partial(write, own, bound.scope(own), value=kept, person=bound.person, derived=derived, **columns)
        self._step(own, write)

    def _step(self, own: Namespace, run: Callable[..., object]) -> None:
        self._steps.append(Step(own, self._bound.scope(own), run))


def page(records: Sequence[Stored], after: str | None, limit: int, order: Order, where: str) -> Sequence[Stored]:
    """What `Records.list` of the store gives of records that are at hand, oldest first."""
    if not 1 <= limit <= _MOST:
        raise ParameterError("limit", f"{limit} is out of range", cure=f"use 1 to {_MOST}")
    if order not in {"oldest", "newest", "key"}:
        raise ParameterError("order", f"{order!r} is not an order", cure="use oldest, newest, key")
    found = sorted(records, key=lambda record: record.key) if order == "key" else list(records)
    if order == "newest":
        found.reverse()
    if after is None:
        return found[:limit]
    keys = [record.key for record in found]
    if order == "key":
        start = bisect_right(keys, after)
    elif after in keys:
        start = keys.index(after) + 1
    else:
        raise NotFound(f"there is no record {after!r} to go on after", where=where)
    return found[start : start + limit]


def record_view(record: Stored) -> Record:
    """A stored record as a plugin sees it."""
    return Record(
        namespace=record.namespace,
        key=record.key,
        value=freeze(record.value),
        coordinate=record.coordinate,
        revision=record.revision,
        withdrawn=record.withdrawn,
    )
