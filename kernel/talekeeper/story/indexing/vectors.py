"""Passages that wait for a vector, and the vectors that were made of them.

A passage is written down for an encoder in one way, of which `WAY` is the name: another way makes other vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from talekeeper import search
from talekeeper.db import Row, Tx
from talekeeper.manifest import SearchTable
from talekeeper.story.core import Core
from talekeeper.story.indexing.passages import is_hidden, record_texts, search_tables
from talekeeper.story.messages.rows import by_ids, session
from talekeeper.story.records.versions import COLUMNS, view
from talekeeper.story.views import Address, Message, Record, Scope

WAY = "speaker: text/1"
BATCH = 256
"""Passages looked at in one snapshot."""

_RECORD = (
    f"SELECT {COLUMNS} FROM record r WHERE r.workspace = ? AND r.preset = ? AND r.session = ? AND r.plugin = ? "
    "AND r.namespace = ? AND r.key = ? AND r.revision = ? AND r.forgotten = 0"
)


@dataclass(frozen=True, slots=True)
class Unembedded:
    """Texts of a partition's passages by number, in order; `end` is the last number that was looked at."""

    part: int
    texts: Mapping[int, str]
    end: int


class Vectors:
    """Hangs on `Story`. `fingerprint` is that of the space: provider, model, version, way of writing down, prefix."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def scopes(self, address: Address | None = None) -> list[Scope]:
        """What has an index: all of the home, or what a session is searched with."""
        if address is None:
            return self._core.db.read(_all_scopes)
        preset = self._core.db.read(lambda tx: session(tx, address)).preset
        wide = [Scope(address.workspace, preset=preset)] if preset else []
        return [Scope(address.workspace, session=address.session), Scope(address.workspace), *wide]

    def part(self, scope: Scope) -> int | None:
        """The number of a scope's partition."""
        return self._core.db.read(
            lambda tx: self._core.index.find_part(tx, scope.workspace, scope.session, scope.preset)
        )

    def waiting(self, scope: Scope, fingerprint: str, *, after: int = -1) -> Unembedded | None:
        """The next passages behind the number `after` without a vector of this space; None when there are no more."""
        return self._core.db.read(partial(self._waiting, scope=scope, fingerprint=fingerprint, after=after))

    def keep(self, part: int, fingerprint: str, vectors: Mapping[int, Sequence[float] | None]) -> list[int]:
        """Writes vectors by passage number and gives these: none of what was edited, deleted or forgotten meanwhile.

        An empty vector notes that there is nothing to embed, None that another store has it.
        """
        return self._core.db.write(lambda tx: search.put_vectors(tx, part, fingerprint, vectors), name="keep vectors")

    def kept(self, fingerprint: str, places: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        """Those of the places, partition and passage, that have been dealt with."""
        return self._core.db.read(lambda tx: search.has_vectors(tx, fingerprint, places))

    def removals(self) -> tuple[int, ...]:
        """Changes whenever passages are removed."""
        row = self._core.db.read(lambda tx: tx.one("SELECT total(removals), count(*), max(id) FROM part"))
        return tuple(int(number or 0) for number in row or ())

    def count(self, fingerprint: str, scopes: Sequence[Scope] | None = None) -> tuple[int, int]:
        """Passages of these scopes, or of the home, and how many of them have been dealt with."""
        return self._core.db.read(partial(self._count, fingerprint=fingerprint, scopes=scopes))

    def _count(self, tx: Tx, fingerprint: str, scopes: Sequence[Scope] | None) -> tuple[int, int]:
        index = self._core.index
        passages = done = 0
        for scope in _all_scopes(tx) if scopes is None else scopes:
            part = index.find_part(tx, scope.workspace, scope.session, scope.preset)
            there, dealt = (0, 0) if part is None else search.count_vectors(tx, part, fingerprint)
            passages, done = passages + there, done + dealt
        return passages, done

    def _waiting(self, tx: Tx, scope: Scope, fingerprint: str, after: int) -> Unembedded | None:
        index = self._core.index
        part = index.find_part(tx, scope.workspace, scope.session, scope.preset)
        rows = [] if part is None else search.without_vectors(tx, part, fingerprint, after, BATCH)
        if part is None or not rows:
            return None
        return Unembedded(part, {**_of_messages(tx, scope, rows), **_of_records(tx, scope, rows)}, rows[-1][0])


def _all_scopes(tx: Tx) -> list[Scope]:
    rows = tx.rows("SELECT workspace, session, preset FROM part ORDER BY workspace, session, preset")
    return [Scope(*row) for row in rows]


def _of_messages(tx: Tx, scope: Scope, rows: Sequence[Row]) -> dict[int, str]:
    docs = {key: doc for doc, plugin, _, key, _ in rows if not plugin}
    found = by_ids(tx, Address(scope.workspace, scope.session), list(docs)) if docs else {}
    return {doc: _message(found[key]) if key in found else "" for key, doc in docs.items()}


def _of_records(tx: Tx, scope: Scope, rows: Sequence[Row]) -> dict[int, str]:
    tables = search_tables(tx, scope.workspace)
    texts: dict[int, str] = {}
    for doc, plugin, namespace, key, revision in rows:
        if plugin:
            table = tables.get((plugin, namespace))
            row = tx.one(_RECORD, (scope.workspace, scope.preset, scope.session, plugin, namespace, key, revision))
            record = None if row is None else view(row)
            shown = record is not None and table is not None and not is_hidden(record, table)
            texts[doc] = _record(record, table) if shown and record and table else ""
    return texts


def _message(message: Message) -> str:
    text = "\n".join(part for part in (message.text, message.caption) if part)
    return f"{message.speaker}: {text}" if message.speaker else text


def _record(record: Record, table: SearchTable) -> str:
    text, *_ = record_texts(record.value, table)
    names = [value for name in (table.title, table.speaker) if isinstance(value := record.value.get(name or ""), str)]
    head = ", ".join(name for name in names if name)
    return f"{head}: {text}" if head and text else head or text
